/* The program's semaphores; named ones are private to the process and live as long. */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>

#include "sg_alloc.h"
#include "sg_posix.h"

typedef struct semaphore {
    uint32_t value;
    sg_queue waiting;
} semaphore;

_Static_assert(sizeof(semaphore) <= sizeof(sem_t), "fits into the program's variable");

static int fail(int error)
{
    errno = error;
    return -1;
}

SG_API int sem_init(sem_t *variable, int shared, unsigned value)
{
    (void)shared; /* there is only one process */
    if (value > SEM_VALUE_MAX)
        return fail(EINVAL);
    memset(variable, 0, sizeof *variable);
    ((semaphore *)variable)->value = value;
    if (sg_enter(SG_CALLER))
        sg_reference_range(variable, sizeof *variable, SG_WRITE, SG_CALLER);
    return 0;
}

SG_API int sem_destroy(sem_t *variable)
{
    (void)variable;
    return 0;
}

/* Decrements the semaphore; with `deadline` 0 it does not wait. */
static int take(sem_t *variable, uint64_t deadline, const void *site)
{
    semaphore *s = (semaphore *)variable;
    uint64_t at = (uint64_t)(uintptr_t)variable;
    if (!sg_enter(site))
        return s->value > 0 ? (s->value--, 0) : fail(EAGAIN);
    if (deadline > 0)
        sg_posix_test_cancel();
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    sg_touch(sg_now, at, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    while (s->value == 0) {
        if (deadline == 0)
            return fail(EAGAIN);
        if (sg_now->clock >= deadline)
            return fail(ETIMEDOUT);
        sg_queue_add(&s->waiting, sg_self());
        sg_self()->breaks = SG_BREAKS;
        sg_posix_wait(SG_CATEGORY_IDLE_WAIT, at, -1, deadline);
        sg_self()->breaks = SG_GOES_ON;
        if (sg_take_broken(sg_self(), true))
            return fail(EINTR);
        if (!sg_self()->granted) /* otherwise the post would be lost to the others */
            sg_posix_test_cancel();
        sg_touch(sg_now, at, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    }
    s->value--;
    return 0;
}

SG_API int sem_wait(sem_t *variable)
{
    return take(variable, SG_NEVER, SG_CALLER);
}

SG_API int sem_trywait(sem_t *variable)
{
    return take(variable, 0, SG_CALLER);
}

SG_API int sem_timedwait(sem_t *restrict variable, const struct timespec *restrict time)
{
    if (!sg_is_time(time))
        return fail(EINVAL);
    uint64_t deadline = sg_deadline(time);
    return take(variable, deadline > 0 ? deadline : 1, SG_CALLER);
}

SG_API int sem_clockwait(sem_t *restrict variable, clockid_t clock, const struct timespec *restrict time)
{
    (void)clock; /* all clocks show the same time */
    if (!sg_is_time(time))
        return fail(EINVAL);
    uint64_t deadline = sg_deadline(time);
    return take(variable, deadline > 0 ? deadline : 1, SG_CALLER);
}

SG_API int sem_post(sem_t *variable)
{
    semaphore *s = (semaphore *)variable;
    if (sg_enter(SG_CALLER)) {
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
        sg_touch(sg_now, (uint64_t)(uintptr_t)variable, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    }
    if (s->value == SEM_VALUE_MAX)
        return fail(EOVERFLOW);
    s->value++;
    sg_grant(&s->waiting);
    return 0;
}

SG_API int sem_getvalue(sem_t *restrict variable, int *restrict value)
{
    if (sg_enter(SG_CALLER))
        sg_touch(sg_now, (uint64_t)(uintptr_t)variable, SG_READ, SG_CATEGORY_PRIM_LOCK);
    *value = (int)((semaphore *)variable)->value;
    return 0;
}

/* ---- named semaphores ---- */

typedef struct named {
    struct named *next;
    char *name; /* NULL: unlinked */
    sem_t *semaphore;
} named;

static named **find(const char *name)
{
    named **at = &sg->semaphores;
    while (*at != NULL && ((*at)->name == NULL || strcmp((*at)->name, name) != 0))
        at = &(*at)->next;
    return at;
}

SG_API sem_t *sem_open(const char *name, int flags, ...)
{
    named **at = find(name), *found = *at;
    va_list list;
    va_start(list, flags);
    (void)va_arg(list, int); /* the mode */
    unsigned value = va_arg(list, unsigned);
    va_end(list);
    sg_enter(SG_CALLER);
    int error = found != NULL && (flags & O_CREAT) && (flags & O_EXCL) ? EEXIST
                : found == NULL && !(flags & O_CREAT)                  ? ENOENT
                                                                       : 0;
    if (error != 0) {
        errno = error;
        return SEM_FAILED;
    }
    if (found == NULL) {
        found = *at = sg_new(sizeof *found);
        found->name = sg_alloc_string(name);
        found->semaphore = malloc(sizeof(sem_t));
        if (found->semaphore == NULL || sem_init(found->semaphore, 0, value) != 0)
            return SEM_FAILED;
    }
    return found->semaphore;
}

SG_API int sem_close(sem_t *variable)
{
    (void)variable;
    return 0;
}

SG_API int sem_unlink(const char *name)
{
    named *found = *find(name);
    if (found == NULL)
        return fail(ENOENT);
    found->name = NULL;
    return 0;
}

/* The program's mutexes and spin locks: locks of the simulated machine at the addresses of the variables.
 *
 * In a mutex, the C library's field __kind holds its type, __count the additional times its owner has locked
 * it; __owner records, for a robust mutex, that its owner died. */
#include <errno.h>

#include "sg_posix.h"
#include "sg_sync.h"

enum { KIND = 3, ROBUST = 16, OWNER_DIED = 1, LOST = 2 };

static int kind_of(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & KIND;
}

static bool is_mine(const sg_lock *lock)
{
    return sg_lock_holder(lock) == sg_self_id();
}

/* The running thread has acquired `mutex`. */
static int taken(pthread_mutex_t *mutex, sg_lock *lock)
{
    mutex->__data.__count = 0;
    if (!(mutex->__data.__kind & ROBUST))
        return 0;
    sg->robust = true;
    sg_lock_make_robust(lock);
    if (mutex->__data.__owner == LOST) {
        sg_lock_release(lock);
        return ENOTRECOVERABLE;
    }
    return mutex->__data.__owner == OWNER_DIED ? EOWNERDEAD : 0;
}

/* Mutexes locked by constructors, while nobody else ran. */
static pthread_mutex_t *held[64] = {0};
static uint32_t held_count = 0;

static int hold(pthread_mutex_t *mutex)
{
    if (held_count < sizeof held / sizeof *held)
        held[held_count++] = mutex;
    return 0;
}

static int let_go(const pthread_mutex_t *mutex)
{
    for (uint32_t i = held_count; i-- > 0;)
        if (held[i] == mutex) {
            held[i] = held[--held_count];
            break;
        }
    return 0;
}

void sg_mutex_begin(void)
{
    while (held_count > 0)
        sg_mutex_lock(held[--held_count], SG_NEVER, sg_now->site);
}

int sg_mutex_lock(pthread_mutex_t *mutex, uint64_t deadline, const void *site)
{
    if (!sg_enter(site))
        return hold(mutex);
    sg_lock *lock = sg_lock_at(mutex);
    int kind = kind_of(mutex);
    if (kind == PTHREAD_MUTEX_ERRORCHECK && is_mine(lock))
        return EDEADLK;
    if (kind == PTHREAD_MUTEX_RECURSIVE && is_mine(lock)) {
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
        mutex->__data.__count++;
        return 0;
    }
    if (deadline == SG_NEVER)
        sg_lock_acquire(lock);
    else if (!sg_lock_acquire_until(lock, deadline))
        return ETIMEDOUT;
    return taken(mutex, lock);
}

SG_API int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    int kind = PTHREAD_MUTEX_DEFAULT, robust = PTHREAD_MUTEX_STALLED;
    if (attributes != NULL) {
        pthread_mutexattr_gettype(attributes, &kind);
        pthread_mutexattr_getrobust(attributes, &robust);
    }
    *mutex = (pthread_mutex_t){.__data = {.__kind = kind | (robust == PTHREAD_MUTEX_ROBUST ? ROBUST : 0)}};
    if (sg_enter(SG_CALLER)) {
        sg_lock_forget(mutex);
        sg_reference_range(mutex, sizeof *mutex, SG_WRITE, SG_CALLER);
    }
    return 0;
}

SG_API int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (!sg_enter(SG_CALLER))
        return 0;
    if (sg_lock_holder(sg_lock_at(mutex)) >= 0)
        return EBUSY;
    sg_lock_forget(mutex);
    return 0;
}

SG_API int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return sg_mutex_lock(mutex, SG_NEVER, SG_CALLER);
}

SG_API int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict time)
{
    if (!sg_is_time(time))
        return EINVAL;
    return sg_mutex_lock(mutex, sg_deadline(time), SG_CALLER);
}

SG_API int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                   const struct timespec *restrict time)
{
    (void)clock; /* all clocks show the same time */
    if (!sg_is_time(time))
        return EINVAL;
    return sg_mutex_lock(mutex, sg_deadline(time), SG_CALLER);
}

int sg_mutex_try(pthread_mutex_t *mutex, const void *site)
{
    if (!sg_enter(site))
        return hold(mutex);
    sg_lock *lock = sg_lock_at(mutex);
    if (kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE && is_mine(lock)) {
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
        mutex->__data.__count++;
        return 0;
    }
    return sg_lock_try(lock) ? taken(mutex, lock) : EBUSY;
}

SG_API int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return sg_mutex_try(mutex, SG_CALLER);
}

int sg_mutex_unlock(pthread_mutex_t *mutex, const void *site)
{
    if (!sg_enter(site))
        return let_go(mutex);
    sg_lock *lock = sg_lock_at(mutex);
    int kind = kind_of(mutex);
    bool robust = (mutex->__data.__kind & ROBUST) != 0;
    if ((kind == PTHREAD_MUTEX_ERRORCHECK || kind == PTHREAD_MUTEX_RECURSIVE || robust) && !is_mine(lock))
        return EPERM;
    if (kind == PTHREAD_MUTEX_RECURSIVE && mutex->__data.__count > 0) {
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
        mutex->__data.__count--;
        return 0;
    }
    if (robust && mutex->__data.__owner == OWNER_DIED)
        mutex->__data.__owner = LOST;
    sg_lock_release(lock);
    return 0;
}

SG_API int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return sg_mutex_unlock(mutex, SG_CALLER);
}

SG_API int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    if (!(mutex->__data.__kind & ROBUST) || mutex->__data.__owner != OWNER_DIED)
        return EINVAL;
    mutex->__data.__owner = 0;
    return 0;
}

/* The running thread `t` ends: notifies those who wait for robust mutexes it holds. Between two of them other
 * threads run and may use new mutexes, so each search starts over. */
void sg_mutex_abandon_all(const sg_thread *t)
{
    uint64_t object;
    for (sg_lock *lock; sg->robust && (lock = sg_lock_bequeathed((int32_t)t->id, &object)) != NULL;) {
        pthread_mutex_t *mutex = (pthread_mutex_t *)(uintptr_t)object;
        if (!(mutex->__data.__kind & ROBUST))
            continue;
        mutex->__data.__owner = OWNER_DIED;
        sg_lock_release(lock);
    }
}

/* ---- spin locks ---- */

SG_API int pthread_spin_init(pthread_spinlock_t *spin, int shared)
{
    (void)shared;
    *spin = 0;
    if (sg_enter(SG_CALLER))
        sg_lock_forget((const void *)spin);
    return 0;
}

SG_API int pthread_spin_destroy(pthread_spinlock_t *spin)
{
    if (sg_enter(SG_CALLER))
        sg_lock_forget((const void *)spin);
    return 0;
}

SG_API int pthread_spin_lock(pthread_spinlock_t *spin)
{
    if (sg_enter(SG_CALLER))
        sg_lock_acquire(sg_lock_at((const void *)spin));
    return 0;
}

SG_API int pthread_spin_trylock(pthread_spinlock_t *spin)
{
    return !sg_enter(SG_CALLER) || sg_lock_try(sg_lock_at((const void *)spin)) ? 0 : EBUSY;
}

SG_API int pthread_spin_unlock(pthread_spinlock_t *spin)
{
    if (sg_enter(SG_CALLER))
        sg_lock_release(sg_lock_at((const void *)spin));
    return 0;
}

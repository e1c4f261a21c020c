/* Keys: thread-specific values, destroyed when the thread ends; once; guards of local static variables. */
#include <errno.h>

#include "sg_posix.h"
#include "sg_rank.h"

/* Keys exist before the runtime: some libraries create them during startup. */
static struct {
    void (*destructor[SG_KEYS])(void *);
    bool used[SG_KEYS];
} keys = {0};

#ifdef SG_FENCES
static __thread void *of_sanitizer; /* value of the first key, the sanitizer's, by host thread */
#endif

/* Where the running thread keeps the value of `key`; NULL: it has not set any key. */
static void **value_of(pthread_key_t key)
{
#ifdef SG_FENCES
    if (key == 0)
        return &of_sanitizer;
#endif
    void **values = sg_self() != NULL ? sg_posix_of(sg_self())->values : sg_main_values;
    return values != NULL ? &values[key] : NULL;
}

SG_API int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    for (pthread_key_t i = 0; i < SG_KEYS; i++)
        if (!keys.used[i]) {
            keys.used[i] = true;
            keys.destructor[i] = destructor;
            *key = i;
            return 0;
        }
    return EAGAIN;
}

SG_API int pthread_key_delete(pthread_key_t key)
{
    if (key >= SG_KEYS || !keys.used[key])
        return EINVAL;
    keys.used[key] = false;
    sg_main_values[key] = NULL;
    for (uint32_t i = 1; sg != NULL && i < sg->threads; i++)
        if (sg->thread[i]->posix != NULL && sg->thread[i]->posix->values != NULL)
            sg->thread[i]->posix->values[key] = NULL;
    return 0;
}

SG_API void *pthread_getspecific(pthread_key_t key)
{
    void **value = key < SG_KEYS ? value_of(key) : NULL;
    return value != NULL ? *value : NULL;
}

SG_API int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (key >= SG_KEYS || !keys.used[key])
        return EINVAL;
    if (value_of(key) == NULL)
        sg_posix_of(sg_self())->values = sg_new(SG_KEYS * sizeof(void *));
    *value_of(key) = (void *)value;
    return 0;
}

/* Runs destructors as many rounds as POSIX requires, because a destructor may set values. */
void sg_keys_destroy(sg_posix *posix)
{
    bool any = posix->values != NULL;
    for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS && any; round++) {
        any = false;
        for (pthread_key_t i = 0; i < SG_KEYS; i++) {
            void *value = posix->values[i];
            posix->values[i] = NULL;
            if (value != NULL && keys.used[i] && keys.destructor[i] != NULL) {
                any = true;
                keys.destructor[i](value);
            }
        }
    }
}

/* ---- initialisation by the first rank for all ---- */

/* All ranks share the libraries' static data, but natively each process initialises its own. So the first
 * rank initialises it for all at no cost, like a constructor; no other rank runs meanwhile and sees it half
 * done. One initialisation may trigger others. */
static struct {
    const void *control; /* of the outermost initialisation; NULL: none */
    sg_processor *processor;
} for_all = {NULL, NULL};

static void begin_for_all(const void *control)
{
    if (sg_rank_self() == NULL || !sg_image_of_library(control))
        return;
    for_all.control = control;
    for_all.processor = sg_now;
    sg_now = &sg_idle_processor;
}

static void end_for_all(const void *control)
{
    if (for_all.control != control)
        return;
    for_all.control = NULL;
    sg_now = for_all.processor;
}

/* ---- once ---- */

enum { ONCE_NEW = 0, ONCE_RUNS = 1, ONCE_DONE = 2 };

typedef struct once {
    int *state;
    bool done;
} once;

static void leave_once(once *o)
{
    end_for_all(o->state);
    *o->state =
        o->done ? ONCE_DONE : ONCE_NEW; /* after an exception or a cancellation, another call will do it */
    if (sg_self() != NULL) {
        sg_touch(sg_now, (uint64_t)(uintptr_t)o->state, SG_WRITE, SG_CATEGORY_PRIM_LOCK);
        while (sg_grant(sg_futex_queue(o->state)))
            continue;
    }
}

int sg_once(pthread_once_t *control, void (*function)(void), const void *site)
{
    if (sg_enter(site))
        sg_touch(sg_now, (uint64_t)(uintptr_t)control, SG_READ, SG_CATEGORY_PRIM_LOCK);
    while (*control == ONCE_RUNS && sg_self() != NULL) {
        sg_queue_add(sg_futex_queue(control), sg_self());
        sg_wait_granted(SG_CATEGORY_IDLE_WAIT, (uint64_t)(uintptr_t)control, SG_NEVER);
        sg_touch(sg_now, (uint64_t)(uintptr_t)control, SG_READ, SG_CATEGORY_PRIM_LOCK);
    }
    if (*control != ONCE_NEW)
        return 0;
    *control = ONCE_RUNS;
    once running __attribute__((cleanup(leave_once))) = {control, false};
    begin_for_all(control);
    function();
    running.done = true;
    return 0;
}

SG_API int pthread_once(pthread_once_t *control, void (*function)(void))
{
    return sg_once(control, function, SG_CALLER);
}

/* ---- C++ guards: the first byte means done, the second in progress ---- */

int __cxa_guard_acquire(char *guard);
void __cxa_guard_release(char *guard);
void __cxa_guard_abort(char *guard);

SG_API int __cxa_guard_acquire(char *guard)
{
    if (sg_enter(SG_CALLER))
        sg_touch(sg_now, (uint64_t)(uintptr_t)guard, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    while (guard[0] == 0 && guard[1] != 0 && sg_self() != NULL) {
        sg_queue_add(sg_futex_queue(guard), sg_self());
        sg_wait_granted(SG_CATEGORY_IDLE_WAIT, (uint64_t)(uintptr_t)guard, SG_NEVER);
        sg_touch(sg_now, (uint64_t)(uintptr_t)guard, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    }
    if (guard[0] != 0)
        return 0;
    guard[1] = 1;
    begin_for_all(guard);
    return 1;
}

static void leave_guard(char *guard, char done, const void *site)
{
    end_for_all(guard);
    guard[0] = done;
    guard[1] = 0;
    if (!sg_enter(site))
        return;
    sg_touch(sg_now, (uint64_t)(uintptr_t)guard, SG_WRITE, SG_CATEGORY_PRIM_LOCK);
    while (sg_grant(sg_futex_queue(guard)))
        continue;
}

SG_API void __cxa_guard_release(char *guard)
{
    leave_guard(guard, 1, SG_CALLER);
}

SG_API void __cxa_guard_abort(char *guard)
{
    leave_guard(guard, 0, SG_CALLER);
}

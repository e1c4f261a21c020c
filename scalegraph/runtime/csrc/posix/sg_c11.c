/* C11 threads, implemented with POSIX threads. The types are the C library's: mtx_t has the layout of
 * pthread_mutex_t, cnd_t of pthread_cond_t, a tss_t is a key, and a once_flag is a pthread_once_t. */
#include <errno.h>
#include <threads.h>

#include "sg_posix.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t),
               "the same");

static int in_c11(int error)
{
    return error == 0           ? thrd_success
           : error == EBUSY     ? thrd_busy
           : error == ETIMEDOUT ? thrd_timedout
           : error == ENOMEM    ? thrd_nomem
                                : thrd_error;
}

SG_API int thrd_create(thrd_t *handle, thrd_start_t function, void *argument)
{
    if (!sg_enter(SG_CALLER) && !sg_begin_early(SG_CALLER))
        return thrd_error;
    return in_c11(sg_posix_create(handle, NULL, NULL, function, argument));
}

SG_API int thrd_join(thrd_t handle, int *result)
{
    void *value = NULL;
    if (!sg_enter(SG_CALLER))
        return thrd_error;
    int error = sg_posix_join(handle, &value, SG_NEVER);
    if (error == 0 && result != NULL)
        *result = (int)(intptr_t)value;
    return in_c11(error);
}

SG_API int thrd_detach(thrd_t handle)
{
    return sg_enter(SG_CALLER) ? in_c11(sg_posix_detach(handle)) : thrd_error;
}

SG_API void thrd_exit(int result)
{
    if (!sg_enter(SG_CALLER))
        exit(0);
    sg_posix_exit((void *)(intptr_t)result);
}

SG_API void thrd_yield(void)
{
    if (sg_enter(SG_CALLER))
        sg_pass(SG_CALLER);
}

SG_API int thrd_sleep(const struct timespec *time, struct timespec *left)
{
    if (!sg_is_time(time))
        return -2;
    sg_sleep(sg_deadline_in(time), SG_CALLER);
    if (left != NULL)
        *left = (struct timespec){0, 0};
    return 0;
}

/* ---- mutexes ---- */

SG_API int mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (type & mtx_recursive)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return in_c11(pthread_mutex_init((pthread_mutex_t *)mutex, &attributes));
}

SG_API void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

SG_API int mtx_lock(mtx_t *mutex)
{
    return in_c11(sg_mutex_lock((pthread_mutex_t *)mutex, SG_NEVER, SG_CALLER));
}

SG_API int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict time)
{
    if (!sg_is_time(time))
        return thrd_error;
    return in_c11(sg_mutex_lock((pthread_mutex_t *)mutex, sg_deadline(time), SG_CALLER));
}

SG_API int mtx_trylock(mtx_t *mutex)
{
    return in_c11(sg_mutex_try((pthread_mutex_t *)mutex, SG_CALLER));
}

SG_API int mtx_unlock(mtx_t *mutex)
{
    return in_c11(sg_mutex_unlock((pthread_mutex_t *)mutex, SG_CALLER));
}

/* ---- condition variables ---- */

SG_API int cnd_init(cnd_t *variable)
{
    return in_c11(pthread_cond_init((pthread_cond_t *)variable, NULL));
}

SG_API void cnd_destroy(cnd_t *variable)
{
    pthread_cond_destroy((pthread_cond_t *)variable);
}

SG_API int cnd_wait(cnd_t *variable, mtx_t *mutex)
{
    return in_c11(
        sg_condition_wait((pthread_cond_t *)variable, (pthread_mutex_t *)mutex, SG_NEVER, SG_CALLER));
}

SG_API int cnd_timedwait(cnd_t *restrict variable, mtx_t *restrict mutex,
                         const struct timespec *restrict time)
{
    if (!sg_is_time(time))
        return thrd_error;
    uint64_t deadline = sg_deadline(time);
    return in_c11(
        sg_condition_wait((pthread_cond_t *)variable, (pthread_mutex_t *)mutex, deadline, SG_CALLER));
}

SG_API int cnd_signal(cnd_t *variable)
{
    return in_c11(sg_condition_wake((pthread_cond_t *)variable, false, SG_CALLER));
}

SG_API int cnd_broadcast(cnd_t *variable)
{
    return in_c11(sg_condition_wake((pthread_cond_t *)variable, true, SG_CALLER));
}

/* ---- thread-specific values, once ---- */

SG_API int tss_create(tss_t *key, tss_dtor_t destructor)
{
    return in_c11(pthread_key_create(key, destructor));
}

SG_API void tss_delete(tss_t key)
{
    pthread_key_delete(key);
}

SG_API void *tss_get(tss_t key)
{
    return pthread_getspecific(key);
}

SG_API int tss_set(tss_t key, void *value)
{
    return in_c11(pthread_setspecific(key, value));
}

SG_API void call_once(once_flag *flag, void (*function)(void))
{
    sg_once((pthread_once_t *)flag, function, SG_CALLER);
}

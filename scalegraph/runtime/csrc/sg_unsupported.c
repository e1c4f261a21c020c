/* What the simulator does not support ends the run with a sentence, at once: it must neither hang nor
 * run wrongly. Mutexes and spin locks are served by the simulated machine's locks. */
#include <errno.h>

#include "sg_runtime.h"

#define REFUSE(name, why) REFUSE_AS(name, __wrap_##name, why)
#define REFUSE_AS(name, symbol, why)                                                                         \
    long symbol(void);                                                                                       \
    SG_API long symbol(void)                                                                                 \
    {                                                                                                        \
        sg_now->site = SG_CALLER;                                                                            \
        sg_stop(SG_STATUS_UNSUPPORTED,                                                                       \
                "the program called " #name " at 0x%llx, which the simulator does not support: " why,        \
                (unsigned long long)(uintptr_t)SG_CALLER);                                                   \
    }

#define THREADS  "threads must come from OpenMP"
#define BLOCKING "it waits for another thread of the host"

REFUSE(pthread_create, THREADS)
REFUSE(thrd_create, THREADS)
REFUSE(pthread_kill, THREADS)
REFUSE(pthread_cancel, THREADS)
REFUSE(pthread_exit, THREADS)
REFUSE(clone, THREADS)
REFUSE(pthread_cond_wait, BLOCKING)
REFUSE(pthread_cond_timedwait, BLOCKING)
REFUSE(pthread_barrier_wait, BLOCKING)
REFUSE(pthread_rwlock_rdlock, BLOCKING)
REFUSE(pthread_rwlock_wrlock, BLOCKING)
REFUSE(sem_wait, BLOCKING)
REFUSE(sem_timedwait, BLOCKING)

/* ---- mutexes and spin locks ---- */

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
SG_API int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    sg_processor *p = sg_now;
    if (p->coroutine == NULL)
        return 0; /* before the simulation, after it: nobody else runs */
    sg_lock *lock = sg_lock_at(mutex);
    p->site = SG_CALLER;
    int kind = mutex->__data.__kind & 3;
    if (kind != PTHREAD_MUTEX_NORMAL && sg_lock_holder(lock) == (int32_t)p->thread->id) {
        if (kind == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
        if (kind == PTHREAD_MUTEX_RECURSIVE) {
            mutex->__data.__count++;
            return 0;
        }
    }
    sg_lock_acquire(lock);
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
SG_API int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    sg_processor *p = sg_now;
    if (p->coroutine == NULL)
        return 0; /* before the simulation, after it: nobody else runs */
    sg_lock *lock = sg_lock_at(mutex);
    p->site = SG_CALLER;
    if ((mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE &&
        sg_lock_holder(lock) == (int32_t)p->thread->id) {
        mutex->__data.__count++;
        return 0;
    }
    return sg_lock_try(lock) ? 0 : EBUSY;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
SG_API int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (sg_now->coroutine == NULL)
        return 0;
    sg_lock *lock = sg_lock_at(mutex);
    sg_now->site = SG_CALLER;
    if ((mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE && mutex->__data.__count > 0) {
        mutex->__data.__count--;
        return 0;
    }
    sg_lock_release(lock);
    return 0;
}

int __wrap_pthread_spin_lock(pthread_spinlock_t *spin);
SG_API int __wrap_pthread_spin_lock(pthread_spinlock_t *spin)
{
    if (sg_now->coroutine == NULL)
        return 0;
    sg_now->site = SG_CALLER;
    sg_lock_acquire(sg_lock_at((const void *)spin));
    return 0;
}

int __wrap_pthread_spin_trylock(pthread_spinlock_t *spin);
SG_API int __wrap_pthread_spin_trylock(pthread_spinlock_t *spin)
{
    if (sg_now->coroutine == NULL)
        return 0;
    sg_now->site = SG_CALLER;
    return sg_lock_try(sg_lock_at((const void *)spin)) ? 0 : EBUSY;
}

int __wrap_pthread_spin_unlock(pthread_spinlock_t *spin);
SG_API int __wrap_pthread_spin_unlock(pthread_spinlock_t *spin)
{
    if (sg_now->coroutine == NULL)
        return 0;
    sg_now->site = SG_CALLER;
    sg_lock_release(sg_lock_at((const void *)spin));
    return 0;
}

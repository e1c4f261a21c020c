/* The program's condition variables, read-write locks and barriers. The runtime keeps its state in the
 * program's variable itself, which is all zero when initialised statically. */
#include <errno.h>

#include "sg_posix.h"
#include "sg_sync.h"

/* ---- condition variables ---- */

typedef struct condition {
    sg_queue waiting;
} condition;

_Static_assert(sizeof(condition) <= sizeof(pthread_cond_t), "fits into the program's variable");

SG_API int pthread_cond_init(pthread_cond_t *variable, const pthread_condattr_t *attributes)
{
    (void)attributes; /* the clock does not matter: all show the same time */
    memset(variable, 0, sizeof *variable);
    if (sg_enter(SG_CALLER))
        sg_reference_range(variable, sizeof *variable, SG_WRITE, SG_CALLER);
    return 0;
}

SG_API int pthread_cond_destroy(pthread_cond_t *variable)
{
    (void)variable;
    return 0;
}

int sg_condition_wait(pthread_cond_t *variable, pthread_mutex_t *mutex, uint64_t deadline, const void *site)
{
    if (!sg_enter(site))
        return deadline == SG_NEVER ? 0 : ETIMEDOUT;
    condition *c = (condition *)variable;
    uint64_t at = (uint64_t)(uintptr_t)variable;
    sg_thread *self = sg_self();
    sg_posix_test_cancel();
    sg_touch(sg_now, at, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    sg_queue_add(&c->waiting, self);
    unsigned count = mutex->__data.__count;
    mutex->__data.__count = 0;
    int error = sg_mutex_unlock(mutex, site);
    if (error != 0) {
        sg_queue_remove(self);
        mutex->__data.__count = count;
        return error;
    }
    if (!self->granted)
        sg_posix_wait(SG_CATEGORY_IDLE_WAIT, at, -1, deadline);
    bool woken = self->granted;
    error = sg_mutex_lock(mutex, SG_NEVER, site);
    mutex->__data.__count = count;
    if (!woken)
        sg_posix_test_cancel();
    return error != 0 ? error : woken ? 0 : ETIMEDOUT;
}

SG_API int pthread_cond_wait(pthread_cond_t *restrict variable, pthread_mutex_t *restrict mutex)
{
    return sg_condition_wait(variable, mutex, SG_NEVER, SG_CALLER);
}

SG_API int pthread_cond_timedwait(pthread_cond_t *restrict variable, pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict time)
{
    if (!sg_is_time(time))
        return EINVAL;
    return sg_condition_wait(variable, mutex, sg_deadline(time), SG_CALLER);
}

SG_API int pthread_cond_clockwait(pthread_cond_t *restrict variable, pthread_mutex_t *restrict mutex,
                                  clockid_t clock, const struct timespec *restrict time)
{
    (void)clock;
    if (!sg_is_time(time))
        return EINVAL;
    return sg_condition_wait(variable, mutex, sg_deadline(time), SG_CALLER);
}

int sg_condition_wake(pthread_cond_t *variable, bool all, const void *site)
{
    condition *c = (condition *)variable;
    if (!sg_enter(site))
        return 0;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    sg_touch(sg_now, (uint64_t)(uintptr_t)variable, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    while (sg_grant(&c->waiting) && all)
        continue;
    return 0;
}

SG_API int pthread_cond_signal(pthread_cond_t *variable)
{
    return sg_condition_wake(variable, false, SG_CALLER);
}

SG_API int pthread_cond_broadcast(pthread_cond_t *variable)
{
    return sg_condition_wake(variable, true, SG_CALLER);
}

/* ---- read-write locks ---- */

typedef struct rwlock {
    sg_queue readers_waiting, writers_waiting;
    uint32_t readers;
    int32_t writer; /* thread + 1 */
    bool prefers_writers;
} rwlock;

_Static_assert(sizeof(rwlock) <= sizeof(pthread_rwlock_t), "fits into the program's variable");

/* A static initialiser may prefer writers, in a field of the C library that our state does not overlap. */
static bool writers_first(pthread_rwlock_t *variable)
{
    return ((rwlock *)variable)->prefers_writers ||
           variable->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

_Static_assert(sizeof(rwlock) <= offsetof(pthread_rwlock_t, __data.__flags), "categories that field alone");

SG_API int pthread_rwlock_init(pthread_rwlock_t *variable, const pthread_rwlockattr_t *attributes)
{
    int kind = PTHREAD_RWLOCK_DEFAULT_NP;
    memset(variable, 0, sizeof *variable);
    if (attributes != NULL)
        pthread_rwlockattr_getkind_np(attributes, &kind);
    ((rwlock *)variable)->prefers_writers = kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
    if (sg_enter(SG_CALLER))
        sg_reference_range(variable, sizeof *variable, SG_WRITE, SG_CALLER);
    return 0;
}

SG_API int pthread_rwlock_destroy(pthread_rwlock_t *variable)
{
    const rwlock *lock = (const rwlock *)variable;
    return lock->readers != 0 || lock->writer != 0 ? EBUSY : 0;
}

static bool may_enter(pthread_rwlock_t *variable, bool write)
{
    const rwlock *lock = (const rwlock *)variable;
    if (write)
        return lock->writer == 0 && lock->readers == 0;
    return lock->writer == 0 && !(lock->writers_waiting.head != NULL && writers_first(variable));
}

/* Takes the lock; with `deadline` 0 it does not wait. */
static int enter_lock(pthread_rwlock_t *variable, bool write, uint64_t deadline)
{
    rwlock *lock = (rwlock *)variable;
    uint64_t at = (uint64_t)(uintptr_t)variable, from = sg_now->clock;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    sg_touch(sg_now, at, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    while (!may_enter(variable, write)) {
        if (deadline == 0)
            return EBUSY;
        if (lock->writer == sg_self_id() + 1)
            return EDEADLK;
        if (sg_now->clock >= deadline) {
            if (write && lock->writer == 0 && lock->writers_waiting.head == NULL) /* it kept readers out */
                sg_wake_all(&lock->readers_waiting, sg_now->clock);
            return ETIMEDOUT;
        }
        sg_queue_add(write ? &lock->writers_waiting : &lock->readers_waiting, sg_self());
        sg_suspend_until(SG_CATEGORY_IDLE_LOCK, at, lock->writer - 1, deadline);
        sg_touch(sg_now, at, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    }
    if (write)
        lock->writer = sg_self_id() + 1;
    else
        lock->readers++;
    sg_count(sg_now, SG_COUNTER_LOCKS, 1);
    sg_observe_lock_taken(from);
    sg_observe_lock_held(at, true);
    return 0;
}

SG_API int pthread_rwlock_rdlock(pthread_rwlock_t *variable)
{
    return sg_enter(SG_CALLER) ? enter_lock(variable, false, SG_NEVER) : 0;
}

SG_API int pthread_rwlock_wrlock(pthread_rwlock_t *variable)
{
    return sg_enter(SG_CALLER) ? enter_lock(variable, true, SG_NEVER) : 0;
}

SG_API int pthread_rwlock_tryrdlock(pthread_rwlock_t *variable)
{
    return sg_enter(SG_CALLER) ? enter_lock(variable, false, 0) : 0;
}

SG_API int pthread_rwlock_trywrlock(pthread_rwlock_t *variable)
{
    return sg_enter(SG_CALLER) ? enter_lock(variable, true, 0) : 0;
}

static int timed_enter(pthread_rwlock_t *variable, bool write, const struct timespec *time, const void *site)
{
    if (!sg_is_time(time))
        return EINVAL;
    if (!sg_enter(site))
        return 0;
    uint64_t deadline = sg_deadline(time);
    return enter_lock(variable, write, deadline > 0 ? deadline : 1);
}

SG_API int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict variable,
                                      const struct timespec *restrict time)
{
    return timed_enter(variable, false, time, SG_CALLER);
}

SG_API int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict variable,
                                      const struct timespec *restrict time)
{
    return timed_enter(variable, true, time, SG_CALLER);
}

SG_API int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict variable, clockid_t clock,
                                      const struct timespec *restrict time)
{
    (void)clock;
    return timed_enter(variable, false, time, SG_CALLER);
}

SG_API int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict variable, clockid_t clock,
                                      const struct timespec *restrict time)
{
    (void)clock;
    return timed_enter(variable, true, time, SG_CALLER);
}

SG_API int pthread_rwlock_unlock(pthread_rwlock_t *variable)
{
    rwlock *lock = (rwlock *)variable;
    if (!sg_enter(SG_CALLER))
        return 0;
    sg_observe_lock_held((uint64_t)(uintptr_t)variable, false);
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    sg_touch(sg_now, (uint64_t)(uintptr_t)variable, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    if (lock->writer != 0)
        lock->writer = 0;
    else if (lock->readers > 0)
        lock->readers--;
    if (lock->readers > 0)
        return 0;
    bool writer = lock->writers_waiting.head != NULL;
    if (lock->readers_waiting.head != NULL && !(writer && writers_first(variable)))
        sg_wake_all(&lock->readers_waiting, sg_now->clock);
    else if (writer)
        sg_wake(sg_queue_take(&lock->writers_waiting), sg_now->clock);
    return 0;
}

/* ---- barriers ---- */

typedef struct barrier {
    sg_barrier *machine;
    uint32_t members;
} barrier;

_Static_assert(sizeof(barrier) <= sizeof(pthread_barrier_t), "fits into the program's variable");

SG_API int pthread_barrier_init(pthread_barrier_t *variable, const pthread_barrierattr_t *attributes,
                                unsigned members)
{
    barrier *b = (barrier *)variable;
    (void)attributes;
    if (members == 0 || members > INT32_MAX)
        return EINVAL;
    memset(variable, 0, sizeof *variable);
    b->members = members;
    if (sg_enter(SG_CALLER))
        sg_reference_range(variable, sizeof *variable, SG_WRITE, SG_CALLER);
    return 0;
}

SG_API int pthread_barrier_destroy(pthread_barrier_t *variable)
{
    memset(variable, 0, sizeof *variable);
    return 0;
}

SG_API int pthread_barrier_wait(pthread_barrier_t *variable)
{
    barrier *b = (barrier *)variable;
    if (!sg_enter(SG_CALLER))
        return PTHREAD_BARRIER_SERIAL_THREAD;
    if (b->members == 0)
        return EINVAL;
    if (b->machine == NULL) {
        b->machine = sg_barrier_new(b->members);
        sg_barrier_name(b->machine, (uint64_t)(uintptr_t)variable);
    }
    uint32_t last = b->members - 1; /* afterwards the variable may already be a different barrier */
    return sg_barrier_come(b->machine, SG_CATEGORY_PRIM_BARRIER) == last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

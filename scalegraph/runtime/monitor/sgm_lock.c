/* Locks, critical sections, and other waits. Taking a free lock is not accounted for; if another thread holds
 * it, the time counts as waiting. */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sgm.h"

enum { CRITICALS = 256 };

/* How many threads are in a critical section or wait for it, by its name. */
static int64_t inside[CRITICALS];

static int64_t *inside_of(const void *name)
{
    return &inside[((uintptr_t)name >> 3) % CRITICALS];
}

static uint32_t before_lock(int64_t *in)
{
    bool held = __atomic_fetch_add(in, 1, __ATOMIC_RELAXED) > 0;
    sgm_self()->object = (uintptr_t)in;
    return sgm_switch(sgm_self(), held ? SG_CATEGORY_IDLE_LOCK : SG_CATEGORY_PRIM_LOCK);
}

/* The calling thread has taken a lock, or is about to release it. */
static void note(uint32_t step, const volatile void *lock)
{
    sgm_thread *t = sgm_self_or_null;
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_LOCKS) == 0) && t != NULL && t->category == SGM_COMPUTING)
        sgm_trace_lock(t, step, lock);
}

static void after_lock(uint32_t before, const int64_t *in)
{
    sgm_thread *t = sgm_self();
    t->counters[SG_COUNTER_LOCKS]++;
    sgm_switch(t, before);
    note(SG_LOCK_STEP_ACQUIRED, in);
}

SGM_API void GOMP_critical_start(void)
{
    uint32_t before = before_lock(inside);
    SGM_REAL(GOMP_critical_start)();
    after_lock(before, inside);
}

SGM_API void GOMP_critical_end(void)
{
    note(SG_LOCK_STEP_RELEASED, inside);
    SGM_REAL(GOMP_critical_end)();
    __atomic_fetch_sub(inside, 1, __ATOMIC_RELAXED);
}

SGM_API void GOMP_critical_name_start(void **name)
{
    uint32_t before = before_lock(inside_of(name));
    SGM_REAL(GOMP_critical_name_start)(name);
    after_lock(before, inside_of(name));
}

SGM_API void GOMP_critical_name_end(void **name)
{
    note(SG_LOCK_STEP_RELEASED, inside_of(name));
    SGM_REAL(GOMP_critical_name_end)(name);
    __atomic_fetch_sub(inside_of(name), 1, __ATOMIC_RELAXED);
}

SGM_API void GOMP_atomic_start(void)
{
    uint32_t before = sgm_switch(sgm_self(), SG_CATEGORY_PRIM_ATOMIC);
    SGM_REAL(GOMP_atomic_start)();
    sgm_switch(sgm_self(), before);
}

/* Begins to wait; a thread not known yet, which may be about to be announced, is left alone: returns no
 * category. */
static uint32_t wait_begins(uint32_t category, const volatile void *object)
{
    sgm_thread *t = sgm_self_or_null;
    if (t == NULL || t->category != SGM_COMPUTING) /* inside an observed call: that one counts */
        return SG_CATEGORY_COUNT;
    t->object = (uintptr_t)object;
    return sgm_switch(t, category);
}

static void wait_ends(uint32_t before)
{
    if (before != SG_CATEGORY_COUNT)
        sgm_switch(sgm_self_or_null, before);
}

static void count(uint32_t counter)
{
    if (SGM_LIKELY(sgm_self_or_null != NULL))
        sgm_self_or_null->counters[counter]++;
}

#define WAITED(category, object, call)                                                                       \
    uint32_t before = wait_begins(category, object);                                                         \
    call;                                                                                                    \
    wait_ends(before)

/* The result of `attempt` if the lock was free, else that of `call`, whose time is waiting. */
#define LOCK(object, attempt, call)                                                                          \
    int result = attempt;                                                                                    \
    count(SG_COUNTER_LOCKS);                                                                                 \
    if (!SGM_LIKELY(result == 0)) {                                                                          \
        WAITED(SG_CATEGORY_IDLE_LOCK, object, result = call);                                                \
    }                                                                                                        \
    if (SGM_LIKELY(result == 0))                                                                             \
        note(SG_LOCK_STEP_ACQUIRED, object);                                                                 \
    return result

SGM_API void omp_set_lock(omp_lock_t *lock)
{
    count(SG_COUNTER_LOCKS);
    if (!omp_test_lock(lock)) {
        WAITED(SG_CATEGORY_IDLE_LOCK, lock, SGM_REAL(omp_set_lock)(lock));
    }
    note(SG_LOCK_STEP_ACQUIRED, lock);
}

SGM_API void omp_set_nest_lock(omp_nest_lock_t *lock)
{
    count(SG_COUNTER_LOCKS);
    if (!omp_test_nest_lock(lock)) {
        WAITED(SG_CATEGORY_IDLE_LOCK, lock, SGM_REAL(omp_set_nest_lock)(lock));
    }
    note(SG_LOCK_STEP_ACQUIRED, lock);
}

SGM_API int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    LOCK(mutex, pthread_mutex_trylock(mutex), SGM_REAL(pthread_mutex_lock)(mutex));
}

SGM_API int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
    LOCK(rwlock, pthread_rwlock_tryrdlock(rwlock), SGM_REAL(pthread_rwlock_rdlock)(rwlock));
}

SGM_API int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
    LOCK(rwlock, pthread_rwlock_trywrlock(rwlock), SGM_REAL(pthread_rwlock_wrlock)(rwlock));
}

SGM_API int pthread_spin_lock(pthread_spinlock_t *spin)
{
    LOCK(spin, pthread_spin_trylock(spin), SGM_REAL(pthread_spin_lock)(spin));
}

#define UNLOCK(type, name, parameter)                                                                        \
    SGM_API type name(parameter *lock)                                                                       \
    {                                                                                                        \
        note(SG_LOCK_STEP_RELEASED, lock);                                                                   \
        return SGM_REAL(name)(lock);                                                                         \
    }
UNLOCK(int, pthread_mutex_unlock, pthread_mutex_t)
UNLOCK(int, pthread_rwlock_unlock, pthread_rwlock_t)
UNLOCK(int, pthread_spin_unlock, pthread_spinlock_t)
UNLOCK(void, omp_unset_lock, omp_lock_t)
UNLOCK(void, omp_unset_nest_lock, omp_nest_lock_t)

SGM_API int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    WAITED(SG_CATEGORY_IDLE_BARRIER, barrier, int result = SGM_REAL(pthread_barrier_wait)(barrier));
    count(SG_COUNTER_BARRIERS);
    return result;
}

SGM_API int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    note(SG_LOCK_STEP_RELEASED, mutex);
    WAITED(SG_CATEGORY_IDLE_WAIT, condition, int result = SGM_REAL(pthread_cond_wait)(condition, mutex));
    note(SG_LOCK_STEP_ACQUIRED, mutex);
    return result;
}

SGM_API int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                   const struct timespec *until)
{
    note(SG_LOCK_STEP_RELEASED, mutex);
    WAITED(SG_CATEGORY_IDLE_WAIT, condition,
           int result = SGM_REAL(pthread_cond_timedwait)(condition, mutex, until));
    note(SG_LOCK_STEP_ACQUIRED, mutex);
    return result;
}

SGM_API int sem_wait(sem_t *semaphore)
{
    if (sem_trywait(semaphore) == 0)
        return 0;
    WAITED(SG_CATEGORY_IDLE_WAIT, semaphore, int result = SGM_REAL(sem_wait)(semaphore));
    return result;
}

#define SLEEP(name, parameters, given, type)                                                                 \
    SGM_API type name parameters                                                                             \
    {                                                                                                        \
        WAITED(SG_CATEGORY_IDLE_WAIT, NULL, type result = SGM_REAL(name) given);                             \
        return result;                                                                                       \
    }
SLEEP(sleep, (unsigned seconds), (seconds), unsigned)
SLEEP(usleep, (useconds_t microseconds), (microseconds), int)
SLEEP(nanosleep, (const struct timespec *wanted, struct timespec *left), (wanted, left), int)

/* ---- threads ---- */

typedef struct start {
    void *(*function)(void *);
    void *argument;
    uint32_t region;
} start;

static void ended(void *unused)
{
    (void)unused;
    sgm_end_thread();
}

static void *begun(void *given)
{
    start mine = *(start *)given;
    void *result;
    free(given);
    sgm_begin_thread(mine.region);
    pthread_cleanup_push(ended, NULL);
    result = mine.function(mine.argument);
    pthread_cleanup_pop(1);
    return result;
}

SGM_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                           void *argument)
{
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, t->category == SGM_COMPUTING ? SG_CATEGORY_PRIM_THREAD : t->category);
    start *given = malloc(sizeof *given);
    if (given == NULL)
        sgm_stop("no memory for a thread");
    *given = (start){function, argument, t->region};
    int result = SGM_REAL(pthread_create)(thread, attributes, begun, given);
    if (result != 0)
        free(given);
    sgm_switch(t, before);
    return result;
}

SGM_API int pthread_join(pthread_t thread, void **result)
{
    WAITED(SG_CATEGORY_IDLE_WAIT, NULL, int found = SGM_REAL(pthread_join)(thread, result));
    return found;
}

/* libgomp's entry points: ours are called instead, account for the time in them and call the originals. */
#include <dlfcn.h>
#include <omp.h>

#include "sgm.h"

typedef unsigned long long ull;
typedef void body(void *);

/* ---- teams ---- */

typedef struct member_call {
    body *function;
    void *data;
    sgm_team *team;
} member_call;

/* The thread continues with another, existing task. */
static void become(sgm_thread *t, uint64_t task)
{
    if (t->task == task)
        return;
    t->task = task;
    sgm_trace_task(t, SG_TASK_STEP_SWITCHED, t->region, t->last, task, 0);
}

static void member(void *given)
{
    const member_call *call = given;
    sgm_team *team = call->team;
    sgm_enter_team(team);
    sgm_thread *t = sgm_self();
    sgm_team *outer = t->team;
    uint32_t depth = t->depth;
    uint64_t task = t->task; /* that forked the team, if this is its master */
    t->team = team;
    become(t, sgm_implicit_task(t));
    call->function(call->data);
    t = sgm_self();
    t->depth = depth < t->depth ? depth : t->depth;
    sgm_end_of_team(team, sgm_ticks());
    become(t, task);
    t->team = outer;
    if (t != team->master)
        t->before = team;
}

/* Called around libgomp's call that forks and joins a team. */
static sgm_team *fork_team(unsigned threads)
{
    sgm_thread *t = sgm_self();
    uint64_t now = sgm_ticks();
    sgm_charge(t, now, t->category);
    t->category = SG_CATEGORY_PRIM_FORK_JOIN;
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_WAITS) == 0))
        sgm_trace_mark(t, SG_MARK_FORK, now, threads != 0 ? threads : (unsigned)omp_get_max_threads());
    return sgm_new_team(t, now);
}

static void joined(sgm_team *team, uint64_t barriers)
{
    sgm_thread *t = sgm_self();
    uint64_t ended = __atomic_load_n(&team->ended, __ATOMIC_ACQUIRE), now = sgm_ticks();
    sgm_charge_waiting(t, team, ended, now);
    sgm_charge(t, now, SG_CATEGORY_PRIM_FORK_JOIN);
    t->category = SGM_COMPUTING;
    t->barriers = barriers;
    t->counters[SG_COUNTER_BARRIERS]++;
    sgm_forget_team(team);
    sgm_forget_team(team);
}

#define TEAM(...)                                                                                            \
    uint64_t barriers = sgm_self()->barriers;                                                                \
    member_call call = {function, data, fork_team(threads)};                                                 \
    __VA_ARGS__;                                                                                             \
    joined(call.team, barriers)

SGM_API void GOMP_parallel(body *function, void *data, unsigned threads, unsigned flags)
{
    TEAM(SGM_REAL(GOMP_parallel)(member, &call, threads, flags));
}

SGM_API void GOMP_parallel_sections(body *function, void *data, unsigned threads, unsigned count,
                                    unsigned flags)
{
    TEAM(SGM_REAL(GOMP_parallel_sections)(member, &call, threads, count, flags));
}

#define PARALLEL_LOOP(name)                                                                                  \
    SGM_API void name(body *function, void *data, unsigned threads, long start, long end, long step,         \
                      long chunk, unsigned flags)                                                            \
    {                                                                                                        \
        TEAM(SGM_REAL(name)(member, &call, threads, start, end, step, chunk, flags));                        \
    }
#define PARALLEL_LOOP_RUNTIME(name)                                                                          \
    SGM_API void name(body *function, void *data, unsigned threads, long start, long end, long step,         \
                      unsigned flags)                                                                        \
    {                                                                                                        \
        TEAM(SGM_REAL(name)(member, &call, threads, start, end, step, flags));                               \
    }
PARALLEL_LOOP(GOMP_parallel_loop_static)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- barriers: waiting until the last member has arrived, then the barrier itself ---- */

static sgm_thread *at_barrier(uint32_t *before)
{
    sgm_thread *t = sgm_self();
    *before = sgm_switch(t, SG_CATEGORY_IDLE_BARRIER);
    if (t->team != NULL)
        sgm_latest(&t->team->arrived[t->barriers & 1], t->last);
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_WAITS) == 0))
        sgm_trace_mark(t, SG_MARK_BARRIER, t->last, (uintptr_t)t->team);
    return t;
}

static void after_barrier(sgm_thread *t, uint32_t before)
{
    uint64_t now = sgm_ticks();
    const sgm_team *team = t->team;
    if (team != NULL)
        sgm_charge_waiting(t, team, __atomic_load_n(&team->arrived[t->barriers & 1], __ATOMIC_ACQUIRE), now);
    sgm_charge(t, now, team != NULL ? SG_CATEGORY_PRIM_BARRIER : SG_CATEGORY_IDLE_BARRIER);
    t->barriers++;
    t->counters[SG_COUNTER_BARRIERS]++;
    t->category = before;
    t->events++;
}

#define BARRIER(name)                                                                                        \
    SGM_API void name(void)                                                                                  \
    {                                                                                                        \
        uint32_t before;                                                                                     \
        sgm_thread *t = at_barrier(&before);                                                                 \
        SGM_REAL(name)();                                                                                    \
        after_barrier(t, before);                                                                            \
    }
#define BARRIER_CANCEL(name)                                                                                 \
    SGM_API bool name(void)                                                                                  \
    {                                                                                                        \
        uint32_t before;                                                                                     \
        sgm_thread *t = at_barrier(&before);                                                                 \
        bool cancelled = SGM_REAL(name)();                                                                   \
        after_barrier(t, before);                                                                            \
        return cancelled;                                                                                    \
    }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

/* ---- work sharing ---- */

#define TIMED(category, counter, result, call)                                                               \
    sgm_thread *t = sgm_self();                                                                              \
    uint32_t before = sgm_switch(t, category);                                                               \
    result call;                                                                                             \
    t->counters[counter]++;                                                                                  \
    sgm_switch(t, before)
#define CHUNK(call)                                                                                          \
    TIMED(SG_CATEGORY_PRIM_SCHEDULE, SG_COUNTER_CHUNKS, bool found =, call);                                 \
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_CHUNKS) == 0) && found)                                          \
    begin_chunk(t, (int64_t)(*to - *from))

/* The thread begins a chunk that is `width` wide. */
static void begin_chunk(sgm_thread *t, int64_t width)
{
    int64_t step = t->step != 0 ? t->step : 1;
    sgm_trace_mark(t, SG_MARK_CHUNK, t->last, (uint64_t)((width + step - (step > 0 ? 1 : -1)) / step));
}

#define START(name)                                                                                          \
    SGM_API bool name(long start, long end, long step, long chunk, long *from, long *to)                     \
    {                                                                                                        \
        sgm_self()->step = (int64_t)step;                                                                    \
        CHUNK(SGM_REAL(name)(start, end, step, chunk, from, to));                                            \
        return found;                                                                                        \
    }
#define START_RUNTIME(name)                                                                                  \
    SGM_API bool name(long start, long end, long step, long *from, long *to)                                 \
    {                                                                                                        \
        sgm_self()->step = (int64_t)step;                                                                    \
        CHUNK(SGM_REAL(name)(start, end, step, from, to));                                                   \
        return found;                                                                                        \
    }
#define NEXT(name)                                                                                           \
    SGM_API bool name(long *from, long *to)                                                                  \
    {                                                                                                        \
        CHUNK(SGM_REAL(name)(from, to));                                                                     \
        return found;                                                                                        \
    }
#define ULL_START(name)                                                                                      \
    SGM_API bool name(bool up, ull start, ull end, ull step, ull chunk, ull *from, ull *to)                  \
    {                                                                                                        \
        sgm_self()->step = (int64_t)step;                                                                    \
        CHUNK(SGM_REAL(name)(up, start, end, step, chunk, from, to));                                        \
        return found;                                                                                        \
    }
#define ULL_START_RUNTIME(name)                                                                              \
    SGM_API bool name(bool up, ull start, ull end, ull step, ull *from, ull *to)                             \
    {                                                                                                        \
        sgm_self()->step = (int64_t)step;                                                                    \
        CHUNK(SGM_REAL(name)(up, start, end, step, from, to));                                               \
        return found;                                                                                        \
    }
#define ULL_NEXT(name)                                                                                       \
    SGM_API bool name(ull *from, ull *to)                                                                    \
    {                                                                                                        \
        CHUNK(SGM_REAL(name)(from, to));                                                                     \
        return found;                                                                                        \
    }
#define KIND(kind)                                                                                           \
    START(GOMP_loop_##kind##_start)                                                                          \
    NEXT(GOMP_loop_##kind##_next)                                                                            \
    ULL_START(GOMP_loop_ull_##kind##_start)                                                                  \
    ULL_NEXT(GOMP_loop_ull_##kind##_next)
#define KIND_RUNTIME(kind)                                                                                   \
    START_RUNTIME(GOMP_loop_##kind##_start)                                                                  \
    NEXT(GOMP_loop_##kind##_next)                                                                            \
    ULL_START_RUNTIME(GOMP_loop_ull_##kind##_start)                                                          \
    ULL_NEXT(GOMP_loop_ull_##kind##_next)
KIND(static)
KIND(dynamic)
KIND(guided)
KIND(nonmonotonic_dynamic)
KIND(nonmonotonic_guided)
KIND(ordered_static)
KIND(ordered_dynamic)
KIND(ordered_guided)
KIND_RUNTIME(runtime)
KIND_RUNTIME(nonmonotonic_runtime)
KIND_RUNTIME(maybe_nonmonotonic_runtime)
KIND_RUNTIME(ordered_runtime)

SGM_API unsigned GOMP_sections_start(unsigned count)
{
    TIMED(SG_CATEGORY_PRIM_SCHEDULE, SG_COUNTER_CHUNKS, unsigned found =,
          SGM_REAL(GOMP_sections_start)(count));
    return found;
}

SGM_API unsigned GOMP_sections_next(void)
{
    TIMED(SG_CATEGORY_PRIM_SCHEDULE, SG_COUNTER_CHUNKS, unsigned found =, SGM_REAL(GOMP_sections_next)());
    return found;
}

SGM_API bool GOMP_single_start(void)
{
    TIMED(SG_CATEGORY_PRIM_SCHEDULE, SG_COUNTER_CHUNKS, bool found =, SGM_REAL(GOMP_single_start)());
    return found;
}

SGM_API void *GOMP_single_copy_start(void)
{
    TIMED(SG_CATEGORY_IDLE_ORDER, SG_COUNTER_CHUNKS, void *found =, SGM_REAL(GOMP_single_copy_start)());
    return found;
}

SGM_API void GOMP_ordered_start(void)
{
    TIMED(SG_CATEGORY_IDLE_ORDER, SG_COUNTER_LOCKS, , SGM_REAL(GOMP_ordered_start)());
}

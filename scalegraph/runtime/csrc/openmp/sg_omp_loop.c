/* The compiler's entry points for loops, by schedule and type of the loop variable. */
#include "sg_omp.h"

typedef unsigned long long ull;

/* ---- loop end ---- */

SG_API void GOMP_loop_end_nowait(void)
{
    sg_thread *t = sg_member(SG_CALLER);
    sg_order_pass(t, t->work, t->ordered_last);
}

SG_API void GOMP_loop_end(void)
{
    sg_thread *t = sg_member(SG_CALLER);
    sg_order_pass(t, t->work, t->ordered_last);
    sg_team_barrier(SG_CALLER);
}

SG_API bool GOMP_loop_end_cancel(void)
{
    sg_thread *t = sg_member(SG_CALLER);
    if (!t->team->work_cancelled && !t->team->cancelled)
        sg_order_pass(t, t->work, t->ordered_last);
    return sg_team_barrier_cancel(SG_CALLER);
}

/* ---- loops with a known schedule ---- */

#define START(name, kind, ordered_)                                                                          \
    SG_API bool name(long start, long end, long step, long chunk, long *from, long *to)                      \
    {                                                                                                        \
        sg_loop loop = sg_loop_signed(kind, start, end, step, chunk, ordered_);                              \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, NULL, NULL, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                \
    }
#define START_RUNTIME(name, ordered_)                                                                        \
    SG_API bool name(long start, long end, long step, long *from, long *to)                                  \
    {                                                                                                        \
        const sg_icv *icv = &sg_member(SG_CALLER)->task->icv;                                                \
        sg_loop loop = sg_loop_signed(icv->schedule, start, end, step, (long)icv->chunk, ordered_);          \
        loop.chosen = icv->chosen;                                                                           \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, NULL, NULL, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                \
    }
#define NEXT(name)                                                                                           \
    SG_API bool name(long *from, long *to)                                                                   \
    {                                                                                                        \
        return sg_loop_next(sg_member(SG_CALLER), (uint64_t *)from, (uint64_t *)to);                         \
    }
#define ULL_START(name, kind, ordered_)                                                                      \
    SG_API bool name(bool up, ull start, ull end, ull step, ull chunk, ull *from, ull *to)                   \
    {                                                                                                        \
        sg_loop loop = sg_loop_unsigned(kind, up, start, end, step, chunk, ordered_);                        \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, NULL, NULL, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                \
    }
#define ULL_START_RUNTIME(name, ordered_)                                                                    \
    SG_API bool name(bool up, ull start, ull end, ull step, ull *from, ull *to)                              \
    {                                                                                                        \
        const sg_icv *icv = &sg_member(SG_CALLER)->task->icv;                                                \
        sg_loop loop = sg_loop_unsigned(icv->schedule, up, start, end, step, icv->chunk, ordered_);          \
        loop.chosen = icv->chosen;                                                                           \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, NULL, NULL, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                \
    }
#define ULL_NEXT(name)                                                                                       \
    SG_API bool name(ull *from, ull *to)                                                                     \
    {                                                                                                        \
        return sg_loop_next(sg_member(SG_CALLER), (uint64_t *)from, (uint64_t *)to);                         \
    }

#define START_STATIC(name)                                                                                   \
    SG_API bool name(long start, long end, long step, long *from, long *to)                                  \
    {                                                                                                        \
        sg_loop loop = sg_loop_signed(SG_STATIC, start, end, step, 0, false);                                \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, NULL, NULL, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                \
    }
#define ULL_START_STATIC(name)                                                                               \
    SG_API bool name(bool up, ull start, ull end, ull step, ull *from, ull *to)                              \
    {                                                                                                        \
        sg_loop loop = sg_loop_unsigned(SG_STATIC, up, start, end, step, 0, false);                          \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, NULL, NULL, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                \
    }

START(GOMP_loop_static_start, SG_STATIC, false)
START(GOMP_loop_dynamic_start, SG_DYNAMIC, false)
START(GOMP_loop_guided_start, SG_GUIDED, false)
START(GOMP_loop_nonmonotonic_dynamic_start, SG_DYNAMIC, false)
START(GOMP_loop_nonmonotonic_guided_start, SG_GUIDED, false)
START(GOMP_loop_ordered_static_start, SG_STATIC, true)
START(GOMP_loop_ordered_dynamic_start, SG_DYNAMIC, true)
START(GOMP_loop_ordered_guided_start, SG_GUIDED, true)
START_RUNTIME(GOMP_loop_runtime_start, false)
START_RUNTIME(GOMP_loop_nonmonotonic_runtime_start, false)
START_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start, false)
START_RUNTIME(GOMP_loop_ordered_runtime_start, true)
NEXT(GOMP_loop_static_next)
NEXT(GOMP_loop_dynamic_next)
NEXT(GOMP_loop_guided_next)
NEXT(GOMP_loop_runtime_next)
NEXT(GOMP_loop_nonmonotonic_dynamic_next)
NEXT(GOMP_loop_nonmonotonic_guided_next)
NEXT(GOMP_loop_nonmonotonic_runtime_next)
NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next)
NEXT(GOMP_loop_ordered_static_next)
NEXT(GOMP_loop_ordered_dynamic_next)
NEXT(GOMP_loop_ordered_guided_next)
NEXT(GOMP_loop_ordered_runtime_next)
ULL_START(GOMP_loop_ull_static_start, SG_STATIC, false)
ULL_START(GOMP_loop_ull_dynamic_start, SG_DYNAMIC, false)
ULL_START(GOMP_loop_ull_guided_start, SG_GUIDED, false)
ULL_START(GOMP_loop_ull_nonmonotonic_dynamic_start, SG_DYNAMIC, false)
ULL_START(GOMP_loop_ull_nonmonotonic_guided_start, SG_GUIDED, false)
ULL_START(GOMP_loop_ull_ordered_static_start, SG_STATIC, true)
ULL_START(GOMP_loop_ull_ordered_dynamic_start, SG_DYNAMIC, true)
ULL_START(GOMP_loop_ull_ordered_guided_start, SG_GUIDED, true)
ULL_START_RUNTIME(GOMP_loop_ull_runtime_start, false)
ULL_START_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime_start, false)
ULL_START_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, false)
ULL_START_RUNTIME(GOMP_loop_ull_ordered_runtime_start, true)
ULL_NEXT(GOMP_loop_ull_static_next)
ULL_NEXT(GOMP_loop_ull_dynamic_next)
ULL_NEXT(GOMP_loop_ull_guided_next)
ULL_NEXT(GOMP_loop_ull_runtime_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_guided_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next)
ULL_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)
ULL_NEXT(GOMP_loop_ull_ordered_static_next)
ULL_NEXT(GOMP_loop_ull_ordered_dynamic_next)
ULL_NEXT(GOMP_loop_ull_ordered_guided_next)
ULL_NEXT(GOMP_loop_ull_ordered_runtime_next)

/* Static loops in a copy made so that their schedule can be chosen; see instrument/schedules.py. */
START(scalegraph_loop_static_chunk_start, SG_STATIC, false)
START_STATIC(scalegraph_loop_static_start)
ULL_START(scalegraph_loop_ull_static_chunk_start, SG_STATIC, false)
ULL_START_STATIC(scalegraph_loop_ull_static_start)

/* ---- general form: schedule as a number, memory shared by the members ---- */

#define GENERAL(name, ordered_)                                                                              \
    SG_API bool name(long start, long end, long step, long code, long chunk, long *from, long *to,           \
                     uintptr_t *reductions, void **memory)                                                   \
    {                                                                                                        \
        sg_member(SG_CALLER);                                                                                \
        uint64_t size = chunk > 0 ? (uint64_t)chunk : 0;                                                     \
        const sg_chosen *chosen;                                                                             \
        enum sg_schedule kind = sg_schedule_decode(code, &size, &chosen);                                    \
        sg_loop loop = sg_loop_signed(kind, start, end, step, (long)size, ordered_);                         \
        loop.chosen = chosen;                                                                                \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, reductions, memory, (uint64_t *)from, (uint64_t *)to, SG_CALLER);        \
    }
#define ULL_GENERAL(name, ordered_)                                                                          \
    SG_API bool name(bool up, ull start, ull end, ull step, long code, ull chunk, ull *from, ull *to,        \
                     uintptr_t *reductions, void **memory)                                                   \
    {                                                                                                        \
        sg_member(SG_CALLER);                                                                                \
        uint64_t size = chunk;                                                                               \
        const sg_chosen *chosen;                                                                             \
        enum sg_schedule kind = sg_schedule_decode(code, &size, &chosen);                                    \
        sg_loop loop = sg_loop_unsigned(kind, up, start, end, step, size, ordered_);                         \
        loop.chosen = chosen;                                                                                \
        loop.site = SG_CALLER;                                                                               \
        return sg_loop_start(&loop, reductions, memory, (uint64_t *)from, (uint64_t *)to, SG_CALLER);        \
    }

GENERAL(GOMP_loop_start, false)
GENERAL(GOMP_loop_ordered_start, true)
ULL_GENERAL(GOMP_loop_ull_start, false)
ULL_GENERAL(GOMP_loop_ull_ordered_start, true)

/* ---- parallel loops: the construct exists before the team starts ---- */

#define PARALLEL_LOOP(name, kind)                                                                            \
    SG_API void name(void (*function)(void *), void *data, unsigned threads, long start, long end,           \
                     long step, long chunk, unsigned flags)                                                  \
    {                                                                                                        \
        sg_loop loop = sg_loop_signed(kind, start, end, step, chunk, false);                                 \
        loop.site = SG_CALLER;                                                                               \
        sg_parallel(function, data, threads, flags, &loop, 0, SG_CALLER);                                    \
    }
#define PARALLEL_LOOP_RUNTIME(name)                                                                          \
    SG_API void name(void (*function)(void *), void *data, unsigned threads, long start, long end,           \
                     long step, unsigned flags)                                                              \
    {                                                                                                        \
        const sg_icv *icv = &sg_member(SG_CALLER)->task->icv;                                                \
        sg_loop loop = sg_loop_signed(icv->schedule, start, end, step, (long)icv->chunk, false);             \
        loop.chosen = icv->chosen;                                                                           \
        loop.site = SG_CALLER;                                                                               \
        sg_parallel(function, data, threads, flags, &loop, 0, SG_CALLER);                                    \
    }

PARALLEL_LOOP(GOMP_parallel_loop_static, SG_STATIC)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic, SG_DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_guided, SG_GUIDED)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, SG_DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, SG_GUIDED)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* Static parallel loops in such a copy. */
PARALLEL_LOOP(scalegraph_parallel_loop_static_chunk, SG_STATIC)

SG_API void scalegraph_parallel_loop_static(void (*function)(void *), void *data, unsigned threads,
                                            long start, long end, long step, unsigned flags)
{
    sg_loop loop = sg_loop_signed(SG_STATIC, start, end, step, 0, false);
    loop.site = SG_CALLER;
    sg_parallel(function, data, threads, flags, &loop, 0, SG_CALLER);
}

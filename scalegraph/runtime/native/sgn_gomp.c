/* libgomp's entry points for loops. We serve a loop if a schedule is chosen for it; libgomp serves all
 * others, and those with dependences between iterations or with task reductions. */
#include <dlfcn.h>

#include "sgn.h"

typedef unsigned long long ull;
typedef void body(void *);

#define API __attribute__((visibility("default")))
/* The call's return address, as in the simulator: loop rules identify calls by it. */
#define SITE __builtin_return_address(0)

/* libgomp's own function of this name. */
#define REAL(name)                                                                                           \
    ({                                                                                                       \
        static __typeof__(&name) found;                                                                      \
        __typeof__(&name) there = __atomic_load_n(&found, __ATOMIC_RELAXED);                                 \
        if (there == NULL) {                                                                                 \
            there = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                              \
            if (there == NULL)                                                                               \
                sg_stop(SG_STATUS_UNSUPPORTED, "libgomp has no %s", #name);                                  \
            __atomic_store_n(&found, there, __ATOMIC_RELAXED);                                               \
        }                                                                                                    \
        there;                                                                                               \
    })

void GOMP_barrier(void);
bool GOMP_barrier_cancel(void);

static sgn_loop of_signed(long start, long end, long step, long chunk)
{
    sgn_loop loop = {.start = (uint64_t)start,
                     .end = (uint64_t)end,
                     .step = (uint64_t)step,
                     .chunk = chunk > 0 ? (uint64_t)chunk : 0};
    if (step > 0 && end > start)
        loop.total = (loop.end - loop.start - 1) / loop.step + 1;
    else if (step < 0 && start > end)
        loop.total = (loop.start - loop.end - 1) / -loop.step + 1;
    return loop;
}

static sgn_loop of_unsigned(bool up, ull start, ull end, ull step, ull chunk)
{
    sgn_loop loop = {.start = start, .end = end, .step = step, .chunk = chunk};
    if (up && end > start)
        loop.total = (end - start - 1) / step + 1;
    else if (!up && start > end)
        loop.total = (start - end - 1) / -step + 1;
    return loop;
}

/* Do we serve the loop? If so, the calling thread is now in it. */
static bool begin(sgn_loop loop, bool runtime, const void *site)
{
    sgn_member *m = sgn_self();
    loop.chosen = sgn_wanted(site, runtime);
    loop.site = site;
    if (m == NULL || loop.chosen == NULL)
        return false;
    loop.chunk = loop.chosen->chunk; /* the chunk in the program belongs to another schedule */
    sgn_begin(m, &loop);
    return true;
}

static bool begin_ordered(sgn_loop loop, bool runtime, const void *site)
{
    loop.ordered = true;
    return begin(loop, runtime, site);
}

static void parallel_wanted(sgn_loop loop, body *function, void *data, unsigned threads, unsigned flags)
{
    loop.chunk = loop.chosen->chunk;
    sgn_parallel(function, data, threads, flags, &loop);
}

static bool next(void *from, void *to)
{
    return sgn_next(sgn_in_loop(), (uint64_t *)from, (uint64_t *)to);
}

/* ---- the end of a loop ---- */

API void GOMP_loop_end(void)
{
    sgn_member *m = sgn_in_loop();
    if (m == NULL) {
        REAL(GOMP_loop_end)();
        return;
    }
    sgn_leave(m);
    GOMP_barrier();
}

API void GOMP_loop_end_nowait(void)
{
    sgn_member *m = sgn_in_loop();
    if (m == NULL)
        REAL(GOMP_loop_end_nowait)();
    else
        sgn_leave(m);
}

API bool GOMP_loop_end_cancel(void)
{
    sgn_member *m = sgn_in_loop();
    if (m == NULL)
        return REAL(GOMP_loop_end_cancel)();
    sgn_leave(m);
    return GOMP_barrier_cancel();
}

/* ---- loops ---- */

#define START(name, begins)                                                                                  \
    API bool name(long start, long end, long step, long chunk, long *from, long *to)                         \
    {                                                                                                        \
        if (!begins(of_signed(start, end, step, chunk), false, SITE))                                        \
            return REAL(name)(start, end, step, chunk, from, to);                                            \
        return next(from, to);                                                                               \
    }
#define START_RUNTIME(name, begins)                                                                          \
    API bool name(long start, long end, long step, long *from, long *to)                                     \
    {                                                                                                        \
        if (!begins(of_signed(start, end, step, 0), true, SITE))                                             \
            return REAL(name)(start, end, step, from, to);                                                   \
        return next(from, to);                                                                               \
    }
#define NEXT(name)                                                                                           \
    API bool name(long *from, long *to)                                                                      \
    {                                                                                                        \
        return sgn_in_loop() == NULL ? REAL(name)(from, to) : next(from, to);                                \
    }
#define ULL_START(name, begins)                                                                              \
    API bool name(bool up, ull start, ull end, ull step, ull chunk, ull *from, ull *to)                      \
    {                                                                                                        \
        if (!begins(of_unsigned(up, start, end, step, chunk), false, SITE))                                  \
            return REAL(name)(up, start, end, step, chunk, from, to);                                        \
        return next(from, to);                                                                               \
    }
#define ULL_START_RUNTIME(name, begins)                                                                      \
    API bool name(bool up, ull start, ull end, ull step, ull *from, ull *to)                                 \
    {                                                                                                        \
        if (!begins(of_unsigned(up, start, end, step, 0), true, SITE))                                       \
            return REAL(name)(up, start, end, step, from, to);                                               \
        return next(from, to);                                                                               \
    }
#define ULL_NEXT(name)                                                                                       \
    API bool name(ull *from, ull *to)                                                                        \
    {                                                                                                        \
        return sgn_in_loop() == NULL ? REAL(name)(from, to) : next(from, to);                                \
    }

START(GOMP_loop_static_start, begin)
START(GOMP_loop_dynamic_start, begin)
START(GOMP_loop_guided_start, begin)
START(GOMP_loop_nonmonotonic_dynamic_start, begin)
START(GOMP_loop_nonmonotonic_guided_start, begin)
START_RUNTIME(GOMP_loop_runtime_start, begin)
START_RUNTIME(GOMP_loop_nonmonotonic_runtime_start, begin)
START_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start, begin)
NEXT(GOMP_loop_static_next)
NEXT(GOMP_loop_dynamic_next)
NEXT(GOMP_loop_guided_next)
NEXT(GOMP_loop_runtime_next)
NEXT(GOMP_loop_nonmonotonic_dynamic_next)
NEXT(GOMP_loop_nonmonotonic_guided_next)
NEXT(GOMP_loop_nonmonotonic_runtime_next)
NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next)
ULL_START(GOMP_loop_ull_static_start, begin)
ULL_START(GOMP_loop_ull_dynamic_start, begin)
ULL_START(GOMP_loop_ull_guided_start, begin)
ULL_START(GOMP_loop_ull_nonmonotonic_dynamic_start, begin)
ULL_START(GOMP_loop_ull_nonmonotonic_guided_start, begin)
ULL_START_RUNTIME(GOMP_loop_ull_runtime_start, begin)
ULL_START_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime_start, begin)
ULL_START_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, begin)
ULL_NEXT(GOMP_loop_ull_static_next)
ULL_NEXT(GOMP_loop_ull_dynamic_next)
ULL_NEXT(GOMP_loop_ull_guided_next)
ULL_NEXT(GOMP_loop_ull_runtime_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_guided_next)
ULL_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next)
ULL_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)

/* ---- ordered loops ---- */

START(GOMP_loop_ordered_static_start, begin_ordered)
START(GOMP_loop_ordered_dynamic_start, begin_ordered)
START(GOMP_loop_ordered_guided_start, begin_ordered)
START_RUNTIME(GOMP_loop_ordered_runtime_start, begin_ordered)
NEXT(GOMP_loop_ordered_static_next)
NEXT(GOMP_loop_ordered_dynamic_next)
NEXT(GOMP_loop_ordered_guided_next)
NEXT(GOMP_loop_ordered_runtime_next)
ULL_START(GOMP_loop_ull_ordered_static_start, begin_ordered)
ULL_START(GOMP_loop_ull_ordered_dynamic_start, begin_ordered)
ULL_START(GOMP_loop_ull_ordered_guided_start, begin_ordered)
ULL_START_RUNTIME(GOMP_loop_ull_ordered_runtime_start, begin_ordered)
ULL_NEXT(GOMP_loop_ull_ordered_static_next)
ULL_NEXT(GOMP_loop_ull_ordered_dynamic_next)
ULL_NEXT(GOMP_loop_ull_ordered_guided_next)
ULL_NEXT(GOMP_loop_ull_ordered_runtime_next)

API void GOMP_ordered_start(void)
{
    const sgn_member *m = sgn_in_loop();
    if (m == NULL)
        REAL(GOMP_ordered_start)();
    else
        sgn_wait_turn(m);
}

API void GOMP_ordered_end(void)
{
    if (sgn_in_loop() == NULL)
        REAL(GOMP_ordered_end)();
}

/* ---- parallel loops: their threads are in the loop from the start ----
 *
 * Such a loop is identified by its function, which has the line numbers of its head: compilers give the call
 * the line of a statement before or around the loop. */

static const void *head_of(body *function)
{
    return (const char *)function + 1; /* in its first instruction */
}

#define PARALLEL_LOOP(name)                                                                                  \
    API void name(body *function, void *data, unsigned threads, long start, long end, long step, long chunk, \
                  unsigned flags)                                                                            \
    {                                                                                                        \
        sgn_loop loop = of_signed(start, end, step, chunk);                                                  \
        loop.site = head_of(function);                                                                       \
        loop.chosen = sgn_wanted(loop.site, false);                                                          \
        if (loop.chosen == NULL)                                                                             \
            sgn_parallel_real(REAL(name), function, data, threads, start, end, step, chunk, flags);          \
        else                                                                                                 \
            parallel_wanted(loop, function, data, threads, flags);                                           \
    }
#define PARALLEL_LOOP_RUNTIME(name)                                                                          \
    API void name(body *function, void *data, unsigned threads, long start, long end, long step,             \
                  unsigned flags)                                                                            \
    {                                                                                                        \
        sgn_loop loop = of_signed(start, end, step, 0);                                                      \
        loop.site = head_of(function);                                                                       \
        loop.chosen = sgn_wanted(loop.site, true);                                                           \
        if (loop.chosen == NULL)                                                                             \
            sgn_parallel_real_runtime(REAL(name), function, data, threads, start, end, step, flags);         \
        else                                                                                                 \
            parallel_wanted(loop, function, data, threads, flags);                                           \
    }

PARALLEL_LOOP(GOMP_parallel_loop_static)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- static loops in a copy made to choose their schedule, see instrument/schedules.py ---- */

static void choose_static(sgn_loop *loop, const void *site)
{
    const sg_chosen *wanted = sgn_wanted(site, false);
    loop->site = site;
    loop->chosen = wanted != NULL ? wanted : sg_schedules_of_openmp(0);
    if (wanted != NULL)
        loop->chunk = wanted->chunk;
}

static void begin_static(sgn_loop loop, const void *site)
{
    sgn_member *m = sgn_self();
    if (m == NULL)
        sg_stop(SG_STATUS_UNSUPPORTED, "a static loop is in a team that GOMP_parallel did not begin");
    choose_static(&loop, site);
    sgn_begin(m, &loop);
}

API bool scalegraph_loop_static_chunk_start(long start, long end, long step, long chunk, long *from, long *to)
{
    begin_static(of_signed(start, end, step, chunk), SITE);
    return next(from, to);
}

API bool scalegraph_loop_static_start(long start, long end, long step, long *from, long *to)
{
    begin_static(of_signed(start, end, step, 0), SITE);
    return next(from, to);
}

API bool scalegraph_loop_ull_static_chunk_start(bool up, ull start, ull end, ull step, ull chunk, ull *from,
                                                ull *to)
{
    begin_static(of_unsigned(up, start, end, step, chunk), SITE);
    return next(from, to);
}

API bool scalegraph_loop_ull_static_start(bool up, ull start, ull end, ull step, ull *from, ull *to)
{
    begin_static(of_unsigned(up, start, end, step, 0), SITE);
    return next(from, to);
}

static void parallel_static(sgn_loop loop, body *function, void *data, unsigned threads, unsigned flags)
{
    choose_static(&loop, head_of(function));
    sgn_parallel(function, data, threads, flags, &loop);
}

API void scalegraph_parallel_loop_static_chunk(body *function, void *data, unsigned threads, long start,
                                               long end, long step, long chunk, unsigned flags)
{
    parallel_static(of_signed(start, end, step, chunk), function, data, threads, flags);
}

API void scalegraph_parallel_loop_static(body *function, void *data, unsigned threads, long start, long end,
                                         long step, unsigned flags)
{
    parallel_static(of_signed(start, end, step, 0), function, data, threads, flags);
}

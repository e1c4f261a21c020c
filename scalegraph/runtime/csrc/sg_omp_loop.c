/* Worksharing: loops of every schedule, sections, single, ordered. */
#include <ctype.h>

#include "sg_omp.h"

/* ---- handing out iterations ---- */

static sg_loop signed_loop(enum sg_schedule schedule, long start, long end, long step, long chunk,
                           bool ordered)
{
    sg_loop loop = {.schedule = schedule,
                    .start = (uint64_t)start,
                    .end = (uint64_t)end,
                    .step = (uint64_t)step,
                    .chunk = chunk > 0 ? (uint64_t)chunk : 0,
                    .ordered = ordered};
    if (step > 0 && end > start)
        loop.total = ((uint64_t)end - (uint64_t)start - 1) / (uint64_t)step + 1;
    else if (step < 0 && start > end)
        loop.total = ((uint64_t)start - (uint64_t)end - 1) / -(uint64_t)step + 1;
    return loop;
}

static sg_loop unsigned_loop(enum sg_schedule schedule, bool up, uint64_t start, uint64_t end, uint64_t step,
                             uint64_t chunk, bool ordered)
{
    sg_loop loop = {
        .schedule = schedule, .start = start, .end = end, .step = step, .chunk = chunk, .ordered = ordered};
    if (up && end > start)
        loop.total = (end - start - 1) / step + 1;
    else if (!up && start > end)
        loop.total = (start - end - 1) / -step + 1;
    return loop;
}

static bool next_static(sg_thread *t, const sg_work *work, uint64_t *first, uint64_t *last)
{
    uint64_t members = t->team->size, me = t->member, trip = t->static_trip++;
    if (work->chunk == 0) {
        uint64_t share = work->total / members, rest = work->total % members;
        *first = me * share + (me < rest ? me : rest);
        *last = *first + share + (me < rest);
        return trip == 0 && *first < *last;
    }
    uint64_t position = trip * members + me;
    if (position > work->total / work->chunk)
        return false;
    *first = position * work->chunk;
    *last = *first + work->chunk < work->total ? *first + work->chunk : work->total;
    return *first < *last;
}

/* Next chunk of the loop for `t`: iterations first..last-1. */
static bool next_chunk(sg_thread *t, sg_work *work, uint64_t *first, uint64_t *last)
{
    sg_processor *p = sg_now;
    sg_charge_site(p, SG_LEAF_PRIM_SCHEDULE, sg->config.schedule_cycles);
    if (work->schedule == SG_STATIC) {
        if (!next_static(t, work, first, last))
            return false;
    } else {
        sg_touch(p, work->address, SG_RMW, SG_LEAF_PRIM_SCHEDULE);
        uint64_t left = work->total - work->position, chunk = work->chunk ? work->chunk : 1;
        if (left == 0)
            return false;
        if (work->schedule == SG_GUIDED) {
            uint64_t share = (left + t->team->size - 1) / t->team->size;
            chunk = share > chunk ? share : chunk;
        }
        *first = work->position;
        work->position += chunk < left ? chunk : left;
        *last = work->position;
    }
    sg_count(p, SG_COUNTER_CHUNKS, 1);
    if (work->ordered) {
        t->ordered_chunk = *first;
        t->in_ordered = true;
    }
    return true;
}

static uint64_t value_at(const sg_work *work, uint64_t iteration)
{
    return iteration >= work->total ? work->end : work->start + iteration * work->step;
}

/* ---- ordered ---- */

/* Waits until all chunks before the one of `t` are done. */
static void order_wait(sg_thread *t, sg_work *work)
{
    if (!work->ordered || !t->in_ordered)
        return;
    sg_touch(sg_now, work->address, SG_READ, SG_LEAF_PRIM_SCHEDULE);
    while (work->ordered_turn != t->ordered_chunk) {
        sg_queue_add(&work->ordered_waiting, t);
        sg_suspend(SG_LEAF_IDLE_ORDER, work->address, -1);
        sg_touch(sg_now, work->address, SG_READ, SG_LEAF_PRIM_SCHEDULE);
    }
}

/* The running chunk of `t`, which ends before iteration `last`, is done: the next chunk may go. */
static void order_pass(sg_thread *t, sg_work *work, uint64_t last)
{
    if (!work->ordered || !t->in_ordered)
        return;
    order_wait(t, work);
    sg_touch(sg_now, work->address, SG_WRITE, SG_LEAF_PRIM_SCHEDULE);
    work->ordered_turn = last;
    t->in_ordered = false;
    sg_wake_all(&work->ordered_waiting, sg_now->clock);
}

SG_API void GOMP_ordered_start(void)
{
    sg_now->site = SG_CALLER;
    order_wait(sg_self(), sg_self()->work);
}

SG_API void GOMP_ordered_end(void)
{
}

/* ---- the one way in and on ---- */

static bool loop_next(sg_thread *t, uint64_t *from, uint64_t *to)
{
    sg_work *work = t->work;
    uint64_t first, last;
    order_pass(t, work, t->ordered_last);
    if (!next_chunk(t, work, &first, &last))
        return false;
    t->ordered_last = last;
    *from = value_at(work, first);
    *to = value_at(work, last);
    return true;
}

static bool loop_start(const sg_loop *loop, uint64_t *from, uint64_t *to, const void *site)
{
    sg_processor *p = sg_now;
    bool first;
    p->site = site;
    sg_turn(p);
    sg_work *work = sg_work_enter(p->thread, &first);
    if (first)
        sg_work_prepare(work, loop);
    if (work->schedule != SG_STATIC) /* one member fills the construct in, the others find it filled */
        sg_touch(p, work->address, first ? SG_WRITE : SG_READ, SG_LEAF_PRIM_SCHEDULE);
    return loop_next(p->thread, from, to);
}

static void loop_leave(void)
{
    sg_thread *t = sg_self();
    order_pass(t, t->work, t->ordered_last);
}

SG_API void GOMP_loop_end_nowait(void)
{
    sg_now->site = SG_CALLER;
    loop_leave();
}

SG_API void GOMP_loop_end(void)
{
    sg_now->site = SG_CALLER;
    loop_leave();
    sg_team_barrier(SG_CALLER);
}

SG_API bool GOMP_loop_end_cancel(void)
{
    sg_now->site = SG_CALLER;
    loop_leave();
    sg_team_barrier(SG_CALLER);
    return false;
}

/* ---- signed loops: long ---- */

typedef unsigned long long ull;

#define START(name, kind, ordered_)                                                                          \
    SG_API bool name(long start, long end, long step, long chunk, long *from, long *to)                      \
    {                                                                                                        \
        sg_loop loop = signed_loop(kind, start, end, step, chunk, ordered_);                                 \
        return loop_start(&loop, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                               \
    }
#define START_RUNTIME(name, ordered_)                                                                        \
    SG_API bool name(long start, long end, long step, long *from, long *to)                                  \
    {                                                                                                        \
        sg_loop loop = signed_loop(sg->omp->schedule, start, end, step, (long)sg->omp->chunk, ordered_);     \
        return loop_start(&loop, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                               \
    }
#define NEXT(name)                                                                                           \
    SG_API bool name(long *from, long *to)                                                                   \
    {                                                                                                        \
        sg_now->site = SG_CALLER;                                                                            \
        return loop_next(sg_self(), (uint64_t *)from, (uint64_t *)to);                                       \
    }
#define ULL_START(name, kind, ordered_)                                                                      \
    SG_API bool name(bool up, ull start, ull end, ull step, ull chunk, ull *from, ull *to)                   \
    {                                                                                                        \
        sg_loop loop = unsigned_loop(kind, up, start, end, step, chunk, ordered_);                           \
        return loop_start(&loop, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                               \
    }
#define ULL_START_RUNTIME(name, ordered_)                                                                    \
    SG_API bool name(bool up, ull start, ull end, ull step, ull *from, ull *to)                              \
    {                                                                                                        \
        sg_loop loop = unsigned_loop(sg->omp->schedule, up, start, end, step, sg->omp->chunk, ordered_);     \
        return loop_start(&loop, (uint64_t *)from, (uint64_t *)to, SG_CALLER);                               \
    }
#define ULL_NEXT(name)                                                                                       \
    SG_API bool name(ull *from, ull *to)                                                                     \
    {                                                                                                        \
        sg_now->site = SG_CALLER;                                                                            \
        return loop_next(sg_self(), (uint64_t *)from, (uint64_t *)to);                                       \
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

/* ---- the general form: schedule as a number, memory shared by the members ---- */

/* Schedules as the compiler numbers them; the highest bit says monotonic. */
static enum sg_schedule decode(long code, uint64_t *chunk)
{
    switch (code & 0x7fffffff) {
    case 0:
        *chunk = sg->omp->chunk;
        return sg->omp->schedule;
    case 2:
        return SG_DYNAMIC;
    case 3:
        return SG_GUIDED;
    default:
        return SG_STATIC;
    }
}

/* `memory` asks for *memory bytes, zeroed, the same for all members of the construct. */
static void share_memory(sg_work *work, bool first, void **memory)
{
    if (memory == NULL)
        return;
    if (first) {
        size_t size = (size_t)(uintptr_t)*memory;
        if (work->memory_size < size) {
            work->memory = calloc(1, size);
            work->memory_size = size;
        } else {
            memset(work->memory, 0, size);
        }
    }
    *memory = work->memory;
}

static void refuse_reductions(const void *reductions, const void *site)
{
    if (reductions == NULL)
        return;
    sg_now->site = site;
    sg_stop(SG_STATUS_UNSUPPORTED,
            "the program uses a task reduction at 0x%llx, which the simulator does not support",
            (unsigned long long)(uintptr_t)site);
}

static bool general(sg_loop loop, void *reductions, void **memory, uint64_t *from, uint64_t *to,
                    const void *site)
{
    sg_processor *p = sg_now;
    bool first;
    refuse_reductions(reductions, site);
    p->site = site;
    sg_turn(p);
    sg_work *work = sg_work_enter(p->thread, &first);
    if (first)
        sg_work_prepare(work, &loop);
    sg_touch(p, work->address, first ? SG_WRITE : SG_READ, SG_LEAF_PRIM_SCHEDULE);
    share_memory(work, first, memory);
    return from == NULL || loop_next(p->thread, from, to);
}

#define GENERAL(name, ordered_)                                                                              \
    SG_API bool name(long start, long end, long step, long code, long chunk, long *from, long *to,           \
                     void *reductions, void **memory)                                                        \
    {                                                                                                        \
        uint64_t size = chunk > 0 ? (uint64_t)chunk : 0;                                                     \
        enum sg_schedule kind = decode(code, &size);                                                         \
        return general(signed_loop(kind, start, end, step, (long)size, ordered_), reductions, memory,        \
                       (uint64_t *)from, (uint64_t *)to, SG_CALLER);                                         \
    }
#define ULL_GENERAL(name, ordered_)                                                                          \
    SG_API bool name(bool up, ull start, ull end, ull step, long code, ull chunk, ull *from, ull *to,        \
                     void *reductions, void **memory)                                                        \
    {                                                                                                        \
        uint64_t size = chunk;                                                                               \
        enum sg_schedule kind = decode(code, &size);                                                         \
        return general(unsigned_loop(kind, up, start, end, step, size, ordered_), reductions, memory,        \
                       (uint64_t *)from, (uint64_t *)to, SG_CALLER);                                         \
    }

GENERAL(GOMP_loop_start, false)
GENERAL(GOMP_loop_ordered_start, true)
ULL_GENERAL(GOMP_loop_ull_start, false)
ULL_GENERAL(GOMP_loop_ull_ordered_start, true)

SG_API void GOMP_scope_start(uintptr_t *reductions)
{
    refuse_reductions(reductions, SG_CALLER);
}

/* ---- parallel loops: the construct exists before the team starts ---- */

#define PARALLEL_LOOP(name, kind)                                                                            \
    SG_API void name(void (*function)(void *), void *data, unsigned threads, long start, long end,           \
                     long step, long chunk, unsigned flags)                                                  \
    {                                                                                                        \
        (void)flags;                                                                                         \
        sg_loop loop = signed_loop(kind, start, end, step, chunk, false);                                    \
        sg_parallel(function, data, threads, &loop, 0, SG_CALLER);                                           \
    }
#define PARALLEL_LOOP_RUNTIME(name)                                                                          \
    SG_API void name(void (*function)(void *), void *data, unsigned threads, long start, long end,           \
                     long step, unsigned flags)                                                              \
    {                                                                                                        \
        (void)flags;                                                                                         \
        sg_loop loop = signed_loop(sg->omp->schedule, start, end, step, (long)sg->omp->chunk, false);        \
        sg_parallel(function, data, threads, &loop, 0, SG_CALLER);                                           \
    }

PARALLEL_LOOP(GOMP_parallel_loop_static, SG_STATIC)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic, SG_DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_guided, SG_GUIDED)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, SG_DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, SG_GUIDED)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- sections: a dynamic loop over their numbers ---- */

static unsigned section_next(void)
{
    uint64_t first, last;
    return next_chunk(sg_self(), sg_self()->work, &first, &last) ? (unsigned)first + 1 : 0;
}

static unsigned section_start(unsigned count, void **memory, const void *site)
{
    sg_loop loop = {.schedule = SG_DYNAMIC, .total = count, .chunk = 1};
    general(loop, NULL, memory, NULL, NULL, site);
    return section_next();
}

SG_API unsigned GOMP_sections_start(unsigned count)
{
    return section_start(count, NULL, SG_CALLER);
}

SG_API unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    refuse_reductions(reductions, SG_CALLER);
    return section_start(count, memory, SG_CALLER);
}

SG_API unsigned GOMP_sections_next(void)
{
    sg_now->site = SG_CALLER;
    return section_next();
}

SG_API void GOMP_sections_end_nowait(void)
{
}

SG_API void GOMP_sections_end(void)
{
    sg_team_barrier(SG_CALLER);
}

SG_API bool GOMP_sections_end_cancel(void)
{
    sg_team_barrier(SG_CALLER);
    return false;
}

/* ---- single ---- */

SG_API bool GOMP_single_start(void)
{
    sg_processor *p = sg_now;
    bool first;
    p->site = SG_CALLER;
    sg_charge_site(p, SG_LEAF_PRIM_SCHEDULE, sg->config.schedule_cycles);
    sg_turn(p);
    sg_work *work = sg_work_enter(p->thread, &first);
    sg_touch(p, work->address, SG_RMW, SG_LEAF_PRIM_SCHEDULE); /* the variable that decides who is first */
    return first;
}

SG_API void *GOMP_single_copy_start(void)
{
    sg_processor *p = sg_now;
    bool first;
    p->site = SG_CALLER;
    sg_charge_site(p, SG_LEAF_PRIM_SCHEDULE, sg->config.schedule_cycles);
    sg_turn(p);
    sg_work *work = sg_work_enter(p->thread, &first);
    sg_touch(p, work->address, SG_RMW, SG_LEAF_PRIM_SCHEDULE);
    if (first)
        return NULL;
    while (!work->copied) {
        sg_queue_add(&work->copy_waiting, p->thread);
        sg_suspend(SG_LEAF_IDLE_ORDER, work->address, -1);
        p = sg_now;
    }
    sg_touch(p, work->address, SG_READ, SG_LEAF_PRIM_SCHEDULE);
    return work->copy;
}

SG_API void GOMP_single_copy_end(void *data)
{
    sg_processor *p = sg_now;
    p->site = SG_CALLER;
    sg_work *work = p->thread->work;
    sg_touch(p, work->address, SG_WRITE, SG_LEAF_PRIM_SCHEDULE);
    work->copy = data;
    work->copied = true;
    sg_wake_all(&work->copy_waiting, p->clock);
}

/* ---- OMP_SCHEDULE ---- */

void sg_schedule_parse(const char *text, sg_omp *omp)
{
    static const struct {
        const char *name;
        enum sg_schedule schedule;
    } kinds[] = {{"static", SG_STATIC}, {"dynamic", SG_DYNAMIC}, {"guided", SG_GUIDED}, {"auto", SG_STATIC}};
    while (isspace((unsigned char)*text))
        text++;
    if (strncasecmp(text, "nonmonotonic:", 13) == 0)
        text += 13;
    else if (strncasecmp(text, "monotonic:", 10) == 0) {
        text += 10;
        omp->monotonic = true;
    }
    if (*text == 0)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncasecmp(text, kinds[i].name, length) != 0)
            continue;
        char *end = (char *)text + length;
        long chunk = 0;
        while (isspace((unsigned char)*end))
            end++;
        if (*end == ',')
            chunk = strtol(end + 1, &end, 10);
        if (*end != 0 || chunk < 0)
            break;
        omp->schedule = kinds[i].schedule;
        omp->chunk = (uint64_t)chunk;
        return;
    }
    sg_stop(SG_STATUS_INTERNAL,
            "run.schedule is `%s`, expected static, dynamic, guided or auto, and a chunk size", text);
}

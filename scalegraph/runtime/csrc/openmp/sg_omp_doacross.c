/* Loops with dependences between iterations: doacross. */
#include <stdarg.h>

#include "sg_alloc.h"
#include "sg_omp.h"

/* What the iterations of such a loop have posted. Only the outermost loop is distributed; each of its
 * iterations belongs to one member, so its last post covers the inner loops. */
struct sg_doacross {
    uint32_t loops; /* number of nested loops in an iteration vector */
    uint32_t room;
    uint64_t count;    /* iterations of the outermost loop */
    uint64_t *extent;  /* of each loop */
    uint64_t *posted;  /* per outermost iteration: inner iterations posted, counted from 1 */
    uint64_t capacity; /* of `posted`, and of the cache lines */
    uint64_t lines;    /* one per iteration */
    uint64_t distance; /* between two lines */
    sg_queue waiting;
};

static struct sg_doacross *prepare(sg_work *work, uint32_t loops, const uint64_t *counts)
{
    struct sg_doacross *d = work->doacross;
    sg_alloc_own(true);
    if (d == NULL)
        d = work->doacross = calloc(1, sizeof *d);
    if (d->room < loops) {
        d->extent = realloc(d->extent, loops * sizeof *d->extent);
        d->room = loops;
    }
    if (d->capacity < counts[0]) {
        free(d->posted);
        d->capacity = counts[0];
        d->posted = malloc(d->capacity * sizeof *d->posted);
        d->lines = sg_variables_of(d->capacity, SG_OWN_LOOP);
        d->distance = (sg_variables(0) - d->lines) / d->capacity;
    }
    sg_alloc_own(false);
    if (d->extent == NULL || (d->posted == NULL && d->capacity > 0))
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for a loop with dependences of %llu iterations",
                (unsigned long long)counts[0]);
    if (counts[0] > 0)
        memset(d->posted, 0, counts[0] * sizeof *d->posted);
    memcpy(d->extent, counts, loops * sizeof *counts);
    d->loops = loops;
    d->count = counts[0];
    return d;
}

/* Index of an inner iteration within its outermost iteration. */
static uint64_t flat(const struct sg_doacross *d, const uint64_t *vector)
{
    uint64_t number = 0;
    for (uint32_t i = 1; i < d->loops; i++)
        number = number * d->extent[i] + vector[i];
    return number;
}

static void post(const uint64_t *vector, const void *site)
{
    sg_thread *t = sg_member(site);
    struct sg_doacross *d = t->work->doacross;
    if (vector[0] >= d->count)
        return;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_SCHEDULE, sg->config.schedule_cycles);
    sg_touch(sg_now, d->lines + vector[0] * d->distance, SG_WRITE, SG_CATEGORY_PRIM_SCHEDULE);
    d->posted[vector[0]] = flat(d, vector) + 1;
    sg_queue others = {NULL, NULL};
    for (sg_thread *q; (q = sg_queue_take(&d->waiting)) != NULL;)
        if (q->wait_object == d->lines + vector[0] * d->distance)
            sg_wake(q, sg_now->clock);
        else
            sg_queue_add(&others, q);
    for (sg_thread *q; (q = sg_queue_take(&others)) != NULL;)
        sg_queue_add(&d->waiting, q);
}

static void wait_for(const uint64_t *vector, const void *site)
{
    sg_thread *t = sg_member(site);
    struct sg_doacross *d = t->work->doacross;
    if (vector[0] >= d->count)
        return; /* no such iteration */
    uint64_t line = d->lines + vector[0] * d->distance, wanted = flat(d, vector);
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_SCHEDULE, sg->config.schedule_cycles);
    sg_touch(sg_now, line, SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    while (d->posted[vector[0]] <= wanted) {
        sg_queue_add(&d->waiting, t);
        sg_suspend(SG_CATEGORY_IDLE_ORDER, line, -1);
        sg_touch(sg_now, line, SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    }
}

enum { LOOPS_MOST = 64 };

static void wait_for_list(uint64_t first, va_list rest, const void *site)
{
    uint64_t vector[LOOPS_MOST] = {first};
    uint32_t loops = sg_self()->work->doacross->loops;
    for (uint32_t i = 1; i < loops && i < LOOPS_MOST; i++)
        vector[i] = va_arg(rest, uint64_t);
    wait_for(vector, site);
}

SG_API void GOMP_doacross_post(uint64_t *vector)
{
    post(vector, SG_CALLER);
}

SG_API void GOMP_doacross_ull_post(uint64_t *vector)
{
    post(vector, SG_CALLER);
}

SG_API void GOMP_doacross_wait(long first, ...)
{
    va_list rest;
    va_start(rest, first);
    wait_for_list((uint64_t)first, rest, SG_CALLER);
    va_end(rest);
}

SG_API void GOMP_doacross_ull_wait(unsigned long long first, ...)
{
    va_list rest;
    va_start(rest, first);
    wait_for_list(first, rest, SG_CALLER);
    va_end(rest);
}

/* ---- start: the outermost loop runs from 0 to counts[0] ---- */

static bool start(unsigned loops, const uint64_t *counts, enum sg_schedule schedule, uint64_t chunk,
                  const sg_chosen *chosen, uint64_t *from, uint64_t *to, uintptr_t *reductions, void **memory,
                  const void *site)
{
    sg_thread *t = sg_member(site);
    bool first;
    sg_loop loop = sg_loop_unsigned(schedule, true, 0, counts[0], 1, (int64_t)chunk > 0 ? chunk : 0, false);
    loop.chosen = chosen;
    loop.site = site;
    sg_turn(sg_now);
    sg_work *work = sg_work_enter(t, &first);
    if (first) {
        sg_work_prepare(work, &loop, t->team->size);
        prepare(work, loops, counts);
    }
    sg_work_memory(work, first, memory);
    if (reductions != NULL)
        sg_reductions_share(t, work, first, reductions);
    sg_touch(sg_now, work->address, first ? SG_WRITE : SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    return sg_loop_next(t, from, to);
}

#define DOACROSS(name, kind)                                                                                 \
    SG_API bool name(unsigned loops, uint64_t *counts, uint64_t chunk, uint64_t *from, uint64_t *to)         \
    {                                                                                                        \
        return start(loops, counts, kind, chunk, NULL, from, to, NULL, NULL, SG_CALLER);                     \
    }
#define DOACROSS_RUNTIME(name)                                                                               \
    SG_API bool name(unsigned loops, uint64_t *counts, uint64_t *from, uint64_t *to)                         \
    {                                                                                                        \
        const sg_icv *icv = &sg_member(SG_CALLER)->task->icv;                                                \
        return start(loops, counts, icv->schedule, icv->chunk, icv->chosen, from, to, NULL, NULL,            \
                     SG_CALLER);                                                                             \
    }
#define DOACROSS_GENERAL(name)                                                                               \
    SG_API bool name(unsigned loops, uint64_t *counts, long code, uint64_t chunk, uint64_t *from,            \
                     uint64_t *to, uintptr_t *reductions, void **memory)                                     \
    {                                                                                                        \
        sg_member(SG_CALLER);                                                                                \
        const sg_chosen *chosen;                                                                             \
        enum sg_schedule kind = sg_schedule_decode(code, &chunk, &chosen);                                   \
        return start(loops, counts, kind, chunk, chosen, from, to, reductions, memory, SG_CALLER);           \
    }

DOACROSS(GOMP_loop_doacross_static_start, SG_STATIC)
DOACROSS(GOMP_loop_doacross_dynamic_start, SG_DYNAMIC)
DOACROSS(GOMP_loop_doacross_guided_start, SG_GUIDED)
DOACROSS_RUNTIME(GOMP_loop_doacross_runtime_start)
DOACROSS_GENERAL(GOMP_loop_doacross_start)
DOACROSS(GOMP_loop_ull_doacross_static_start, SG_STATIC)
DOACROSS(GOMP_loop_ull_doacross_dynamic_start, SG_DYNAMIC)
DOACROSS(GOMP_loop_ull_doacross_guided_start, SG_GUIDED)
DOACROSS_RUNTIME(GOMP_loop_ull_doacross_runtime_start)
DOACROSS_GENERAL(GOMP_loop_ull_doacross_start)

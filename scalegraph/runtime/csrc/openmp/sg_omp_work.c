/* A team's worksharing constructs, and the distribution of iterations. */
#include "sg_omp.h"

/* ---- the list of constructs ---- */

sg_work *sg_work_new(void)
{
    sg_omp *omp = sg->omp;
    sg_work *work = omp->spare_works;
    if (work == NULL) {
        work = sg_new(sizeof *work);
        work->address = sg_variables_of(1, SG_OWN_LOOP);
        return work;
    }
    omp->spare_works = work->next;
    *work = (sg_work){.address = work->address,
                      .memory = work->memory,
                      .memory_size = work->memory_size,
                      .doacross = work->doacross};
    return work;
}

/* `t` has finished `work` and everything before it. */
void sg_work_pass(sg_thread *t, sg_work *work)
{
    if (++work->passed == t->team->size) {
        sg_scheduled_close(&work->scheduled);
        work->next = sg->omp->spare_works;
        sg->omp->spare_works = work;
    }
}

sg_work *sg_work_enter(sg_thread *t, bool *first)
{
    sg_work *before = t->work, *work = before->next;
    if (work == NULL)
        work = before->next = sg_work_new();
    sg_work_pass(t, before);
    t->work = work;
    sg_turn_reset(&t->turn);
    t->in_ordered = false;
    *first = !work->prepared;
    work->prepared = true;
    return work;
}

void sg_work_prepare(sg_work *work, const sg_loop *loop, uint32_t members)
{
    const sg_chosen *chosen =
        loop->site != NULL ? sg_schedules_wanted(loop->site, sg_region(sg_self())) : NULL;
    uint64_t chunk = loop->chunk;
    if (chosen == NULL)
        chosen = loop->chosen;
    if (chosen != NULL)
        chunk = chosen->chunk;
    else
        chosen = sg_schedules_of_openmp(loop->schedule);
    work->start = loop->start;
    work->end = loop->end;
    work->step = loop->step;
    work->total = loop->total;
    work->ordered = loop->ordered;
    sg_scheduled_open(&work->scheduled, chosen, loop->schedule == SG_AUTO ? 0 : chunk, loop->total, members,
                      work->address, loop->site);
}

void sg_work_memory(sg_work *work, bool first, void **memory)
{
    if (memory == NULL)
        return;
    if (first) {
        size_t size = (size_t)(uintptr_t)*memory;
        if (work->memory_size < size) {
            free(work->memory);
            work->memory = calloc(1, size);
            work->memory_size = size;
            if (work->memory == NULL)
                sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for a worksharing construct");
        } else if (size > 0) {
            memset(work->memory, 0, size);
        }
    }
    *memory = work->memory;
}

/* ---- loops in a common form ---- */

sg_loop sg_loop_signed(enum sg_schedule schedule, long start, long end, long step, long chunk, bool ordered)
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

sg_loop sg_loop_unsigned(enum sg_schedule schedule, bool up, uint64_t start, uint64_t end, uint64_t step,
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

enum sg_schedule sg_schedule_decode(long code, uint64_t *chunk, const sg_chosen **chosen)
{
    *chosen = NULL;
    switch (code & 0x7fffffff) { /* the highest bit means monotonic */
    case 0:
        *chunk = sg_self()->task->icv.chunk;
        *chosen = sg_self()->task->icv.chosen;
        return sg_self()->task->icv.schedule;
    case 2:
        return SG_DYNAMIC;
    case 3:
        return SG_GUIDED;
    default:
        return SG_STATIC;
    }
}

/* ---- distribution ---- */

bool sg_work_chunk(sg_thread *t, sg_work *work, uint64_t *first, uint64_t *last)
{
    t->turn.asked = sg_now->clock;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_SCHEDULE, sg->config.schedule_cycles);
    if (!sg_scheduled_next(&work->scheduled, t->member, first, last))
        return false;
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

bool sg_loop_next(sg_thread *t, uint64_t *from, uint64_t *to)
{
    sg_work *work = t->work;
    uint64_t first, last;
    sg_order_pass(t, work, t->ordered_last);
    if (!sg_work_chunk(t, work, &first, &last))
        return false;
    t->ordered_last = last;
    *from = value_at(work, first);
    *to = value_at(work, last);
    return true;
}

bool sg_loop_start(const sg_loop *loop, uintptr_t *reductions, void **memory, uint64_t *from, uint64_t *to,
                   const void *site)
{
    sg_thread *t = sg_member(site);
    bool first;
    sg_turn(sg_now);
    sg_work *work = sg_work_enter(t, &first);
    if (first)
        sg_work_prepare(work, loop, t->team->size);
    sg_work_memory(work, first, memory);
    if (reductions != NULL)
        sg_reductions_share(t, work, first, reductions);
    /* one member fills in the construct, the others find it complete */
    if (work->scheduled.schedule != sg_schedules_of_openmp(SG_STATIC)->schedule || memory != NULL ||
        reductions != NULL)
        sg_touch(sg_now, work->address, first ? SG_WRITE : SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    return from == NULL || sg_loop_next(t, from, to);
}

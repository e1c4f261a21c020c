/* Sections, single, scope, and the compiler's calls for barriers and cancellation. */
#include "sg_omp.h"

/* ---- sections: a dynamic loop over their numbers ---- */

static unsigned section_next(sg_thread *t)
{
    uint64_t first, last;
    return sg_work_chunk(t, t->work, &first, &last) ? (unsigned)first + 1 : 0;
}

static unsigned section_start(unsigned count, uintptr_t *reductions, void **memory, const void *site)
{
    sg_loop loop = {.schedule = SG_DYNAMIC, .total = count, .chunk = 1};
    sg_loop_start(&loop, reductions, memory, NULL, NULL, site);
    return section_next(sg_self());
}

SG_API unsigned GOMP_sections_start(unsigned count)
{
    return section_start(count, NULL, NULL, SG_CALLER);
}

SG_API unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    return section_start(count, reductions, memory, SG_CALLER);
}

SG_API unsigned GOMP_sections_next(void)
{
    return section_next(sg_member(SG_CALLER));
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
    return sg_team_barrier_cancel(SG_CALLER);
}

/* ---- single ---- */

/* Enters the construct; the first member to arrive gets NULL. */
static sg_work *single_start(sg_thread *t)
{
    bool first;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_SCHEDULE, sg->config.schedule_cycles);
    sg_turn(sg_now);
    sg_work *work = sg_work_enter(t, &first);
    sg_touch(sg_now, work->address, SG_RMW,
             SG_CATEGORY_PRIM_SCHEDULE); /* the variable that decides which member is first */
    return first ? NULL : work;
}

SG_API bool GOMP_single_start(void)
{
    return single_start(sg_member(SG_CALLER)) == NULL;
}

SG_API void *GOMP_single_copy_start(void)
{
    sg_thread *t = sg_member(SG_CALLER);
    sg_work *work = single_start(t);
    if (work == NULL)
        return NULL;
    while (!work->copied) {
        sg_queue_add(&work->copy_waiting, t);
        sg_suspend(SG_CATEGORY_IDLE_ORDER, work->address, -1);
    }
    sg_touch(sg_now, work->address, SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    return work->copy;
}

SG_API void GOMP_single_copy_end(void *data)
{
    sg_work *work = sg_member(SG_CALLER)->work;
    sg_touch(sg_now, work->address, SG_WRITE, SG_CATEGORY_PRIM_SCHEDULE);
    work->copy = data;
    work->copied = true;
    sg_wake_all(&work->copy_waiting, sg_now->clock);
}

/* ---- scope: a construct used only for its reductions ---- */

SG_API void GOMP_scope_start(uintptr_t *reductions)
{
    if (reductions == NULL)
        return;
    sg_loop loop = {.schedule = SG_STATIC};
    sg_loop_start(&loop, reductions, NULL, NULL, NULL, SG_CALLER);
}

/* ---- barriers and cancellation ---- */

SG_API void GOMP_barrier(void)
{
    sg_team_barrier(SG_CALLER);
}

SG_API bool GOMP_barrier_cancel(void)
{
    return sg_team_barrier_cancel(SG_CALLER);
}

static bool cancelled(const sg_thread *t, int which)
{
    const sg_team *team = t->team;
    if (which & (SG_CANCEL_LOOP | SG_CANCEL_SECTIONS))
        return team->work_cancelled;
    if (which & SG_CANCEL_GROUP)
        return sg_task_cancelled(t->task);
    return team->cancelled;
}

SG_API bool GOMP_cancellation_point(int which)
{
    if (!sg->omp->cancellation)
        return false;
    sg_thread *t = sg_member(SG_CALLER);
    sg_touch(sg_now, t->team->address, SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    return cancelled(t, which);
}

SG_API bool GOMP_cancel(int which, bool wanted)
{
    if (!sg->omp->cancellation)
        return false;
    sg_thread *t = sg_member(SG_CALLER);
    sg_team *team = t->team;
    sg_touch(sg_now, team->address, wanted ? SG_WRITE : SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    if (!wanted)
        return cancelled(t, which);
    if (which & (SG_CANCEL_LOOP | SG_CANCEL_SECTIONS)) {
        team->work_cancelled = true;
    } else if (which & SG_CANCEL_GROUP) {
        sg_taskgroup *group = t->task->group;
        if (group != NULL && group->workshare && group->before != NULL)
            group = group->before;
        if (group != NULL)
            group->cancelled = true;
    } else {
        team->cancelled = true;
        sg_barrier_break(team->barrier);
    }
    return true;
}

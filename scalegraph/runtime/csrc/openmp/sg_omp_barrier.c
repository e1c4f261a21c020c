/* The barriers of a team. */
#include "sg_omp.h"

static inline __attribute__((always_inline)) void pass(const void *site)
{
    sg_thread *t = sg_member(site);
    sg_team *team = t->team;
    sg_tasks_help(t);
    sg_now->site = site;
    if (team->size == 1) {
        sg_tasks_drain(t);
        team->work_cancelled = false;
    }
    sg_barrier_wait(team->barrier, t->member, SG_CATEGORY_PRIM_BARRIER);
}

void sg_team_barrier(const void *site)
{
    pass(site);
}

bool sg_team_barrier_cancel(const void *site)
{
    const sg_team *team = sg_member(site)->team;
    if (!team->cancelled)
        pass(site);
    return team->cancelled;
}

/* Waiting for tasks and task groups, and what a thread does meanwhile. */
#include "sg_omp.h"

enum { YIELDS = 32 }; /* nested tasks started by taskyield */

void sg_tasks_help(sg_thread *t)
{
    for (sg_task *task; (task = sg_task_take(t, NULL, NULL)) != NULL;)
        sg_task_run(task);
}

void sg_tasks_drain(sg_thread *t)
{
    sg_pool *pool = t->team->pool;
    while (pool != NULL && pool->unfinished != 0) {
        sg_task *task = sg_task_take(t, NULL, NULL);
        if (task != NULL) {
            sg_task_run(task);
        } else if (pool->unfinished != 0) {
            pool->drainer = t;
            sg_suspend(SG_CATEGORY_IDLE_TASK, pool->address, -1);
        }
    }
    sg_tasks_unlock(pool);
}

void sg_task_wait(sg_thread *t, const uint32_t *count, sg_taskgroup *group, uint64_t address)
{
    sg_task *current = t->task;
    const void *site = sg_now->site;
    sg_touch(sg_now, address, SG_READ, SG_CATEGORY_PRIM_TASK);
    while (*count != 0) {
        sg_task *task = sg_task_take(t, current, group);
        if (task != NULL) {
            sg_task_run(task);
            sg_now->site = site;
        } else if (*count != 0) {
            current->waiter = t;
            sg_suspend(SG_CATEGORY_IDLE_TASK, address, -1);
            sg_touch(sg_now, address, SG_READ, SG_CATEGORY_PRIM_TASK);
        }
    }
    sg_tasks_unlock(t->team->pool);
}

void sg_task_yield(sg_thread *t)
{
    if (t->yields == YIELDS || sg->omp->central)
        return; /* each nested task takes stack space; in libgomp, taskyield does nothing */
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.task_cycles);
    sg_task *task = sg_task_take(t, t->task->untied ? NULL : t->task, NULL);
    if (task == NULL)
        return;
    t->yields++;
    sg_task_run(task);
    sg_tasks_unlock(t->team->pool);
    t->yields--;
}

/* ---- task groups ---- */

sg_taskgroup *sg_taskgroup_start(sg_thread *t)
{
    sg_omp *omp = sg->omp;
    sg_taskgroup *group = omp->spare_groups;
    if (group != NULL) {
        omp->spare_groups = group->before;
    } else {
        group = sg_new(sizeof *group);
        group->address = sg_variables_of(1, SG_OWN_TASK);
    }
    sg_taskgroup *outer = t->task->group;
    *group = (sg_taskgroup){.address = group->address, .before = outer, .owner = t->task};
    if (outer != NULL)
        group->reductions = outer->reductions; /* its tasks may take part in enclosing reductions */
    return t->task->group = group;
}

void sg_taskgroup_end(sg_thread *t)
{
    sg_taskgroup *group = t->task->group;
    sg_task_wait(t, &group->unfinished, group, group->address);
    t->task->group = group->before;
    sg_taskgroup_drop(group);
}

void sg_taskgroup_drop(sg_taskgroup *group)
{
    group->before = sg->omp->spare_groups;
    sg->omp->spare_groups = group;
}

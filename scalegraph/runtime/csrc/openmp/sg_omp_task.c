/* Creation, execution and completion of explicit tasks. Waiting tasks: sg_omp_queue.c.
 *
 * A task runs on the stack of the member that takes it, above the task waiting there. Within a task only its
 * descendants may run, as tied tasks require; at a barrier, any task of the team. */
#include "sg_omp.h"

enum { QUEUE_FACTOR = 64 }; /* more tasks than this per member are not deferred, as in libgomp */

/* ---- the life of a task ---- */

sg_task *sg_task_new(sg_thread *t, sg_task *parent, void (*function)(void *))
{
    sg_omp *omp = sg->omp;
    sg_task *task = omp->spare_tasks;
    uint64_t address;
    sg_task **successors = NULL;
    uint32_t room = 0;
    if (task != NULL) {
        omp->spare_tasks = task->parent;
        address = task->address;
        successors = task->successors;
        room = task->successors_size;
    } else {
        task = sg_new(sizeof *task);
        address = sg_variables_of(1, SG_OWN_TASK);
    }
    *task = (sg_task){.parent = parent,
                      .team = parent->team,
                      .icv = parent->icv,
                      .references = 1,
                      .final = parent->final,
                      .function = function,
                      .address = address,
                      .region = sg_region(t),
                      .site = sg_now->site,
                      .group = parent->group,
                      .successors = successors,
                      .successors_size = room};
    parent->references++;
    return task;
}

void sg_task_drop(sg_task *task)
{
    while (task != NULL && !task->implicit && --task->references == 0) {
        sg_task *parent = task->parent;
        task->parent = sg->omp->spare_tasks;
        sg->omp->spare_tasks = task;
        task = parent;
    }
}

uint32_t sg_task_number(sg_task *task)
{
    if (task->number == 0)
        task->number = ++sg->omp->task_numbers;
    return task->number;
}

sg_task *sg_task_parent(sg_task *task)
{
    sg_task *parent = task->parent;
    while (parent != NULL && parent->complete) {
        task->orphan = true;
        task->parent = parent->parent;
        if (task->parent != NULL)
            task->parent->references++;
        sg_task_drop(parent);
        parent = task->parent;
    }
    return parent;
}

bool sg_task_descends(sg_task *task, const sg_task *ancestor)
{
    for (task = sg_task_parent(task); task != NULL && task != ancestor;)
        task = sg_task_parent(task);
    return task != NULL;
}

bool sg_task_cancelled(const sg_task *task)
{
    if (!sg->omp->cancellation)
        return false;
    const sg_taskgroup *group = task->group;
    if (task->team->cancelled)
        return true;
    return group != NULL &&
           (group->cancelled || (group->workshare && group->before != NULL && group->before->cancelled));
}

void sg_task_wake_waiter(sg_task *task)
{
    sg_thread *waiter = task->waiter;
    if (waiter != NULL) {
        task->waiter = NULL;
        sg_wake(waiter, sg_now->clock);
    }
}

/* `task` is complete: its children become orphans. */
static void leave_children(sg_task *task)
{
    task->complete = true;
    for (sg_task *child = task->ready.first; child != NULL; child = child->next[SG_IN_PARENT])
        child->orphan = true;
    task->ready = (sg_tasks){NULL, NULL};
    sg_depend_drop(task);
}

/* Notifies everything that waits for `task`. */
static void complete(sg_task *task)
{
    sg_pool *pool = task->team->pool;
    sg_taskgroup *group = task->group;
    if (sg_tasks_lock(pool))
        pool->running--; /* the lock is released when the next task is taken */
    leave_children(task);
    for (uint32_t i = 0; i < task->successors_count; i++) {
        sg_task *after = task->successors[i];
        sg_task_touch(after->address, SG_RMW);
        if (--after->missing == 0) {
            if (after->fence)
                sg_task_wake_waiter(after->parent);
            else
                sg_task_ready(after);
        }
        sg_task_drop(after);
    }
    sg_task *parent = sg_task_parent(task);
    if (!task->orphan) {
        sg_task_touch(parent->address, SG_RMW);
        parent = sg_task_parent(task);
        if (!task->orphan && --parent->children == 0)
            sg_task_wake_waiter(parent);
    }
    if (group != NULL) {
        sg_task_touch(group->address, SG_RMW);
        if (--group->unfinished == 0)
            sg_task_wake_waiter(group->owner);
    }
    if (--pool->unfinished == 0 && pool->drainer != NULL) {
        sg_wake(pool->drainer, sg_now->clock);
        pool->drainer = NULL;
    }
    sg_task_drop(task);
}

/* Not inlined, so that the position of the task's frame does not depend on it. */
static __attribute__((noinline, noclone)) void report(uint64_t *number, uint32_t region,
                                                      enum sg_task_step step)
{
    sg_observed.task(number, region, step);
}

/* Runs the body of `task` on top of the running thread's stack. */
static void execute(sg_task *task, void *argument)
{
    sg_thread *t = sg_self();
    sg_task *before = t->task;
    uint32_t depth = t->depth;
    if (sg_region(t) != task->region)
        sg_regions_push(t, task->region);
    t->task = task;
    sg_now->site = task->site;
    if (SG_UNLIKELY(sg_observed.task != NULL))
        report(&task->traced, task->region, SG_TASK_STEP_SWITCHED);
    sg_call_program(task->function, argument);
    t->task = before;
    if (SG_UNLIKELY(sg_observed.task != NULL))
        report(&task->traced, task->region, SG_TASK_STEP_ENDED);
    sg_regions_pop(t, depth);
    sg_now->site = task->site;
    if (SG_UNLIKELY(sg_observed.task != NULL))
        report(&before->traced, sg_region(t), SG_TASK_STEP_SWITCHED);
}

void sg_task_run(sg_task *task)
{
    if (task->function != NULL && (task->constructed || !sg_task_cancelled(task))) {
        /* Taking it from a queue; the cost of an undeferred task was charged at its creation. */
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.task_cycles);
        execute(task, task->argument);
    }
    free(task->block);
    task->block = NULL;
    task->executed = true;
    if (!task->detached)
        complete(task);
}

/* Runs `task` immediately instead of deferring it. */
void sg_task_run_now(sg_task *task, void *data, void (*copy)(void *, void *), long size, long alignment)
{
    sg_thread *t = sg_self();
    if (copy != NULL) {
        sg_task_argument(task, data, copy, size, alignment);
        execute(task, task->argument);
        free(task->block);
    } else {
        execute(task, data);
    }
    while (task->detached) {
        task->waiter = t;
        sg_suspend(SG_CATEGORY_IDLE_TASK, task->address, -1);
    }
    leave_children(task);
    sg_task_drop(task);
}

void sg_task_fulfill(sg_task *task)
{
    task->detached = false;
    sg_task_wake_waiter(task);
    if (task->executed) {
        complete(task);
        sg_tasks_unlock(task->team->pool);
    }
}

void sg_task_argument(sg_task *task, void *data, void (*copy)(void *, void *), long size, long alignment)
{
    uintptr_t mask = (uintptr_t)(alignment > 0 ? alignment : 1) - 1;
    task->block = malloc((size_t)size + mask);
    if (task->block == NULL && size > 0)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the data of a task");
    task->argument = (void *)(((uintptr_t)task->block + mask) & ~mask);
    if (copy != NULL) {
        sg_thread *t = sg_self();
        sg_task *before = t->task;
        const void *site = sg_now->site;
        t->task = task;
        copy(task->argument, data);
        t->task = before;
        sg_now->site = site;
        task->constructed = true;
    } else if (size > 0) {
        sg_reference_range(data, (size_t)size, SG_READ, sg_now->site);
        sg_reference_range(task->argument, (size_t)size, SG_WRITE, sg_now->site);
        memcpy(task->argument, data, (size_t)size);
    }
}

void sg_task_count(sg_task *task)
{
    sg_taskgroup *group = task->group;
    sg_pool_of(task->team)->unfinished++;
    task->parent->children++;
    if (group != NULL)
        group->unfinished++;
    sg_task_touch(task->address, SG_WRITE);
    sg_task_touch(task->parent->address, SG_RMW);
    if (group != NULL)
        sg_task_touch(group->address, SG_RMW);
    sg_count(sg_now, SG_COUNTER_TASKS, 1);
}

bool sg_task_immediate(const sg_thread *t, bool deferred, uint64_t more)
{
    const sg_team *team = t->team;
    if (!deferred || team->root == team || t->task->final)
        return true;
    return team->pool != NULL && team->pool->unfinished + more > (uint64_t)QUEUE_FACTOR * team->size;
}

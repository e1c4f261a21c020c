/* Explicit tasks: their creation, where they wait, who runs them, their end.
 *
 * Each member of a team has a queue of its own. It puts the tasks that it creates at the end and takes from
 * the end, the newest first; whoever finds its own queue empty takes the oldest task of another one. With
 * one central queue (a parameter of the run, and always when tasks have priorities) all members put at the
 * end and take from the front. A queue is a line of memory that is modified by everybody who puts or takes;
 * one more line says which queues have tasks: it is modified when a task comes into a queue that it does not
 * name, and by whoever finds that a queue that it names has become empty.
 *
 * A waiting task is run on the stack of the member that takes it, above the task that waits there. Within a
 * task only its descendants are run, as the rules for tied tasks demand, at a barrier any task of the team.
 */
#include "sg_omp.h"

enum { QUEUE_FACTOR = 64 }; /* tasks for each member beyond which none is deferred (as in libgomp) */
enum { HEADS = 4 };         /* tasks at the front of another's queue that a waiting task examines */
enum { ANCESTORS = 32 };    /* tasks around a new one that are asked whether they wait for something to do */

/* ---- lists ---- */

static void list_add(sg_tasks *list, int which, sg_task *after, sg_task *task)
{
    task->before[which] = after;
    task->next[which] = after != NULL ? after->next[which] : list->first;
    *(after != NULL ? &after->next[which] : &list->first) = task;
    *(task->next[which] != NULL ? &task->next[which]->before[which] : &list->last) = task;
}

static void list_remove(sg_tasks *list, int which, sg_task *task)
{
    sg_task *before = task->before[which], *next = task->next[which];
    *(before != NULL ? &before->next[which] : &list->first) = next;
    *(next != NULL ? &next->before[which] : &list->last) = before;
}

/* ---- pools ---- */

sg_pool *sg_pool_of(sg_team *team)
{
    if (team->pool != NULL)
        return team->pool;
    bool central = sg->omp->central;
    sg_pool *pool = sg_new(sizeof *pool);
    pool->queues = central ? 1 : team->size;
    pool->address = sg_variables_of(1, SG_OWN_TASK);
    pool->queue = sg_new(pool->queues * sizeof *pool->queue);
    pool->bits = sg_new((pool->queues + 63) / 64 * sizeof(uint64_t));
    for (uint32_t i = 0; i < pool->queues; i++)
        pool->queue[i].address = central ? pool->address : sg_variables_of(1, SG_OWN_TASK);
    return team->pool = pool;
}

static void touch(uint64_t address, enum sg_access kind)
{
    sg_touch(sg_now, address, kind, SG_CATEGORY_PRIM_TASK);
}

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

/* The nearest task around `task` that is not complete. */
static sg_task *parent_of(sg_task *task)
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

static bool descends(sg_task *task, const sg_task *ancestor)
{
    for (task = parent_of(task); task != NULL && task != ancestor;)
        task = parent_of(task);
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

static void wake_waiter(sg_task *task)
{
    sg_thread *waiter = task->waiter;
    if (waiter != NULL) {
        task->waiter = NULL;
        sg_wake(waiter, sg_now->clock);
    }
}

/* `task` is complete: its children belong to nobody. */
static void leave_children(sg_task *task)
{
    task->complete = true;
    for (sg_task *child = task->ready.first; child != NULL; child = child->next[SG_IN_PARENT])
        child->orphan = true;
    task->ready = (sg_tasks){NULL, NULL};
    sg_depend_drop(task);
}

/* All that waits for `task` learns that it is complete. */
static void complete(sg_task *task)
{
    sg_pool *pool = task->team->pool;
    sg_taskgroup *group = task->group;
    leave_children(task);
    for (uint32_t i = 0; i < task->successors_count; i++) {
        sg_task *after = task->successors[i];
        touch(after->address, SG_RMW);
        if (--after->missing == 0) {
            if (after->fence)
                wake_waiter(after->parent);
            else
                sg_task_ready(after);
        }
        sg_task_drop(after);
    }
    sg_task *parent = parent_of(task);
    if (!task->orphan) {
        touch(parent->address, SG_RMW);
        parent = parent_of(task);
        if (!task->orphan && --parent->children == 0)
            wake_waiter(parent);
    }
    if (group != NULL) {
        touch(group->address, SG_RMW);
        if (--group->unfinished == 0)
            wake_waiter(group->owner);
    }
    if (--pool->unfinished == 0 && pool->drainer != NULL) {
        sg_wake(pool->drainer, sg_now->clock);
        pool->drainer = NULL;
    }
    sg_task_drop(task);
}

/* Out of line, so that the frame below the task's does not depend on it. */
static __attribute__((noinline, noclone)) void report(uint64_t *number, uint32_t region,
                                                      enum sg_task_step step)
{
    sg_observed.task(number, region, step);
}

/* Runs the body of `task` on the running thread, above what runs there. */
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
        /* To take it from a queue; one that is not deferred has cost what it costs when it was created. */
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.task_cycles);
        execute(task, task->argument);
    }
    free(task->block);
    task->block = NULL;
    task->executed = true;
    if (!task->detached)
        complete(task);
}

/* Runs `task` at once, instead of putting it off. */
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
    wake_waiter(task);
    if (task->executed)
        complete(task);
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
    touch(task->address, SG_WRITE);
    touch(task->parent->address, SG_RMW);
    if (group != NULL)
        touch(group->address, SG_RMW);
    sg_count(sg_now, SG_COUNTER_TASKS, 1);
}

bool sg_task_immediate(const sg_thread *t, bool deferred, uint64_t more)
{
    const sg_team *team = t->team;
    if (!deferred || team->root == team || t->task->final)
        return true;
    return team->pool != NULL && team->pool->unfinished + more > (uint64_t)QUEUE_FACTOR * team->size;
}

/* ---- queues ---- */

static void set_filled(sg_pool *pool, uint32_t queue, bool filled)
{
    uint64_t bit = 1ull << queue % 64;
    pool->bits[queue / 64] = filled ? pool->bits[queue / 64] | bit : pool->bits[queue / 64] & ~bit;
    pool->filled += filled ? 1 : -1u;
}

/* The next queue with tasks from number `from` on, around the end; pool->queues when there is none. */
static uint32_t next_filled(const sg_pool *pool, uint32_t from)
{
    if (pool->filled == 0)
        return pool->queues;
    uint32_t words = (pool->queues + 63) / 64;
    from %= pool->queues;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (from / 64 + i) % words;
        uint64_t bits = pool->bits[word];
        if (i == 0)
            bits &= ~0ull << from % 64;
        if (bits != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return pool->queues;
}

/* Wakes one thread that could run `task`. */
static void call_for(sg_task *task)
{
    sg_pool *pool = task->team->pool;
    sg_thread *idle = pool->drainer;
    if (idle != NULL) {
        pool->drainer = NULL;
        sg_wake(idle, sg_now->clock);
        return;
    }
    sg_team *team = task->team;
    idle = sg_barrier_borrow(team->barrier);
    if (idle == NULL && team->join != team->barrier)
        idle = sg_barrier_borrow(team->join);
    if (idle != NULL) {
        sg_wake(idle, sg_now->clock);
        return;
    }
    sg_task *around = parent_of(task);
    for (int i = 0; i < ANCESTORS && around != NULL; i++, around = parent_of(around))
        if (around->waiter != NULL) {
            wake_waiter(around);
            break;
        }
    if (task->group != NULL)
        wake_waiter(task->group->owner);
}

void sg_task_ready(sg_task *task)
{
    sg_pool *pool = task->team->pool;
    sg_thread *t = sg_self();
    uint32_t number = pool->queues > 1 && t->team == task->team ? t->member : 0;
    sg_task_queue *queue = &pool->queue[number];
    touch(queue->address, SG_RMW);
    sg_task *after = queue->tasks.last;
    while (after != NULL && after->priority < task->priority)
        after = after->before[SG_IN_QUEUE];
    list_add(&queue->tasks, SG_IN_QUEUE, after, task);
    task->queue = queue;
    sg_task *parent = parent_of(task);
    if (!task->orphan)
        list_add(&parent->ready, SG_IN_PARENT, parent->ready.last, task);
    if (task->group != NULL)
        list_add(&task->group->ready, SG_IN_GROUP, task->group->ready.last, task);
    if (pool->queues > 1 && (pool->bits[number / 64] >> number % 64 & 1) == 0) {
        set_filled(pool, number, true);
        touch(pool->address, SG_RMW);
    }
    /* While the pool's line was fetched, somebody may have taken the task, run it and made it another one. */
    if (task->queue == queue)
        call_for(task);
}

/* Takes `task`, whose queue's line is held, out of everything in which it waits. */
static void unlink_task(sg_task *task)
{
    sg_task_queue *queue = task->queue;
    list_remove(&queue->tasks, SG_IN_QUEUE, task);
    sg_task *parent = task->parent;
    if (!task->orphan && parent != NULL)
        list_remove(&parent->ready, SG_IN_PARENT, task);
    if (task->group != NULL)
        list_remove(&task->group->ready, SG_IN_GROUP, task);
    task->queue = NULL;
}

/* ---- finding something to do ---- */

/* A task that may run within `current` (NULL: at a barrier, where all may), without a examine the other
 * members' queues. */
static sg_task *choose_near(const sg_thread *t, const sg_pool *pool, const sg_task *current,
                            const sg_taskgroup *group)
{
    bool members = pool->queues > 1;
    if (current != NULL && current->ready.last != NULL)
        return members ? current->ready.last : current->ready.first;
    if (group != NULL && group->ready.last != NULL)
        return members ? group->ready.last : group->ready.first;
    sg_task *own = members ? pool->queue[t->member].tasks.last : pool->queue->tasks.first;
    for (int i = 0; i < HEADS && own != NULL; i++) {
        if (current == NULL || descends(own, current))
            return own;
        own = members ? NULL : own->next[SG_IN_QUEUE];
    }
    return NULL;
}

/* Such a task at the front of another member's queue; *stale: a queue that has become empty. */
static sg_task *choose_far(const sg_thread *t, sg_pool *pool, const sg_task *current, sg_task_queue **stale)
{
    uint32_t first = next_filled(pool, t->member + 1), number = first;
    *stale = NULL;
    while (pool->queues > 1 && number < pool->queues) {
        sg_task *task = pool->queue[number].tasks.first;
        if (task == NULL && number != t->member) {
            *stale = &pool->queue[number];
            return NULL;
        }
        for (int i = 0; i < HEADS && task != NULL; i++, task = task->next[SG_IN_QUEUE])
            if (current == NULL || descends(task, current))
                return task;
        number = next_filled(pool, number + 1);
        if (number == first)
            break;
    }
    return NULL;
}

/* Says that a queue is empty, if it still is; its line is held. */
static void clear_stale(sg_pool *pool, const sg_task_queue *queue)
{
    uint32_t number = (uint32_t)(queue - pool->queue);
    if (queue->tasks.first != NULL || (pool->bits[number / 64] >> number % 64 & 1) == 0)
        return;
    set_filled(pool, number, false);
    touch(pool->address, SG_RMW);
}

sg_task *sg_task_take(sg_thread *t, const sg_task *current, const sg_taskgroup *group)
{
    sg_pool *pool = t->team->pool;
    if (pool == NULL || pool->unfinished == 0)
        return NULL;
    sg_task_queue *held = NULL, *stale = NULL;
    sg_task *task;
    for (bool looked = false;;) {
        task = choose_near(t, pool, current, group);
        if (task == NULL && !looked) {
            touch(pool->address, SG_READ);
            looked = true;
            continue;
        }
        if (task == NULL)
            task = choose_far(t, pool, current, &stale);
        if (task == NULL && stale == NULL)
            return NULL;
        sg_task_queue *wanted = task != NULL ? task->queue : stale;
        if (wanted != held) {
            held = wanted;
            touch(held->address, SG_RMW);
        } else if (task != NULL) {
            break;
        } else {
            clear_stale(pool, stale);
            held = NULL;
        }
        stale = NULL;
    }
    unlink_task(task);
    if (pool->queues > 1 && held != &pool->queue[t->member])
        sg_count(sg_now, SG_COUNTER_STEALS, 1);
    touch(task->address, SG_READ);
    return task;
}

/* Where explicit tasks wait: the task queues of the program's OpenMP library.
 *
 * LLVM's library gives each team member its own queue. A member puts the tasks it creates at the end and
 * takes them from the end, newest first; if its own queue is empty, it takes the oldest task of another one.
 * A queue is a line of memory that everybody who puts or takes modifies. One more line tells which queues
 * have tasks: it is modified when a task enters a queue that it shows as empty, and by a member that finds a
 * queue empty that it shows as non-empty.
 *
 * libgomp has one queue under one lock. All members put at the end and take from the front; a waiting task
 * takes its newest child first. A complete task is removed from its parent's lists under the lock, and the
 * same member takes the next task before it releases the lock. The lock's line also holds the ends of the
 * queue; a task's neighbours in the queue are modified with it. When a task enters the empty queue, all
 * members waiting at a barrier notice and compete for the lock. While not all members have a task, creating
 * one makes a system call to wake a sleeper, but finds none, because they spin. */
#include "sg_omp.h"

enum { HEADS = 4 };      /* tasks at the front of another member's queue that a waiting task examines */
enum { ANCESTORS = 32 }; /* ancestors of a new task that are checked for waiting threads */

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
    if (central) {
        pool->lock = sg_lock_new(pool->address);
        pool->pending = sg_variables_of(1, SG_OWN_TASK);
    }
    for (uint32_t i = 0; i < pool->queues; i++)
        pool->queue[i].address = central ? pool->address : sg_variables_of(1, SG_OWN_TASK);
    return team->pool = pool;
}

/* ---- queues ---- */

static void set_filled(sg_pool *pool, uint32_t queue, bool filled)
{
    uint64_t bit = 1ull << queue % 64;
    pool->bits[queue / 64] = filled ? pool->bits[queue / 64] | bit : pool->bits[queue / 64] & ~bit;
    pool->filled += filled ? 1 : -1u;
}

/* The next non-empty queue from number `from`, cyclically; pool->queues: none. */
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

/* A thread waiting at a barrier of `team`, to be woken; NULL: none. */
static sg_thread *borrow(sg_team *team)
{
    sg_thread *idle = sg_barrier_borrow(team->barrier);
    return idle == NULL && team->join != team->barrier ? sg_barrier_borrow(team->join) : idle;
}

/* Wakes one thread that can run `task`. */
static void call_for(sg_task *task)
{
    sg_pool *pool = task->team->pool;
    sg_thread *idle = pool->drainer;
    if (idle != NULL) {
        pool->drainer = NULL;
        sg_wake(idle, sg_now->clock);
        return;
    }
    idle = borrow(task->team);
    if (idle != NULL) {
        sg_wake(idle, sg_now->clock);
        return;
    }
    sg_task *around = sg_task_parent(task);
    for (int i = 0; i < ANCESTORS && around != NULL; i++, around = sg_task_parent(around))
        if (around->waiter != NULL) {
            sg_task_wake_waiter(around);
            break;
        }
    if (task->group != NULL)
        sg_task_wake_waiter(task->group->owner);
}

/* Puts `task` into `queue` behind `after`; the caller holds the queue's line. */
static void put(sg_task_queue *queue, sg_task *after, sg_task *task)
{
    list_add(&queue->tasks, SG_IN_QUEUE, after, task);
    task->queue = queue;
    sg_task *parent = sg_task_parent(task);
    if (!task->orphan)
        list_add(&parent->ready, SG_IN_PARENT, parent->ready.last, task);
    if (task->group != NULL)
        list_add(&task->group->ready, SG_IN_GROUP, task->group->ready.last, task);
}

/* The last task in `queue` that goes before `task`. */
static sg_task *place_of(const sg_task_queue *queue, const sg_task *task)
{
    sg_task *after = queue->tasks.last;
    while (after != NULL && after->priority < task->priority)
        after = after->before[SG_IN_QUEUE];
    return after;
}

static void ready_at_member(sg_pool *pool, sg_task *task)
{
    sg_thread *t = sg_self();
    uint32_t number = pool->queues > 1 && t->team == task->team ? t->member : 0;
    sg_task_queue *queue = &pool->queue[number];
    sg_task_touch(queue->address, SG_RMW);
    put(queue, place_of(queue, task), task);
    if (pool->queues > 1 && (pool->bits[number / 64] >> number % 64 & 1) == 0) {
        set_filled(pool, number, true);
        sg_task_touch(pool->address, SG_RMW);
    }
    /* While the pool's line was fetched, another thread may have run the task and reused it. */
    if (task->queue == queue)
        call_for(task);
}

/* ---- the central queue ---- */

static bool is_mine(const sg_lock *lock)
{
    return sg_lock_holder(lock) == (int32_t)sg_self()->id;
}

bool sg_tasks_lock(sg_pool *pool)
{
    if (pool->lock == NULL || is_mine(pool->lock))
        return false;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.lock_cycles);
    sg_lock_spin(pool->lock, SG_CATEGORY_PRIM_TASK, SG_CATEGORY_IDLE_TASK);
    return true;
}

void sg_tasks_unlock(sg_pool *pool)
{
    if (pool == NULL || pool->lock == NULL || !is_mine(pool->lock))
        return;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.lock_cycles);
    sg_lock_unspin(pool->lock, SG_CATEGORY_PRIM_TASK);
}

bool sg_tasks_wait(const sg_pool *pool)
{
    return pool != NULL && pool->lock != NULL && pool->queue->tasks.first != NULL;
}

/* All threads waiting at a barrier watch the line that tells whether there are tasks. */
static void tell_all(sg_team *team)
{
    sg_pool *pool = team->pool;
    sg_task_touch(pool->pending, SG_WRITE);
    if (pool->drainer != NULL)
        sg_wake(pool->drainer, sg_now->clock);
    pool->drainer = NULL;
    for (sg_thread *idle; (idle = borrow(team)) != NULL;)
        sg_wake(idle, sg_now->clock);
}

static void ready_in_turn(sg_pool *pool, sg_task *task)
{
    sg_team *team = task->team;
    sg_task_queue *queue = pool->queue;
    bool mine = sg_tasks_lock(pool);
    sg_task_touch(pool->address, SG_RMW);
    sg_task *after = place_of(queue, task);
    if (after != NULL)
        sg_task_touch(after->address, SG_WRITE);
    bool first = queue->tasks.first == NULL;
    put(queue, after, task);
    if (!task->orphan)
        sg_task_wake_waiter(task->parent);
    if (task->group != NULL)
        sg_task_wake_waiter(task->group->owner);
    if (first)
        tell_all(team);
    bool calls = pool->running + 1 < team->size;
    if (mine)
        sg_tasks_unlock(pool);
    if (calls)
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.call_cycles);
}

void sg_task_ready(sg_task *task)
{
    sg_pool *pool = task->team->pool;
    if (pool->lock != NULL)
        ready_in_turn(pool, task);
    else
        ready_at_member(pool, task);
}

/* Removes `task` from all its lists; the caller holds its queue's line. */
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

/* ---- choosing a task ---- */

/* A task that may run within `current` (NULL: at a barrier, where all may), without examining the other
 * members' queues. */
static sg_task *choose_near(const sg_thread *t, const sg_pool *pool, const sg_task *current,
                            const sg_taskgroup *group)
{
    if (current != NULL && current->ready.last != NULL)
        return current->ready.last;
    if (group != NULL && group->ready.last != NULL)
        return group->ready.last;
    sg_task *own = pool->queue[pool->queues > 1 ? t->member : 0].tasks.last;
    return own == NULL || current == NULL || sg_task_descends(own, current) ? own : NULL;
}

/* Such a task at the front of another member's queue; *stale: a queue that is marked non-empty but is
 * empty. */
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
            if (current == NULL || sg_task_descends(task, current))
                return task;
        number = next_filled(pool, number + 1);
        if (number == first)
            break;
    }
    return NULL;
}

/* Marks a queue as empty if it still is; the caller holds its line. */
static void clear_stale(sg_pool *pool, const sg_task_queue *queue)
{
    uint32_t number = (uint32_t)(queue - pool->queue);
    if (queue->tasks.first != NULL || (pool->bits[number / 64] >> number % 64 & 1) == 0)
        return;
    set_filled(pool, number, false);
    sg_task_touch(pool->address, SG_RMW);
}

static sg_task *take_from_member(sg_thread *t, sg_pool *pool, const sg_task *current,
                                 const sg_taskgroup *group)
{
    sg_task_queue *held = NULL, *stale = NULL;
    sg_task *task;
    for (bool looked = false;;) {
        task = choose_near(t, pool, current, group);
        if (task == NULL && !looked) {
            sg_task_touch(pool->address, SG_READ);
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
            sg_task_touch(held->address, SG_RMW);
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
    sg_task_touch(task->address, SG_READ);
    return task;
}

/* Within a task only its children and those of its group may run, newest first. */
static sg_task *choose_in_turn(const sg_pool *pool, const sg_task *current, const sg_taskgroup *group)
{
    if (current == NULL)
        return pool->queue->tasks.first;
    if (group != NULL && group->ready.last != NULL)
        return group->ready.last;
    return current->ready.last;
}

static sg_task *take_in_turn(sg_pool *pool, const sg_task *current, const sg_taskgroup *group)
{
    if (current == NULL)
        sg_task_touch(pool->pending, SG_READ);
    sg_task *task = NULL;
    if (current != NULL || pool->queue->tasks.first != NULL) {
        sg_tasks_lock(pool);
        sg_task_touch(pool->address, SG_RMW);
        task = choose_in_turn(pool, current, group);
    }
    if (task != NULL) {
        const sg_task *behind = task->next[SG_IN_QUEUE];
        if (behind != NULL)
            sg_task_touch(behind->address, SG_WRITE);
        sg_task_touch(task->address, SG_RMW);
        unlink_task(task);
        pool->running++;
        if (pool->queue->tasks.first == NULL)
            sg_task_touch(pool->pending, SG_WRITE);
    }
    sg_tasks_unlock(pool);
    return task;
}

sg_task *sg_task_take(sg_thread *t, const sg_task *current, const sg_taskgroup *group)
{
    sg_pool *pool = t->team->pool;
    if (pool == NULL)
        return NULL;
    if (pool->unfinished == 0) {
        sg_tasks_unlock(pool);
        return NULL;
    }
    return pool->lock != NULL ? take_in_turn(pool, current, group)
                              : take_from_member(t, pool, current, group);
}

/* The compiler's entry points for tasks, task loops and task groups. */
#include "sg_omp.h"

enum {
    TASK_UNTIED = 1 << 0,
    TASK_FINAL = 1 << 1,
    TASK_DEPEND = 1 << 3,
    TASK_PRIORITY = 1 << 4,
    LOOP_UP = 1 << 8,
    LOOP_GRAINSIZE = 1 << 9,
    LOOP_IF = 1 << 10,
    LOOP_NOGROUP = 1 << 11,
    LOOP_REDUCTION = 1 << 12,
    TASK_DETACH = 1 << 13,
    LOOP_STRICT = 1 << 14,
};

/* A task as described by the compiler. */
typedef struct description {
    void (*function)(void *);
    void *data;
    void (*copy)(void *, void *);
    long size, alignment;
    unsigned flags;
    int priority;
} description;

static sg_task *new_task(sg_thread *t, const description *d)
{
    sg_task *task = sg_task_new(t, t->task, d->function);
    int most = sg->omp->max_priority;
    task->untied = (d->flags & TASK_UNTIED) != 0;
    task->final = task->final || (d->flags & TASK_FINAL) != 0;
    task->priority = d->priority < 0 ? 0 : d->priority < most ? d->priority : most;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.task_cycles);
    sg_observe_task(&task->traced, task->region, SG_TASK_STEP_CREATED);
    return task;
}

/* The program finds the event in the variable; the task finds it at the start of its data. */
static void open_event(sg_task *task, void *data, void **event)
{
    task->detached = true;
    *event = task;
    if (data != NULL)
        *(void **)data = task;
}

SG_API void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                      long alignment, bool deferred, unsigned flags, void **depend, int priority,
                      void *detach)
{
    sg_thread *t = sg_member(SG_CALLER);
    description d = {function, data, copy, size, alignment, flags, flags & TASK_PRIORITY ? priority : 0};
    if (sg_task_cancelled(t->task))
        return;
    bool now = sg_task_immediate(t, deferred, 0);
    if (now && flags & TASK_DEPEND)
        sg_depend_wait(t, depend);
    sg_task *task = new_task(t, &d);
    if (flags & TASK_DETACH)
        open_event(task, data, detach);
    if (now) {
        sg_task_run_now(task, data, copy, size, alignment);
        return;
    }
    sg_task_argument(task, data, copy, size, alignment);
    sg_task_count(task);
    if (flags & TASK_DEPEND)
        sg_depend_register(task, depend);
    if (task->missing == 0)
        sg_task_ready(task);
}

SG_API void omp_fulfill_event(uintptr_t event)
{
    sg_task *task = (sg_task *)event;
    sg_member(SG_CALLER);
    if (task == NULL || !task->detached)
        sg_stop(SG_STATUS_CRASHED,
                "omp_fulfill_event at 0x%llx: the event is invalid or was fulfilled before",
                (unsigned long long)(uintptr_t)SG_CALLER);
    sg_touch(sg_now, task->address, SG_RMW, SG_CATEGORY_PRIM_TASK);
    sg_task_fulfill(task);
}

SG_API void GOMP_taskwait(void)
{
    sg_thread *t = sg_member(SG_CALLER);
    if (t->task->children != 0)
        sg_task_wait(t, &t->task->children, NULL, t->task->address);
}

SG_API void GOMP_taskwait_depend(void **depend)
{
    sg_depend_wait(sg_member(SG_CALLER), depend);
}

SG_API void GOMP_taskyield(void)
{
    sg_thread *t = sg_member(SG_CALLER);
    sg_task_yield(t);
    sg_pass(SG_CALLER);
}

SG_API void GOMP_taskgroup_start(void)
{
    sg_taskgroup_start(sg_member(SG_CALLER));
}

SG_API void GOMP_taskgroup_end(void)
{
    sg_taskgroup_end(sg_member(SG_CALLER));
}

SG_API void GOMP_taskgroup_reduction_register(uintptr_t *data)
{
    sg_thread *t = sg_member(SG_CALLER);
    sg_taskgroup *group = t->task->group;
    sg_reductions_register(data, group->reductions, NULL, t->team->size);
    group->reductions = data;
}

/* ---- task loops ---- */

/* Division of a loop's iterations among tasks: the first `longer` tasks get `share` + 1, the others `share`,
 * and the last one the rest. */
typedef struct division {
    uint64_t tasks, share, longer;
} division;

static division divide(uint64_t total, unsigned flags, uint64_t wanted, uint32_t members)
{
    uint64_t tasks = wanted != 0 ? wanted : members;
    if (flags & LOOP_GRAINSIZE && wanted != 0) {
        if (flags & LOOP_STRICT)
            return (division){(total + wanted - 1) / wanted, wanted, 0};
        tasks = total / wanted;
    }
    if (tasks == 0)
        tasks = 1;
    if (tasks > total)
        tasks = total;
    return (division){tasks, total / tasks, total % tasks};
}

typedef struct bounds {
    uint64_t start, step, total;
} bounds;

/* Creates one task per part; a task's data begin with its first and last iteration. */
static void make_parts(sg_thread *t, const description *d, const bounds *b, const division *parts, bool now)
{
    uint64_t first = 0;
    for (uint64_t i = 0; i < parts->tasks; i++) {
        uint64_t last = first + parts->share + (i < parts->longer);
        if (i + 1 == parts->tasks)
            last = b->total;
        sg_task *task = new_task(t, d);
        sg_task_argument(task, d->data, d->copy, d->size, d->alignment);
        uint64_t *range = task->argument;
        range[0] = b->start + first * b->step;
        range[1] = b->start + last * b->step;
        first = last;
        if (now) {
            void *block = task->block;
            sg_task_run_now(task, task->argument, NULL, 0, 0);
            free(block);
        } else {
            sg_task_count(task);
            sg_task_ready(task);
        }
    }
}

static void task_loop(description d, bounds b, uint64_t wanted, const void *site)
{
    sg_thread *t = sg_member(site);
    bool grouped = (d.flags & LOOP_NOGROUP) == 0;
    uintptr_t *reductions = d.flags & LOOP_REDUCTION && grouped ? ((uintptr_t **)d.data)[2] : NULL;
    if (b.total == 0 || sg_task_cancelled(t->task)) {
        if (reductions != NULL)
            reductions[2] = 0; /* tells the program that nothing was registered */
        return;
    }
    division parts = divide(b.total, d.flags, wanted, t->team->size);
    if (grouped)
        sg_taskgroup_start(t);
    if (reductions != NULL) {
        sg_reductions_register(reductions, t->task->group->reductions, NULL, t->team->size);
        t->task->group->reductions = reductions;
    }
    make_parts(t, &d, &b, &parts, sg_task_immediate(t, (d.flags & LOOP_IF) != 0, parts.tasks));
    if (grouped)
        sg_taskgroup_end(t);
}

SG_API void GOMP_taskloop(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                          long alignment, unsigned flags, unsigned long tasks, int priority, long start,
                          long end, long step)
{
    sg_loop loop = sg_loop_signed(SG_STATIC, start, end, step, 0, false);
    bounds b = {loop.start, loop.step, loop.total};
    task_loop((description){function, data, copy, size, alignment, flags, priority}, b, tasks, SG_CALLER);
}

SG_API void GOMP_taskloop_ull(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                              long alignment, unsigned flags, unsigned long tasks, int priority,
                              unsigned long long start, unsigned long long end, unsigned long long step)
{
    sg_loop loop = sg_loop_unsigned(SG_STATIC, (flags & LOOP_UP) != 0, start, end, step, 0, false);
    bounds b = {loop.start, loop.step, loop.total};
    task_loop((description){function, data, copy, size, alignment, flags, priority}, b, tasks, SG_CALLER);
}

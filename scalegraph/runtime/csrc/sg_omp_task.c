/* Explicit tasks. A task is executed at once by the processor that creates it, which the language
 * allows: dependences and task groups then hold by themselves. */
#include "sg_omp.h"

enum { TASK_UNTIED = 1, TASK_FINAL = 2, LOOP_UP = 256 };

void sg_tasks_finish(void)
{
}

/* Creates a task: says once that a team does not share the tasks of one member. */
static void create(const void *site)
{
    sg_processor *p = sg_now;
    p->site = site;
    if (p->thread->team->size > 1)
        sg_warn("every explicit task ran on the processor that created it");
    sg_charge_site(p, SG_LEAF_PRIM_TASK, sg->config.task_cycles);
}

static void run(void (*function)(void *), void *data, void (*copy)(void *, void *), long size, long alignment)
{
    if (copy != NULL) {
        char place[size + alignment];
        char *argument =
            (char *)(((uintptr_t)place + (uintptr_t)alignment - 1) & ~((uintptr_t)alignment - 1));
        copy(argument, data);
        function(argument);
    } else {
        function(data);
    }
}

SG_API void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                      long alignment, bool deferred, unsigned flags, void **depend, int priority,
                      void *detach)
{
    (void)deferred, (void)flags, (void)depend, (void)priority, (void)detach;
    create(SG_CALLER);
    run(function, data, copy, size, alignment);
}

SG_API void GOMP_taskwait(void)
{
}

SG_API void GOMP_taskwait_depend(void **depend)
{
    (void)depend;
}

SG_API void GOMP_taskyield(void)
{
}

SG_API void GOMP_taskgroup_start(void)
{
}

SG_API void GOMP_taskgroup_end(void)
{
}

/* One task that covers the whole loop: its argument begins with the first and the last iteration. */
static void whole_loop(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                       long alignment, uint64_t start, uint64_t end)
{
    char place[size + alignment];
    char *argument = (char *)(((uintptr_t)place + (uintptr_t)alignment - 1) & ~((uintptr_t)alignment - 1));
    if (copy != NULL)
        copy(argument, data);
    else
        memcpy(argument, data, (size_t)size);
    ((uint64_t *)argument)[0] = start;
    ((uint64_t *)argument)[1] = end;
    function(argument);
}

SG_API void GOMP_taskloop(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                          long alignment, unsigned flags, unsigned long tasks, int priority, long start,
                          long end, long step)
{
    (void)flags, (void)tasks, (void)priority;
    create(SG_CALLER);
    if (step > 0 ? start < end : start > end)
        whole_loop(function, data, copy, size, alignment, (uint64_t)start, (uint64_t)end);
}

SG_API void GOMP_taskloop_ull(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                              long alignment, unsigned flags, unsigned long tasks, int priority,
                              unsigned long long start, unsigned long long end, unsigned long long step)
{
    (void)step, (void)tasks, (void)priority;
    create(SG_CALLER);
    if (flags & LOOP_UP ? start < end : start > end)
        whole_loop(function, data, copy, size, alignment, start, end);
}

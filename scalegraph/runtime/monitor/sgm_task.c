/* Tasks. We pass our own data to libgomp instead of the program's: a head that identifies the task, followed
 * by the program's data. So every task has a number, and whoever runs it records when. */
#include <dlfcn.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "sgm.h"

typedef void body(void *);
typedef void copier(void *, void *);

enum { DEPENDS = 1 << 3, GRAINS = 1 << 9, NO_GROUP = 1 << 11, DETACH = 1 << 13 };
enum { SLOTS = 3, ON_STACK = 1 << 12, QUEUED = 64 /* deferred tasks per thread in libgomp */ };

typedef struct task_head {
    uint64_t slots[SLOTS]; /* libgomp reads and writes these first words: range, reductions, event */
    uint64_t number;       /* 0: assigned when it is copied, or runs */
    uint64_t created;
    body *function;
    copier *copy;
    void *data; /* the program's, which the task gets as a copy at `offset` from this head */
    sgm_team *team;
    long size;
    uint32_t offset, region;
    uint32_t filled; /* slots to be put into the task's copy */
    bool depends;
} task_head;

/* A new child of the current task; returns its number. */
static uint64_t announce(sgm_thread *t, uint32_t region, uint64_t now)
{
    uint64_t number = sgm_implicit_task(t) | ++t->tasks;
    sgm_trace_task(t, SG_TASK_STEP_CREATED, region, now, number, t->task);
    return number;
}

/* The time since the previous event was waiting until the task was created, or could begin; the rest is the
 * cost of getting it. */
static void charge_before(sgm_thread *t, const task_head *head, uint64_t now)
{
    uint32_t category = t->category;
    if (category != SG_CATEGORY_IDLE_TASK && category != SG_CATEGORY_IDLE_BARRIER) {
        sgm_charge(t, now, category);
        return;
    }
    uint64_t until = head->depends ? now : head->created;
    category = head->depends ? SG_CATEGORY_IDLE_TASK : category;
    sgm_trace_wait(t, category, t->last, until < now ? until : now, 0);
    sgm_charge_until(t, now, until, category, SG_CATEGORY_PRIM_TASK);
}

/* The part of a thread's state that a task replaces while it runs. */
typedef struct frame {
    uint64_t task, object;
    sgm_team *team;
    uint32_t category, region, depth;
} frame;

static void run(void *given)
{
    const task_head *head = given;
    char *data = (char *)given + head->offset;
    sgm_thread *t = sgm_self();
    const frame before = {t->task, t->object, t->team, t->category, t->region, t->depth};
    uint64_t now = sgm_ticks(), number = head->number;
    charge_before(t, head, now);
    if (number == 0)
        number = announce(t, head->region, now);
    memcpy(data, head->slots, head->filled * sizeof *head->slots);
    t->category = SGM_COMPUTING;
    t->region = head->region;
    t->team = head->team;
    t->task = number;
    t->events += 2;
    sgm_trace_task(t, SG_TASK_STEP_SWITCHED, head->region, now, number, 0);
    head->function(data);
    now = sgm_ticks();
    sgm_charge(t, now, t->category);
    if (head->team != NULL)
        sgm_latest(&head->team->worked, now);
    sgm_trace_task(t, SG_TASK_STEP_ENDED, head->region, now, number, 0);
    sgm_trace_task(t, SG_TASK_STEP_SWITCHED, before.region, now, before.task, 0);
    t->depth = before.depth < t->depth ? before.depth : t->depth;
    t->category = before.category;
    t->region = before.region;
    t->team = before.team;
    t->task = before.task;
    t->object = before.object;
    if (!SGM_LIKELY(sgm_traced == 0))
        sgm_trace_make_room(t);
}

/* Builds a task's data from a head and the program's data. */
static void carry(void *to, void *from)
{
    task_head *head = to;
    *head = *(const task_head *)from;
    if (head->number == 0) {
        head->created = sgm_ticks();
        head->number = announce(sgm_self(), head->region, head->created);
    }
    if (head->copy != NULL)
        head->copy((char *)to + head->offset, head->data);
    else
        memcpy((char *)to + head->offset, head->data, (size_t)head->size);
}

static task_head head_of(const sgm_thread *t, body *function, copier *copy, void *data, long size, long align)
{
    long width = align > (long)_Alignof(task_head) ? align : (long)_Alignof(task_head);
    task_head head = {.created = t->last,
                      .function = function,
                      .copy = copy,
                      .data = data,
                      .team = t->team,
                      .size = size,
                      .offset = (uint32_t)(((long)sizeof head + width - 1) / width * width),
                      .region = t->region};
    size_t words = (size_t)size / sizeof *head.slots;
    if (data != NULL)
        memcpy(head.slots, data, (words < SLOTS ? words : SLOTS) * sizeof *head.slots);
    return head;
}

/* Holds a head and its data until libgomp has copied them. */
typedef struct wrapped {
    _Alignas(64) char few[ON_STACK];
    void *whole;
    task_head *head; /* in `few` or `whole` */
} wrapped;

static void wrap(wrapped *w, const task_head *head, long align)
{
    size_t bytes = head->offset + (size_t)head->size;
    bool fits = bytes <= sizeof w->few && align <= (long)_Alignof(wrapped);
    w->whole = fits ? NULL : malloc(bytes + (size_t)align);
    if (!fits && w->whole == NULL)
        sgm_stop("no memory for the data of a task");
    uintptr_t mask = (uintptr_t)(align > 1 ? align : 1) - 1;
    w->head = fits ? (task_head *)w->few : (task_head *)(((uintptr_t)w->whole + mask) & ~mask);
    *w->head = *head;
    if (head->size > 0)
        memcpy((char *)w->head + head->offset, head->data, (size_t)head->size);
}

SGM_API void GOMP_task(body *function, void *data, copier *copy, long size, long align, bool deferred,
                       unsigned flags, void **depends, int priority, void *detach)
{
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_TASK);
    wrapped w;
    task_head head = head_of(t, function, copy, data, size, align);
    head.number = announce(t, head.region, t->last);
    head.depends = (flags & DEPENDS) != 0;
    head.filled = (flags & DETACH) != 0 && size >= (long)sizeof *head.slots ? 1 : 0;
    w.head = &head, w.whole = NULL;
    if (copy == NULL)
        wrap(&w, &head, align);
    SGM_REAL(GOMP_task)
    (run, w.head, copy != NULL ? carry : NULL, head.offset + size,
     align > (long)_Alignof(task_head) ? align : (long)_Alignof(task_head), deferred, flags, depends,
     priority, detach);
    free(w.whole);
    t->counters[SG_COUNTER_TASKS]++;
    sgm_switch(t, before);
}

/* May libgomp defer the tasks of a loop with this many iterations? It then copies them one by one. Otherwise
 * it runs them from one copy, or, if a function copies them, from many on the stack. */
static bool may_be_deferred(const sgm_thread *t, unsigned flags, unsigned long tasks, uint64_t iterations)
{
    uint64_t threads = (uint64_t)omp_get_num_threads(), given = tasks != 0 ? tasks : threads;
    uint64_t count = (flags & GRAINS) != 0 ? iterations / given : given;
    return t->team != NULL && !omp_get_cancellation() && count <= QUEUED * threads;
}

/* The calling thread is at the end of a call that waits for tasks: for children of `parent`, or for any if
 * that is 0. It waited until the last one ended elsewhere; the rest is the cost of the call. */
static void end_wait(sgm_thread *t, uint32_t before, uint64_t parent)
{
    uint64_t now = sgm_ticks(), worked = 0;
    if (t->team != NULL)
        worked = __atomic_load_n(&t->team->worked, __ATOMIC_ACQUIRE);
    sgm_trace_wait(t, SG_CATEGORY_IDLE_TASK, t->last, worked < now ? worked : now, parent);
    sgm_charge_until(t, now, worked, SG_CATEGORY_IDLE_TASK, SG_CATEGORY_PRIM_TASK);
    t->category = before;
    t->events++;
    if (!SGM_LIKELY(sgm_traced == 0))
        sgm_trace_make_room(t);
}

#define LOOP(name, number)                                                                                   \
    SGM_API void name(body *function, void *data, copier *copy, long size, long align, unsigned flags,       \
                      unsigned long tasks, int priority, number start, number end, number step)              \
    {                                                                                                        \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_TASK);                                              \
        wrapped w;                                                                                           \
        task_head head = head_of(t, function, copy, data, size, align);                                      \
        uint64_t span = end > start ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;     \
        uint64_t each = (int64_t)step < 0 ? -(uint64_t)step : (uint64_t)step;                                \
        bool copied = copy != NULL || may_be_deferred(t, flags, tasks, span / (each != 0 ? each : 1));       \
        head.filled = 2;                                                                                     \
        w.head = &head, w.whole = NULL;                                                                      \
        if (!copied)                                                                                         \
            wrap(&w, &head, align);                                                                          \
        SGM_REAL(name)                                                                                       \
        (run, w.head, copied ? carry : NULL, head.offset + size,                                             \
         align > (long)_Alignof(task_head) ? align : (long)_Alignof(task_head), flags, tasks, priority,      \
         start, end, step);                                                                                  \
        free(w.whole);                                                                                       \
        t->counters[SG_COUNTER_TASKS]++;                                                                     \
        if ((flags & NO_GROUP) != 0)                                                                         \
            sgm_switch(t, before);                                                                           \
        else                                                                                                 \
            end_wait(t, before, 0);                                                                          \
    }
LOOP(GOMP_taskloop, long)
LOOP(GOMP_taskloop_ull, unsigned long long)

#define WAIT(name, parent, parameters, given)                                                                \
    SGM_API void name parameters                                                                             \
    {                                                                                                        \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t before = sgm_switch(t, SG_CATEGORY_IDLE_TASK);                                              \
        SGM_REAL(name) given;                                                                                \
        end_wait(t, before, parent);                                                                         \
    }
WAIT(GOMP_taskwait, t->task, (void), ())
WAIT(GOMP_taskgroup_end, 0, (void), ())
WAIT(GOMP_taskwait_depend, 0, (void **depends), (depends))

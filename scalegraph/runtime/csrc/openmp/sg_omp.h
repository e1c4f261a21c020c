/* The OpenMP runtime of the simulated machine: teams, worksharing, tasks, places. Private to sg_omp_*.c.
 *
 * All state shared by the members of a team has an address in simulated memory, and each change is a
 * reference there (sg_touch), so that a contended counter costs what it would on the machine. Between
 * sg_touch and the next call that may wait, no other thread runs. */
#ifndef SG_OMP_H
#define SG_OMP_H

#include "sg_schedules.h"
#include "sg_sync.h"

enum sg_schedule { SG_STATIC, SG_DYNAMIC, SG_GUIDED, SG_AUTO };
enum sg_bind { SG_BIND_FALSE, SG_BIND_TRUE, SG_BIND_PRIMARY, SG_BIND_CLOSE, SG_BIND_SPREAD };
enum sg_cancelled { SG_CANCEL_PARALLEL = 1, SG_CANCEL_LOOP = 2, SG_CANCEL_SECTIONS = 4, SG_CANCEL_GROUP = 8 };

#define SG_LEVELS_MOST 255 /* active nested regions, as in libgomp */

/* The internal control variables, one copy per task. */
typedef struct sg_icv {
    uint32_t threads;          /* next team's size, omp_set_num_threads */
    uint32_t thread_limit;     /* of the whole contention group */
    enum sg_schedule schedule; /* schedule(runtime) */
    bool monotonic;
    const sg_chosen *chosen; /* a schedule outside OpenMP; NULL: `schedule` */
    bool dynamic;
    uint8_t max_active_levels;
    uint8_t bind;
    int device;
    uint64_t chunk;
    uintptr_t allocator;
} sg_icv;

/* ---- worksharing ---- */

/* A worksharing construct of a team: loop, sections or single. A team's constructs form a list that each
 * member walks along; with `nowait`, members may be in different constructs. */
struct sg_work {
    sg_work *next;
    uint32_t passed;  /* members that have gone on to the next construct */
    bool prepared;    /* the first member to arrive has filled it in */
    uint64_t address; /* cache line of its shared counter */
    /* loops: iterations are numbered 0..total-1, whatever their type and direction */
    uint64_t start, end, step, total;
    sg_scheduled scheduled;
    bool ordered;
    uint64_t ordered_turn; /* first iteration of the chunk that may run its ordered region */
    sg_queue ordered_waiting;
    struct sg_doacross *doacross;
    /* for single copyprivate, task reductions, and memory requested by the compiler */
    void *copy;
    bool copied;
    sg_queue copy_waiting;
    uintptr_t *reductions;
    void *memory;
    size_t memory_size;
};

/* A loop as the compiler describes it, in a common form. */
typedef struct sg_loop {
    enum sg_schedule schedule;
    uint64_t start, end, step, total, chunk;
    bool ordered;
    const sg_chosen *chosen; /* schedule(runtime): a schedule outside OpenMP */
    const void *site;        /* where it is entered; NULL: not a loop of the program */
} sg_loop;

/* ---- tasks ---- */

/* Lists of tasks; a task that is ready to run is in up to three of them. */
enum { SG_IN_QUEUE, SG_IN_PARENT, SG_IN_GROUP, SG_TASK_LISTS };

typedef struct sg_tasks {
    sg_task *first, *last;
} sg_tasks;

typedef struct sg_task_queue {
    sg_tasks tasks;
    uint64_t address;
} sg_task_queue;

/* The tasks of a team. */
typedef struct sg_pool {
    uint32_t queues;     /* one per member, or one for all */
    uint32_t filled;     /* non-empty queues */
    uint64_t unfinished; /* deferred tasks not yet complete */
    uint64_t address;    /* line that tells which queues are filled, or has a central queue's lock */
    sg_lock *lock;       /* for a central queue, otherwise NULL */
    uint64_t pending;    /* line that tells whether a central queue is empty */
    uint32_t running;    /* tasks taken from a central queue and not yet complete */
    uint64_t *bits;      /* bit set of the non-empty queues */
    sg_thread *drainer;  /* the last member at a barrier, waiting until all tasks are complete */
    sg_task_queue *queue;
} sg_pool;

typedef struct sg_taskgroup {
    struct sg_taskgroup *before;
    sg_task *owner;
    uint64_t address;
    uint32_t unfinished;
    bool cancelled;
    bool workshare; /* created for the task reductions of a worksharing construct */
    uintptr_t *reductions;
    sg_tasks ready;
} sg_taskgroup;

struct sg_task {
    sg_task *parent; /* nearest enclosing task that was incomplete when last checked */
    sg_team *team;
    sg_icv icv;
    uint32_t references; /* from children and dependences, plus one until it is complete */
    uint32_t children;   /* incomplete ones */
    bool implicit, final, untied, complete, executed;
    bool fence;       /* not a task: its parent waits until the fence could start */
    bool orphan;      /* its creator is complete, so nobody counts it */
    bool constructed; /* data copied by constructors: must run even if cancelled */
    bool detached;    /* its completion event has not happened yet */
    int priority;
    uint32_t number; /* 0: not assigned yet */
    uint64_t traced; /* its number in the trace; 0: its creation was not recorded */
    void (*function)(void *);
    void *argument; /* within block */
    void *block;
    uint64_t address; /* cache line of its descriptor */
    uint32_t region;
    const void *site;
    sg_taskgroup *group;
    sg_tasks ready;    /* children that are ready to run */
    sg_thread *waiter; /* the thread that runs this task and waits in it */
    sg_task_queue *queue;
    sg_task *next[SG_TASK_LISTS], *before[SG_TASK_LISTS];
    /* dependences */
    uint32_t missing;           /* tasks that must complete before this one */
    struct sg_depends *depends; /* of its children, by address */
    sg_task **successors;
    uint32_t successors_count, successors_size;
};

/* ---- teams ---- */

/* Created once for a team size and reused, with its barriers and tasks. */
struct sg_team {
    sg_team *next; /* in the list of spare teams */
    uint32_t size;
    uint32_t users; /* members that have not left it yet */
    uint32_t level, active_level;
    sg_team *parent;
    sg_team *root; /* initial team of the contention group, possibly this team */
    void (*function)(void *);
    void *data;
    const void *site;
    uint64_t frame; /* on the master's stack: addresses above it are outside the region */
    uint32_t region;
    sg_barrier *barrier;
    sg_barrier *join;     /* the last barrier; a separate one if barriers can be cancelled */
    uint64_t address;     /* line of the descriptor that members read */
    uint64_t dock;        /* two lines of the barrier where members wait for the next region */
    sg_thread **starting; /* members about to start */
    sg_work *works;       /* head of the list, before the first construct */
    sg_pool *pool;        /* NULL until the first deferred task */
    sg_task *implicit;    /* one per member */
    bool cancelled, work_cancelled;
    bool shown; /* members report their affinity: OMP_DISPLAY_AFFINITY */
    /* State of the member that created the team, to return to. */
    uint32_t master_member;
    sg_work *master_work;
    sg_loop_turn master_turn;
    uint64_t master_chunk, master_last;
    bool master_in_ordered;
    sg_task *master_task;
    uint32_t master_partition_first, master_partition_count;
    /* For an initial team. */
    sg_team *spare;      /* this master's outermost teams */
    sg_thread **workers; /* by member of the outermost teams; the first entry is unused */
    uint32_t workers_count;
    uint32_t busy; /* threads in the contention group */
    uint32_t league_size, league_rank;
};

typedef struct sg_place {
    uint32_t count;
    const uint64_t *set;   /* of processors, as numbered for the program */
    const uint64_t *there; /* as numbered in the machine; NULL: not computed yet */
} sg_place;

typedef struct sg_omp {
    void (*give_team)(sg_thread *t); /* gives a thread that OpenMP did not start its own initial team */
    sg_icv icv;                      /* of an initial task */
    sg_thread outside;               /* stands in before the simulation begins and after it ends */
    sg_team *spare_teams;
    sg_work *spare_works;
    sg_task *spare_tasks;
    sg_taskgroup *spare_groups;
    sg_thread **docked; /* workers of nested teams that wait for work */
    uint32_t docked_count, docked_room;
    sg_lock *critical, *atomic;
    bool cancellation;
    bool central;     /* one task queue for all members */
    int max_priority; /* of tasks */
    uint32_t task_numbers;
    uint32_t *threads_list, *bind_list; /* by nesting level */
    uint32_t threads_count, bind_count;
    uint32_t teams, teams_thread_limit;
    uint32_t displayed; /* size of the last team displayed */
    sg_place *places;
    uint32_t places_count, places_room;
    char affinity_format[256];
    bool display_affinity;
} sg_omp;

/* ---- sg_omp_team.c ---- */

void sg_omp_open(void);
/* Creates a new sg->omp, for another process of the program. */
void sg_omp_renew(void);

/* The running thread, entering the runtime at `site`. */
static inline sg_thread *sg_member(const void *site)
{
    sg_processor *p = sg_now;
    sg_thread *t = p->thread;
    p->site = site;
    if (SG_UNLIKELY(t == NULL))
        t = &sg->omp->outside;
    if (SG_UNLIKELY(t->team == NULL))
        sg->omp->give_team(t);
    return t;
}

/* Runs function(data) in a team. `loop` and `sections` prepare the first worksharing construct. */
void sg_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags, const sg_loop *loop,
                 uint64_t sections, const void *site);
/* The same in two halves; in between, the caller does its own part in a team of `size`. */
void sg_parallel_begin(void (*function)(void *), void *data, uint32_t size, unsigned flags,
                       const sg_loop *loop, uint64_t sections, sg_taskgroup *group)
    __attribute__((noinline)); /* its frame is the boundary */
void sg_parallel_end(void);
/* Size of a team when `threads` are requested; 0: according to the control variables. */
uint32_t sg_team_size(const sg_thread *t, unsigned threads);
void sg_team_enter(sg_team *team, sg_thread *t, uint32_t member);
/* A member leaves a nested team for good. */
void sg_team_leave_nested(sg_team *team);

/* ---- sg_omp_worker.c ---- */

/* Finds and starts all members of `team` except the running thread, which began to fork at `from`. */
void sg_workers_start(sg_team *team, unsigned flags, uint64_t from);
/* Ends a member's part: runs the team's tasks, then waits at the last barrier. */
void sg_team_join(sg_thread *t, sg_team *team);
/* ---- sg_omp_call.c ---- */

/* Calls an outlined function of the program with a frame position that does not depend on the runtime's
 * frames. */
void sg_call_program(void (*function)(void *), void *data) __attribute__((noinline));
/* ---- sg_omp_barrier.c ---- */

void sg_team_barrier(const void *site);
/* Returns whether the region was cancelled. */
bool sg_team_barrier_cancel(const void *site);
/* ---- sg_omp_team.c ---- */

/* Enters a level with the running thread alone, as an initial thread; sg_team_leave_initial leaves it. */
void sg_team_enter_initial(sg_thread *t);
void sg_team_leave_initial(sg_thread *t);

/* ---- sg_omp_work.c ---- */

/* Goes on to the team's next construct; *first is set for the first member to arrive. */
sg_work *sg_work_enter(sg_thread *t, bool *first);
void sg_work_prepare(sg_work *work, const sg_loop *loop, uint32_t members);
sg_work *sg_work_new(void);
void sg_work_pass(sg_thread *t, sg_work *work);
/* `memory` requests *memory zeroed bytes, shared by all members of the construct. */
void sg_work_memory(sg_work *work, bool first, void **memory);
/* Next chunk of the loop for the running thread: iterations first..last-1. */
bool sg_work_chunk(sg_thread *t, sg_work *work, uint64_t *first, uint64_t *last);
sg_loop sg_loop_signed(enum sg_schedule schedule, long start, long end, long step, long chunk, bool ordered);
sg_loop sg_loop_unsigned(enum sg_schedule schedule, bool up, uint64_t start, uint64_t end, uint64_t step,
                         uint64_t chunk, bool ordered);
/* Decodes a schedule number from the compiler; *chosen: a schedule outside OpenMP. */
enum sg_schedule sg_schedule_decode(long code, uint64_t *chunk, const sg_chosen **chosen);
/* Enters the construct described by `loop` and gets its first chunk, unless `from` is NULL. */
bool sg_loop_start(const sg_loop *loop, uintptr_t *reductions, void **memory, uint64_t *from, uint64_t *to,
                   const void *site);
bool sg_loop_next(sg_thread *t, uint64_t *from, uint64_t *to);

/* ---- sg_omp_order.c ---- */

/* The current chunk of `t`, which ends before iteration `last`, is done: the next chunk may go on. */
void sg_order_pass(sg_thread *t, sg_work *work, uint64_t last);

/* ---- sg_omp_task.c ---- */

sg_task *sg_task_new(sg_thread *t, sg_task *parent, void (*function)(void *));
/* Counts a new deferred task in its parent, group and team. */
void sg_task_count(sg_task *task);
void sg_task_run(sg_task *task);
void sg_task_run_now(sg_task *task, void *data, void (*copy)(void *, void *), long size, long alignment);
/* The event of a detached task has happened. */
void sg_task_fulfill(sg_task *task);
/* The nearest enclosing task that is not complete. */
sg_task *sg_task_parent(sg_task *task);
bool sg_task_descends(sg_task *task, const sg_task *ancestor);
/* Wakes the thread that waits in `task`, if any. */
void sg_task_wake_waiter(sg_task *task);
void sg_task_drop(sg_task *task);
/* Copies `data` to a separate block, with the program's function or bytewise. */
void sg_task_argument(sg_task *task, void *data, void (*copy)(void *, void *), long size, long alignment);
bool sg_task_immediate(const sg_thread *t, bool deferred, uint64_t more);
/* A number, from 1, that no other unfinished task has. */
uint32_t sg_task_number(sg_task *task);
bool sg_task_cancelled(const sg_task *task);
static inline void sg_task_touch(uint64_t address, enum sg_access kind)
{
    sg_touch(sg_now, address, kind, SG_CATEGORY_PRIM_TASK);
}

/* ---- sg_omp_queue.c ---- */

sg_pool *sg_pool_of(sg_team *team);
/* Queues a task that has nothing left to wait for; wakes an idle thread. */
void sg_task_ready(sg_task *task);
/* Takes a task that may run within `current` (NULL: at a barrier, where all may) out of its queue, preferring
 * one of `group`; NULL: none. */
sg_task *sg_task_take(sg_thread *t, const sg_task *current, const sg_taskgroup *group);
/* Takes the lock of a central queue; false: the running thread already has it, or there is no such queue. */
bool sg_tasks_lock(sg_pool *pool);
/* Releases it, if the running thread has it. */
void sg_tasks_unlock(sg_pool *pool);
/* Does a central queue hold tasks, which any member at a barrier may take? */
bool sg_tasks_wait(const sg_pool *pool);

/* ---- sg_omp_wait.c ---- */

/* Waits in the running task until *count is 0, meanwhile running tasks that OpenMP allows here. */
void sg_task_wait(sg_thread *t, const uint32_t *count, sg_taskgroup *group, uint64_t address);
/* taskyield: runs one task, if one may run here. */
void sg_task_yield(sg_thread *t);
/* Runs the team's tasks until there is none to take. */
void sg_tasks_help(sg_thread *t);
/* The same until all are complete. */
void sg_tasks_drain(sg_thread *t);
sg_taskgroup *sg_taskgroup_start(sg_thread *t);
void sg_taskgroup_end(sg_thread *t);
void sg_taskgroup_drop(sg_taskgroup *group);

/* ---- sg_omp_depend.c ---- */

/* Registers `task` with its predecessors; their number is in task->missing. */
void sg_depend_register(sg_task *task, void **depend);
/* Waits in the running task until a child with these dependences could start. */
void sg_depend_wait(sg_thread *t, void **depend);
/* `task` is complete: forgets the dependences of its children. */
void sg_depend_drop(sg_task *task);

/* ---- sg_omp_reduce.c ---- */

void sg_reductions_register(uintptr_t *data, uintptr_t *outer, uintptr_t *first, uint32_t members);
/* Called by each member of a construct with task reductions: the first one's `data` gets memory for all. */
void sg_reductions_share(sg_thread *t, sg_work *work, bool first, uintptr_t *data);

/* ---- sg_omp_place.c ---- */

/* Writes the affinity of `t` to stderr; format NULL: the current one. */
void sg_omp_show_affinity(const sg_thread *t, const char *format);
/* Processors per abstract place: "ll_caches", "sockets", ... */
uint32_t sg_omp_place_size(const char *kind);
/* Reads OMP_PLACES or GOMP_CPU_AFFINITY; false: it is invalid and ignored. */
bool sg_places_read(const char *places, const char *affinity);
/* Binds member `member`, the thread `t`, of a team that the running thread creates, and sets its part of the
 * places; `flags` holds the proc_bind clause. Call for member 0 last. */
void sg_place_member(const sg_team *team, sg_thread *t, uint32_t member, unsigned flags);

/* ---- sg_omp_env.c ---- */

void sg_omp_environment(void);
void omp_set_affinity_format(const char *format);
/* Parses "kind[,chunk]" as in OMP_SCHEDULE. */
bool sg_schedule_parse(const char *text, sg_icv *icv);

#endif

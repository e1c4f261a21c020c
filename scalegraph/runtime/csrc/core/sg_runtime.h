/* The simulated processors, the threads that run on them, and their accounts: what all files of the runtime
 * share.
 *
 * A simulated processor is a clock; a thread is a coroutine that runs on one. The processor with the earliest
 * clock runs its thread; it keeps running while its references hit in its private caches (at most the quantum
 * ahead of the others) and gives way when it must go out to the memory system or its thread waits for
 * another. Threads that share a processor take turns. One host thread runs everything, so nothing here needs
 * a host lock. */
#ifndef SG_RUNTIME_H
#define SG_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sg_config.h"
#include "sg_format.h"
#include "sg_mem.h"

#define SG_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SG_API         __attribute__((visibility("default"), used))
#define SG_CALLER      __builtin_return_address(0)

/* Where things lie, the same in every run: the program's heap, the stacks of the simulated threads, the
 * addresses (never dereferenced) of the simulated runtime's own variables, and the arguments of main. */
#ifndef SG_BASE
#define SG_BASE 0ull /* else as a checker wants it that keeps low addresses for itself, see sg_fence.h */
#endif
#define SG_HEAP_BASE         (SG_BASE + 0x1000000000ull)
#define SG_STACK_BASE        (SG_BASE + 0x8000000000ull)
#define SG_OWN_HEAP_BASE     (SG_BASE + 0xa000000000ull)
#define SG_VARIABLE_BASE     (SG_BASE + 0xc000000000ull)
#define SG_ARGUMENT_BASE     (SG_BASE + 0xd000000000ull)
#define SG_ARGUMENT_POINTERS (1ull << 32) /* room for what points to them, before their texts */
#define SG_MAX_PROCESSORS    4096u
#define SG_MAX_THREADS       4096u /* at a time */
#define SG_REGION_DEPTH      256u
#define SG_EXIT_STATUS       99 /* of a program that the runtime had to stop */

#define SG_STALLS (SG_LEAF_STALL_CONTENTION - SG_LEAF_STALL_LOCAL + 1)
#define SG_EVENTS (SG_COUNTER_PAGE_MISSES - SG_COUNTER_L1_MISSES + 1)

typedef struct sg_processor sg_processor;
typedef struct sg_thread sg_thread;
typedef struct sg_team sg_team;
typedef struct sg_work sg_work;
typedef struct sg_task sg_task;

/* Blocks cost parts of cycles; a clock takes whole ones, and the rest waits in the account. */
#define SG_PARTS_SHIFT 10
#define SG_PARTS       (1ull << SG_PARTS_SHIFT)

/* What one execution of a basic block costs, times in parts of a cycle; the hook looks at the sum of them,
 * sg->block_parts, alone. */
typedef struct sg_block_cost {
    uint64_t busy[4]; /* busy_int, busy_fp, busy_mem, busy_control */
    uint64_t ops;
    uint64_t flops;
    uint64_t parts;
    uint64_t executions; /* by all processors; up to date after sg_accounts_settle */
} sg_block_cost;

/* What a processor has spent and done in a region. What changes at every reference and at every miss lies
 * side by side; the record of the result file, to which all is added in the end (sg_account_total), holds
 * the rest until then. Of blocks only the executions are counted, each by itself: what they cost together is
 * known in the end (sg_accounts_settle). */
typedef struct sg_account {
    uint64_t reads, writes;
    uint64_t parts;             /* of a cycle that the clock has not taken yet */
    uint64_t stall[SG_STALLS];  /* from SG_LEAF_STALL_LOCAL on */
    uint64_t events[SG_EVENTS]; /* counters from SG_COUNTER_L1_MISSES on */
    uint64_t busy[4];           /* the busy leaves, in parts of a cycle */
    uint64_t ops, flops;
    sg_cost rest;
    bool alone;            /* something was executed by a lone processor, see sg_blame.h */
    uint64_t executions[]; /* by block; then again, those by a lone processor */
} __attribute__((aligned(64))) sg_account;

/* What happened at one code address besides the execution of blocks. */
typedef struct sg_site_count {
    uint64_t address;
    uint64_t misses;
    uint64_t references; /* that the runtime counted here itself */
    bool hook;           /* besides, each execution of the block is one reference */
    uint64_t cycles[SG_GROUP_COUNT];
    uint64_t remote, upgrades, invalidations;
    uint64_t causes[SG_CAUSE_COUNT]; /* misses by cause */
} sg_site_count;

/* Threads in the order in which they came; a thread is in one queue at most. */
typedef struct sg_queue {
    sg_thread *head, *tail;
} sg_queue;

enum sg_state {
    SG_UNUSED,  /* free for a new thread */
    SG_READY,   /* waits in the run queue of its processor */
    SG_RUNNING, /* is the thread of its processor, whether that one's clock is the earliest or not */
    SG_BLOCKED, /* waits for another thread, or for a time */
    SG_ENDED,   /* waits for somebody who asks how it ended */
};

/* A reference that waits until its processor is the earliest. */
typedef struct sg_pending {
    uint64_t address; /* 0: none */
    uint32_t size;    /* within the line */
    uint8_t kind;     /* enum sg_access */
    uint8_t cause;    /* enum sg_cause */
    int16_t leaf;     /* to which everything is charged that it costs; -1: each cost to its own */
} sg_pending;

/* What the scheduler needs of a processor that waits for its turn, and what it asks the host's memory for
 * early; side by side for all processors, because a processor's own memory is cold by then. */
typedef struct sg_coroutine {
    void *stack_pointer; /* of its thread */
    sg_account *account;
    sg_pending pending;
} sg_coroutine;

struct sg_processor {
    /* One cache line of the host, read by every hook. */
    uint64_t clock;
    uint64_t limit;      /* beyond this clock another processor must get its chance */
    sg_account *account; /* of the current region */
    uint64_t *filter;    /* sg_filter of the memory system */
    uint64_t mask;
    uint32_t shift;
    uint32_t id;
    const uint32_t *block_of;    /* code address -> number of its block (biased: index by the address) */
    const uint64_t *block_parts; /* by that number: what an execution costs */
    /* The next line: for switches and slow references. */
    const void *site; /* code address of the call that entered the runtime last */
    void *thread_pointer;
    sg_coroutine *coroutine; /* NULL: not simulated, before the beginning or after the end */
    uint64_t *rest;
    uint32_t rest_ways, hit_cycles;
    sg_thread *thread;  /* that runs on it; NULL: none, it is idle */
    sg_queue ready;     /* threads that wait until it is their turn */
    uint64_t slice_end; /* clock from which on the next of those may run */
    sg_thread *last;    /* the thread that ran last */
    uint32_t waiting;   /* length of the queue */
    uint32_t accounts_size;
    sg_account **accounts; /* by region */
    bool worked;           /* a thread has run on it */
    uint64_t stretches;    /* sg_blame.c: length of the serial stretches until it came to rest */
} __attribute__((aligned(64)));

/* How long a thread's way was held up so far, and where last; by enum sg_blamed, without serial code. */
typedef struct sg_path {
    uint64_t cycles[SG_BLAME_COUNT];
    const void *site[SG_BLAME_COUNT];
    uint32_t region[SG_BLAME_COUNT];
} sg_path;

struct sg_thread {
    /* While it is on no processor: where to go on, and the code address at which it entered the runtime. */
    void *stack_pointer;
    void *thread_pointer;
    const void *site;
    sg_processor *processor; /* on which it runs or ran last; NULL: none yet */
    uint32_t id;
    enum sg_state state;
    /* Waiting. */
    enum sg_leaf wait_leaf;
    int32_t wait_holder; /* number of a thread; -1: nobody in particular */
    uint64_t wait_object;
    sg_thread *next_waiting;
    sg_queue *queue; /* in which it waits; it may run on until it suspends itself, and lose its processor */
    bool granted;    /* taken from that queue: what it waits for is its own */
    sg_thread *next_ready; /* behind it on its processor */
    uint64_t ready_at;
    uint64_t since;  /* clock at which it was put on its processor */
    uint64_t synced; /* writes that had been seen when it synchronised last, see sg_race.h */
    uint64_t learned, learned_number, learned_else;
    uint64_t deadline; /* of a timed wait */
    sg_thread *next_timed;
    bool timed, timed_out;
    uint32_t ticket;
    /* What it waits for, see sg_blame.h. */
    bool in_runtime; /* it runs, but what it does is no code of the program */
    sg_path path;
    uint64_t late[SG_BLAME_COUNT]; /* of this wait so much at most is due to what held up others */
    uint64_t complete;             /* when all had come to the barrier; SG_NEVER: that is not asked */
    const uint64_t *places;        /* bit set of the processors it may run on; NULL: all */
    const sg_policy *policy; /* where the pages live that it touches first; NULL: where the machine says */
    /* Coroutine. */
    void (*entry)(void);
    char *stack_low; /* its guard page, in front of the stack; NULL: the program's own stack */
    uint64_t stack_size;
    volatile uint32_t parked; /* state of the host's thread: 0 none, 1 sleeps, 2 shall end */
    pthread_t host;
    struct sg_posix *posix;
    /* Regions. */
    uint32_t depth;
    uint32_t *stack_of_regions;
    /* OpenMP. */
    sg_team *team;
    uint32_t member;
    sg_team *initial;      /* its own, outside all parallel regions; NULL before it asks */
    sg_team *start;        /* team that this docked worker shall join */
    uint32_t start_member; /* as this member */
    sg_work *work;         /* worksharing construct entered last */
    uint64_t static_trip;
    uint64_t ordered_chunk; /* first iteration of the running chunk of an ordered loop */
    uint64_t ordered_last;  /* and the first one behind it */
    bool in_ordered;        /* such a chunk is running */
    sg_task *task;
    uint32_t yields;                           /* tasks that run above a taskyield */
    uint32_t place;                            /* of OMP_PLACES, from 1 on; 0: none */
    uint32_t partition_first, partition_count; /* places that its teams share out */
    uint64_t variable; /* address of this thread's own line of simulated runtime variables */
} __attribute__((aligned(64)));

typedef struct sg_context {
    sg_config config;
    sg_mem *mem;
    sg_processor *processor; /* array of config.processors */
    sg_coroutine *coroutine; /* likewise */
    uint32_t processors;
    sg_thread **thread; /* by number; SG_MAX_THREADS places */
    uint32_t threads;   /* places in use so far */
    /* Processors with a thread but the running one, by clock << SG_KEY_BITS | number: sg_order.h. */
    uint64_t *order;
    uint32_t order_leaves, free_leaves;
    uint32_t *leaf_of, *free_leaf;
    uint64_t idle[SG_MAX_PROCESSORS / 64]; /* bit set of the processors without a thread */
    uint32_t waiting;                      /* threads in run queues */
    uint32_t running;                      /* processors with a thread; one more if there is only one */
    uint32_t lock_waiters;                 /* threads that wait for locks */
    bool lone_due;                         /* a serial stretch begins at clock rest_since */
    uint64_t rest_since;                   /* the latest clock of those without a thread */
    sg_processor *lone;                    /* that executes serial code now; NULL: none */
    struct sg_blames *blame;
    sg_thread *timed;      /* threads in timed waits, the earliest first */
    uint64_t timer;        /* time of the timer's entry in the order; UINT64_MAX: none */
    uint64_t thread_data;  /* bytes of the program's and the libraries' thread-local data */
    uint64_t large_stacks; /* bytes of stacks that are larger than the run's */
    bool fast_thread_pointer;
    bool alone; /* runs by itself, without the simulator */
    bool check;
    bool finished;
    union {
        volatile uint64_t attention; /* not 0: one of these */
        struct {
            volatile int stop_signal; /* SIGTERM arrived: stop at the next safe place */
            int tracing;              /* there is a trace */
        };
    };
    void *host_stack; /* of the real main thread */
    void *host_thread;
    uint64_t line_bytes;
    uint64_t next_variable;
    uint64_t first_variable; /* lines of the first threads, as many as there are processors */
    uint64_t host_start_ns;
    int exit_code;
    uint32_t team_max;
    bool arena_exhausted;
    uint64_t arena_request;
    /* Code addresses. */
    uintptr_t text_low, text_high;
    uint32_t *block_index;    /* by offset in the text */
    uint32_t *lone_index;     /* the same with the numbers for a lone processor: blocks_count greater */
    uint32_t *no_block_index; /* the same for code outside the simulation: all zero */
    sg_block_cost *blocks;
    uint64_t *block_parts; /* of blocks; or SG_TRAP_PARTS */
    uint64_t *block_address;
    uint32_t blocks_count;
    char *accounts_next; /* free memory for accounts */
    size_t accounts_left;
    uint32_t *site_index;
    sg_site_count *sites;
    uint32_t sites_count;
    /* Spare record of one slow access, all zero between accesses. */
    sg_outcome outcome;
    /* OpenMP. */
    struct sg_omp *omp;
    struct sg_locks *locks;
    struct kept *policies;    /* sg_numa.c */
    struct sg_whatif *whatif; /* virtual speedups; NULL: none */
    bool primitives_differ;   /* synchronisation is free, or a lock is scaled */
    struct sg_futexes *futexes;
    struct named *semaphores;
    struct sg_file *files;    /* streams that were locked once */
    struct sg_system *system; /* sg_system.c; NULL: nobody has asked */
    bool robust;              /* the program has used a robust mutex */
    char warnings[1024];
    /* What happened, by cause. */
    struct sg_causes {
        struct sg_cause_region **region;
        uint32_t regions;
    } causes_by_region;
    struct sg_variables_state *variables; /* what lies at an address */
    struct sg_classes *classes;           /* NULL unless misses are classified */
    struct sg_trace *trace;               /* sg_trace.h; NULL: nothing is traced (any more) */
    struct sg_trace_file *trace_file;
    bool regions_watched; /* by virtual speedups or a trace */
} sg_context;

/* No clock gets there; as a deadline: never. A block whose cost is scaled has SG_TRAP cycles, beyond every
 * limit. */
#define SG_NEVER      (SG_TRAP - 1)
#define SG_TRAP       (1ull << 53)
#define SG_TRAP_PARTS (SG_TRAP << SG_PARTS_SHIFT)

/* Behind the processors' numbers there is one more in the order: the timer of all timed waits. */
#define SG_KEY_BITS 13
#define SG_KEY_MASK ((1ull << SG_KEY_BITS) - 1)
#define SG_TIMER    SG_MAX_PROCESSORS

/* The two global variables of the runtime: its state, and the processor that runs now. */
extern sg_context *sg;
extern sg_processor *sg_now;

/* ---- sg_cost.c: accounts, regions, sites ---- */

extern const uint8_t sg_leaf_group[SG_LEAF_COUNT];

void sg_cost_open(void);
/* Zeroed memory that costs nothing until it is used. */
void *sg_reserve(size_t size);
/* Maps a whole file; returns NULL when it is empty or cannot be read. */
const char *sg_map_file(const char *path, size_t *size);
/* Makes `region` the only region of `t` (a worker that joins a team). */
void sg_regions_reset(sg_thread *t, uint32_t region);
sg_account *sg_account_of(sg_processor *p, uint32_t region);
/* Adds the costs of all blocks executed so far to the accounts and to sg->blocks. */
void sg_accounts_settle(void);
/* All of a settled account as a record of the result file. */
void sg_account_total(const sg_account *account, sg_cost *total);
uint32_t sg_region(const sg_thread *t);
/* Continues the running thread in `region`, and then where it was when its depth was `depth`. */
void sg_regions_push(sg_thread *t, uint32_t region);
void sg_regions_pop(sg_thread *t, uint32_t depth);
sg_site_count *sg_site_new(uintptr_t address);

/* The record of a code address; number 0 stands for all addresses outside the program. */
static inline sg_site_count *sg_site_of(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    if (SG_UNLIKELY(at - sg->text_low > sg->text_high - sg->text_low))
        return &sg->sites[0];
    uint32_t index = sg->site_index[at - sg->text_low];
    return SG_LIKELY(index != 0) ? &sg->sites[index] : sg_site_new(at);
}

/* sg_whatif.c: what `cycles` of a primitive cost in this run. */
uint64_t sg_whatif_primitive(sg_processor *p, enum sg_leaf leaf, uint64_t cycles);

/* The only way in which a clock advances, apart from sg_hooks.c's block hook: time and account move together.
 * Returns the cycles: what they are usually, but where primitives differ (sg_whatif.h). */
static inline uint64_t sg_charge(sg_processor *p, enum sg_leaf leaf, uint64_t cycles)
{
    if (SG_UNLIKELY(sg->primitives_differ))
        cycles = sg_whatif_primitive(p, leaf, cycles);
    p->clock += cycles;
    p->account->rest.leaves[leaf] += cycles;
    return cycles;
}

/* The same, recorded also for the code address at which `p` entered the runtime. */
static inline void sg_charge_site(sg_processor *p, enum sg_leaf leaf, uint64_t cycles)
{
    sg_site_of(p->site)->cycles[sg_leaf_group[leaf]] += sg_charge(p, leaf, cycles);
}

static inline void sg_count(sg_processor *p, enum sg_counter counter, uint64_t n)
{
    p->account->rest.counters[counter] += n;
}

/* ---- sg_sched.c: which thread runs where, and when ---- */

/* The running thread; NULL before the simulation and after its end. */
static inline sg_thread *sg_self(void)
{
    return sg_now->thread;
}

void sg_sched_open(void);
/* Leaves the host's stack for good and continues in `entry` as thread 0 on processor 0. */
void sg_sched_enter(void (*entry)(void)) __attribute__((noreturn));
/* Begins the simulation before main: what runs is thread 0 from now on, on the host's stack until
 * sg_sched_continue gives it its own and runs `entry` there. */
void sg_sched_begin(void);
void sg_sched_continue(void (*entry)(void)) __attribute__((noreturn));
/* sg_start.c: the program, which has entered the runtime at `site` before main, is to be simulated from here
 * on. False: it has ended already. */
bool sg_begin_early(const void *site);
/* Returns when no processor with a thread has an earlier clock (ties: smaller number first), and p's pending
 * reference, if it has one, is done. The thread stays on `p`. */
void sg_turn_slow(sg_processor *p);
/* Called when a processor has run its quantum ahead of the others, or its thread's time slice has ended. The
 * thread may be on another processor afterwards, as after sg_suspend: read sg_now again. */
void sg_yield(sg_processor *p, const void *site);
/* The same whatever the limit is. */
void sg_give_way(sg_processor *p, const void *site);
/* Lets the other threads of the running thread's processor run first. */
void sg_pass(const void *site);
/* The running thread waits until sg_wake. The time for which its processor finds nothing else to do is
 * charged to `leaf` of whoever runs there next. `holder` is -1 when nobody in particular. */
void sg_suspend(enum sg_leaf leaf, uint64_t object, int32_t holder);
/* The same, at most until the clock `deadline`; false: nobody woke it, and it has left its queue. */
bool sg_suspend_until(enum sg_leaf leaf, uint64_t object, int32_t holder, uint64_t deadline);
/* Makes the blocked thread `t` ready at time `when`. */
void sg_wake(sg_thread *t, uint64_t when);
void sg_refresh_limit(sg_processor *p);

/* ---- sg_thread.c: threads come and go ---- */

void sg_thread_open(void);
/* From one stack to the next, from SG_STACK_BASE on. */
uint64_t sg_stack_stride(void);
/* A thread with a stack and a thread pointer, not yet started, in the regions of the running one. Stops the
 * run when there are SG_MAX_THREADS. */
sg_thread *sg_thread_new(void);
/* Makes `count` threads at once, so that the host starts them side by side; later calls of sg_thread_new
 * take those. */
void sg_thread_prepare(uint32_t count);
/* Makes a new thread run `entry`, which must not return, from time `when` on. */
void sg_thread_start(sg_thread *t, void (*entry)(void), uint64_t when);
/* The same with a stack of at least `stack_size` bytes, or with the program's own at `stack`, if not NULL.
 * NULL: that one is too small. */
sg_thread *sg_thread_new_on(void *stack, size_t stack_size);
/* Ends the running thread for good. */
void sg_thread_end(void) __attribute__((noreturn));
/* Gives back the host's thread and the number of a thread that has ended. */
void sg_thread_free(sg_thread *t);
/* Gives `t`, which will run main, what constructors have written into the program's thread-local data. */
void sg_thread_adopt_data(sg_thread *t);
/* May thread `t` run on processor number `id`? */
static inline bool sg_thread_fits(const sg_thread *t, uint32_t id)
{
    return t->places == NULL || (t->places[id / 64] >> id % 64 & 1) != 0;
}

static inline uint64_t sg_key(const sg_processor *p)
{
    return p->clock << SG_KEY_BITS | p->id;
}

/* Key of the earliest of the processors that wait for their turn; UINT64_MAX: there are none. */
static inline uint64_t sg_first_key(void)
{
    return sg->order[1];
}

/* Is some ready processor earlier than `p`? */
static inline bool sg_is_late(const sg_processor *p)
{
    return sg_first_key() < sg_key(p);
}

static inline void sg_turn(sg_processor *p)
{
    if (sg_is_late(p))
        sg_turn_slow(p);
}

/* `t` waits in `queue`: from now on, even if it has something to do yet before it suspends itself. */
void sg_queue_add(sg_queue *queue, sg_thread *t);

static inline sg_thread *sg_queue_take(sg_queue *queue)
{
    sg_thread *t = queue->head;
    if (t != NULL) {
        t->queue = NULL;
        if ((queue->head = t->next_waiting) == NULL)
            queue->tail = NULL;
    }
    return t;
}

/* Takes `t` out of the queue in which it stands, if any. */
void sg_queue_remove(sg_thread *t);
void sg_wake_all(sg_queue *queue, uint64_t when);

/* ---- sg_hooks.c: references ---- */

/* Is a reference within one line answered by the filter? */
static inline bool sg_filtered(const sg_processor *p, uint64_t address, enum sg_access kind)
{
    uint64_t line = address >> p->shift;
    return sg_filter_answers(p->filter[line & p->mask], line, kind == SG_READ);
}

/* A reference of the program that the filter did not answer; `size` may span lines. */
void sg_reference(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
    __attribute__((noinline)); /* so that the hooks need no frame */
/* A reference of the simulated runtime itself, at p->site, with everything that it costs charged to
 * `leaf`; waits for its turn first, so that nobody else runs between the access and what the caller does
 * next. */
void sg_touch(sg_processor *p, uint64_t address, enum sg_access kind, enum sg_leaf leaf);
/* Counts references of `p` that are made at p->site by the runtime or by the C library. */
static inline void sg_count_references(sg_processor *p, enum sg_access kind, uint64_t reads_or_writes)
{
    if (kind != SG_WRITE)
        p->account->reads += reads_or_writes;
    if (kind != SG_READ)
        p->account->writes += reads_or_writes;
    sg_site_of(p->site)->references += kind == SG_RMW ? 2 * reads_or_writes : reads_or_writes;
}

/* Does the pending reference of `p`, whose turn it is. */
void sg_perform(sg_processor *p);
/* A bulk operation of libc: every line of the range is referenced, every word issued. */
void sg_reference_range(const void *address, size_t size, enum sg_access kind, const void *site);

/* ---- sg_sync.c, sg_lock.c: barriers and locks, in simulated memory ---- */

typedef struct sg_barrier sg_barrier;
typedef struct sg_lock sg_lock;

sg_barrier *sg_barrier_new(uint32_t members);
/* The barrier is the program's variable at `object`. */
void sg_barrier_name(sg_barrier *barrier, uint64_t object);
/* `member` is the caller's number in 0..members-1; costs go to `leaf`, waiting to idle_barrier. */
void sg_barrier_wait(sg_barrier *barrier, uint32_t member, enum sg_leaf leaf);
/* The same for members that are any threads; returns the number that this one got by coming so early. */
uint32_t sg_barrier_come(sg_barrier *barrier, enum sg_leaf leaf);

/* What the threads at a barrier do for the barrier's user. */
typedef struct sg_barrier_duty {
    void (*help)(void);  /* of a thread that was borrowed, before it waits again */
    void (*drain)(void); /* of the last one to arrive, before it releases the others */
    bool (*tasks)(void); /* is it for tasks that one waits there? */
} sg_barrier_duty;

void sg_barrier_employ(sg_barrier *barrier, const sg_barrier_duty *duty);
/* Takes a waiting thread out of the barrier, to be woken by the caller; NULL: none waits. */
sg_thread *sg_barrier_borrow(sg_barrier *barrier);
/* Whoever is at the barrier or comes to it passes, until it is mended when nobody is there any more. */
void sg_barrier_break(sg_barrier *barrier);
void sg_barrier_mend(sg_barrier *barrier);

sg_lock *sg_lock_new(uint64_t object);
/* The lock that belongs to the program's variable at `object`, made on first use. */
sg_lock *sg_lock_at(const void *object);
void sg_lock_forget(const void *object);
/* Test and set, whatever the machine's kind of lock; costs go to `leaf`, waiting to `wait`. */
void sg_lock_spin(sg_lock *lock, enum sg_leaf leaf, enum sg_leaf wait);
void sg_lock_unspin(sg_lock *lock, enum sg_leaf leaf);
/* For the running thread. */
void sg_lock_acquire(sg_lock *lock);
/* The same, at most until the clock `deadline`; false: it was in vain. */
bool sg_lock_acquire_until(sg_lock *lock, uint64_t deadline);
bool sg_lock_try(sg_lock *lock);
void sg_lock_release(sg_lock *lock);
/* Who comes after a holder that ends shall know. */
void sg_lock_make_robust(sg_lock *lock);
/* A robust lock that thread `id`, which ends, has still; not told twice. NULL: there is none (any more). */
sg_lock *sg_lock_bequeathed(int32_t id, uint64_t *object);
/* Number of the thread that has it, or -1. */
int32_t sg_lock_holder(const sg_lock *lock);

/* Length of a line that no two variables of the simulated runtime share. */
uint64_t sg_line_bytes(void);
/* Addresses for the simulated runtime's own variables, whole lines, zero host memory; `own` says whose. */
uint64_t sg_variables_of(uint64_t lines, enum sg_own own);
static inline uint64_t sg_variables(uint64_t lines)
{
    return sg_variables_of(lines, SG_OWN_VARIOUS);
}

/* ---- sg_alloc.c ---- */

/* Zeroed memory of the runtime itself, never given back. */
void *sg_new(size_t size);

/* Such memory that begins with `used` bytes of `old`, which may be NULL if there are none. */
void *sg_larger(const void *old, size_t used, size_t size);
/* Between these two, malloc serves the runtime (threads, directories), not the program's heap. */
void sg_alloc_own(bool own);
void sg_alloc_limit(uint64_t bytes);
/* Where the program's heap will grow. */
void sg_alloc_ahead(uint64_t *low, uint64_t *high);
/* Stack-like copy into the program's heap. */
char *sg_alloc_string(const char *text);

/* ---- sg_cause.c ---- */

/* Adds to `fault`, if it is empty, a sentence when the parts by cause, variable or class do not add up. */
void sg_cause_check(char *fault, size_t size);
/* Writers of sections of the result file: return the number of records, write them unless `w` is NULL. */
struct sg_writer;
uint64_t sg_cause_put(struct sg_writer *w);
uint64_t sg_width_put(struct sg_writer *w);
uint64_t sg_resource_put(struct sg_writer *w);

/* ---- sg_result.c, sg_fault.c ---- */

/* Writes into the result file; nothing when `w` is NULL. */
void sg_put(struct sg_writer *w, const void *data, size_t size);

/* Writes the result file. `message` is one plain sentence or "". */
void sg_result_write(enum sg_status status, const char *message, int signal_number);
/* Adds a remark to the result's warnings, once. */
void sg_warn(const char *remark);
void sg_fault_open(void);
/* Ends the program: result file, one sentence on stderr, exit. */
void sg_stop(enum sg_status status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void sg_stop_deadlock(void) __attribute__((noreturn));
void sg_stop_timeout(void) __attribute__((noreturn));
/* The end of a program that ends by itself: pads every account and checks the identity. */
void sg_finish(void);
/* From now on the hooks do nothing. */
void sg_finish_hooks(void);
void sg_say(const char *message);
uint64_t sg_host_ns(void);

/* ---- sg_process.c, sg_map.c: system calls ---- */

/* The program sends a signal, or maps memory, with the arguments of the system call; an error is negative. */
long sg_signal_call(long process, long number);
long sg_map_call(const long a[6]);
long sg_remap_call(const long a[6]);
long sg_attach_call(const long a[6]);
/* sg_fault.c: the program raises a signal in itself at p->site. */
void sg_fault_raise(int number);

/* ---- sg_numa.c ---- */

void sg_numa_open(void);
/* Nodes of memory of the machine, as the program counts them. */
uint32_t sg_numa_nodes(void);
/* mbind, set_mempolicy or get_mempolicy by the number of the system call; an error is negative. */
long sg_numa_call(long number, const long a[6]);

/* ---- sg_omp_team.c ---- */

void sg_omp_open(void);
/* Makes `t` the only member of a team of its own, outside all parallel regions, when it first asks for it. */
void sg_omp_adopt(sg_thread *t);

#endif

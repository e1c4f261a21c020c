/* The simulated processors, their threads and accounts, and the state of the runtime.
 *
 * A simulated processor is a clock; a thread is a coroutine that runs on one. The processor with the
 * earliest clock runs its thread. It keeps running while its references hit in its private caches (at most
 * the quantum ahead of the others) and yields when it must access the memory system or its thread waits
 * for another. Threads that share a processor take turns. One host thread runs everything, so nothing here
 * needs a host lock. */
#ifndef SG_STATE_H
#define SG_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sg_access.h"
#include "sg_config.h"
#include "sg_format.h"
#include "sg_loop_turn.h"

#define SG_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SG_API         __attribute__((visibility("default"), used))
#define SG_CALLER      __builtin_return_address(0)

/* The memory layout, the same in every run: the program's heap, the stacks of the simulated threads, the
 * addresses (never dereferenced) of the simulated runtime's own variables, and the arguments of main. */
#ifndef SG_BASE
#define SG_BASE 0ull /* or else where a sanitizer that reserves low addresses wants it, see sg_fence.h */
#endif
#define SG_HEAP_BASE         (SG_BASE + 0x1000000000ull)
#define SG_STACK_BASE        (SG_BASE + 0x8000000000ull)
#define SG_OWN_HEAP_BASE     (SG_BASE + 0xa000000000ull)
#define SG_VARIABLE_BASE     (SG_BASE + 0xc000000000ull)
#define SG_ARGUMENT_BASE     (SG_BASE + 0xd000000000ull)
#define SG_TRACE_BASE        (SG_BASE + 0xe000000000ull)
#define SG_IMAGE_BASE        (SG_BASE + 0xf000000000ull)
#define SG_ARGUMENT_POINTERS (1ull << 32) /* room for the pointers to them, before their text */
/* Heaps of the ranks except the first, which has the one above. */
#define SG_RANK_HEAP_BASE  (SG_BASE + 0x100000000000ull)
#define SG_RANK_HEAP_BYTES (1ull << 32)
#define SG_MAX_PROCESSORS  16384u
#define SG_MAX_THREADS     16896u /* at a time */
#define SG_FEW_THREADS     8704u  /* the same on up to SG_FEW_PROCESSORS */
#define SG_FEW_PROCESSORS  8192u
#define SG_REGION_DEPTH    256u
#define SG_EXIT_STATUS     99 /* of a program that the runtime had to stop */

#define SG_STALLS (SG_CATEGORY_STALL_CONTENTION - SG_CATEGORY_STALL_LOCAL + 1)
#define SG_EVENTS (SG_COUNTER_PAGE_MISSES - SG_COUNTER_L1_MISSES + 1)

typedef struct sg_processor sg_processor;
typedef struct sg_thread sg_thread;
typedef struct sg_team sg_team;
typedef struct sg_work sg_work;
typedef struct sg_task sg_task;
typedef struct sg_rank sg_rank;

/* Blocks cost fractions of cycles ("parts"). The fraction below a whole cycle is carried in a region's
 * account. */
#define SG_PARTS_SHIFT 10
#define SG_PARTS       (1ull << SG_PARTS_SHIFT)

/* Cost of one execution of a basic block, in parts of a cycle; hooks read only the sum, sg->block_parts. */
typedef struct sg_block_cost {
    uint64_t busy[4]; /* busy_int, busy_fp, busy_mem, busy_control */
    uint64_t ops;
    uint64_t flops;
    uint64_t parts;
    uint64_t executions; /* by all processors; valid after sg_accounts_settle */
    uint64_t more;       /* extra parts on nodes of another speed; may be "negative" */
} sg_block_cost;

/* Block costs on nodes of one speed. */
typedef struct sg_speed {
    sg_block_cost *blocks; /* busy, ops, flops and parts at this speed */
    uint64_t *parts; /* of blocks, or SG_TRAP_PARTS; again for a lone processor, from executions_count on */
    const uint64_t *slot_parts; /* of slots (biased: index by a slot's address) */
} sg_speed;

/* What one entry of sg_account.executions counts: an execution of a block, and references. */
#define SG_NO_BLOCK UINT32_MAX
typedef struct sg_slot {
    uint32_t block; /* SG_NO_BLOCK: only references */
    uint32_t reads, writes;
} sg_slot;

/* References after a hook in its code segment. */
typedef struct sg_behind {
    uint16_t reads, writes;
} sg_behind;

/* The account of a region on a processor. What changes with each reference or miss lies side by side; the
 * result file's record, to which sg_account_total adds everything at the end, holds the rest. Of blocks only
 * executions are counted until the end (sg_accounts_settle). */
typedef struct sg_account {
    uint64_t changed; /* SG_SUMS_CHANGED, .., since the last snapshot (observe/sg_cells.c) */
    uint64_t reads, writes;
    uint64_t parts;             /* see sg_account_parts */
    uint64_t stall[SG_STALLS];  /* from SG_CATEGORY_STALL_LOCAL on */
    uint64_t events[SG_EVENTS]; /* counters from SG_COUNTER_L1_MISSES on */
    uint64_t busy[4];           /* the busy categories, in parts of a cycle */
    uint64_t ops, flops;
    sg_cost rest;
    bool alone, called; /* counted: by a lone processor (observe/sg_blame.c); by a hook that is called */
    bool touched;       /* since elements of a SIMD machine were together, see messages/sg_step.c */
    struct sg_account *next_touched, *next_changed;
    uint64_t executions[]; /* by block, then by slot; then the same for a lone processor */
} __attribute__((aligned(64))) sg_account;

/* What happened at one code address besides the execution of blocks. */
typedef struct sg_site_count {
    uint64_t address;
    uint64_t misses;
    uint64_t references; /* counted here by the runtime itself */
    uint32_t load;       /* see sg_overlap.h */
    bool hook;           /* each execution of the block is one more reference */
    uint64_t cycles[SG_GROUP_COUNT];
    uint64_t remote, upgrades, invalidations;
    uint64_t causes[SG_CAUSE_COUNT]; /* misses by cause */
} sg_site_count;

/* Threads in order of arrival; a thread is in at most one queue. */
typedef struct sg_queue {
    sg_thread *head, *tail;
} sg_queue;

enum sg_state {
    SG_UNUSED,  /* free for a new thread */
    SG_READY,   /* waits in its processor's run queue */
    SG_RUNNING, /* its processor's thread, whether or not that clock is the earliest */
    SG_BLOCKED, /* waits for another thread or for a time */
    SG_ENDED,   /* ended, but not yet joined */
};

/* A reference that waits until its processor is the earliest. */
typedef struct sg_pending {
    uint64_t address; /* 0: none */
    uint32_t size;    /* within the line */
    uint8_t kind;     /* enum sg_access */
    uint8_t cause;    /* enum sg_cause */
    int16_t category; /* charge everything to this one; -1: each cost to its own */
} sg_pending;

/* A processor's effect on others, performed later, when they reach its clock; the processor has moved on
 * meanwhile. */
typedef struct sg_deferred {
    struct sg_deferred *next;
    uint64_t clock;
    void (*perform)(struct sg_deferred *d); /* on neither the thread nor its processor */
} sg_deferred;

/* What the scheduler needs of a waiting processor, and what it prefetches early; side by side for all
 * processors, because a processor's own memory is cold by then. */
typedef struct sg_coroutine {
    void *stack_pointer; /* of its thread */
    sg_account *account;
    sg_pending pending;
    sg_thread *thread;
    const void *needs;     /* what its thread will read first, besides its stack */
    sg_deferred *deferred; /* the last of a ring; NULL: empty. The first one's time is in the order. */
    bool exact;            /* it waits until no processor at all is earlier */
    bool queued;           /* besides its deferred operations, it waits for its own turn */
    bool settles;          /* it waits for the turn that was due, not for one at its clock */
    uint32_t site;         /* number of the pending reference's site */
} __attribute__((aligned(64))) sg_coroutine;

/* A step of a processor's path that needs no more than being followed: see sg_branch.h. */
typedef struct sg_quick {
    uint32_t site;      /* low half of the address that the next block's hook returns to; 0: none */
    int32_t way;        /* bytes from here to what is expected after that block */
    int32_t left, most; /* how many such steps may be taken, and that when the predictor was last told */
} sg_quick;

struct sg_processor {
    /* One cache line of the host, read by every hook. */
    union {
        uint64_t time; /* in parts of a cycle: block costs are added to it */
        struct {
            uint64_t parts : SG_PARTS_SHIFT; /* already taken by the current region's account */
            uint64_t clock : 64 - SG_PARTS_SHIFT;
        };
    };
    union {
        uint64_t time_limit; /* the last part within the limit */
        struct {
            uint64_t limit_parts : SG_PARTS_SHIFT;
            uint64_t limit : 64 - SG_PARTS_SHIFT; /* beyond this clock another processor must get its turn */
        };
    };
    sg_account *account;        /* of the current region */
    uintptr_t executed;         /* execution counts of slots there (biased: plus a slot's address) */
    const uint64_t *slot_parts; /* of sg_speed */
    const uint64_t *fast;       /* searched by inlined hooks: the filter, or one that never hits */
    sg_quick *quick;            /* what is expected next, see sg_branch.h */
    uint32_t shift;
    uint32_t id;
    /* The next line: for hooks that are called, for switches and slow references. */
    uint64_t *filter; /* sg_filter of the memory system */
    uint64_t mask;
    uint64_t *rest;
    uint32_t rest_ways, hit_cycles;
    sg_coroutine *coroutine;     /* NULL: not simulated (before or after the simulation) */
    const void *site;            /* code address of the last call into the runtime */
    const uint32_t *block_of;    /* block number by code address (biased: index by the address) */
    const uint64_t *block_parts; /* cost of an execution, by block number */
    /* For switches. */
    void *thread_pointer;
    uint64_t turn_due;  /* clock of the last turn it skipped since it had one; 0: none */
    sg_thread *thread;  /* NULL: it is idle */
    sg_queue ready;     /* threads that wait for their turn */
    uint64_t slice_end; /* clock from which the next of them may run */
    sg_thread *last;    /* the last thread that ran */
    uint32_t waiting;   /* length of the queue */
    uint32_t accounts_size;
    sg_account **accounts;   /* by region */
    bool worked;             /* has ever had a thread */
    uint32_t together;       /* references of the runtime that overlap; 0: one */
    uintptr_t executed_from; /* from an account to its `executed` */
    uint64_t stretches;      /* sg_blame.c: total length of the serial stretches until it became idle */
} __attribute__((aligned(64)));

/* A partner in a communicator: its rank among all, or SG_TALK_NOBODY. */
typedef struct sg_talk {
    uint32_t context; /* of the communicator; that number plus 1 for its collective operations */
    int32_t peer;
} sg_talk;

/* How long a thread's path was delayed so far, and where last; by enum sg_blamed, without serial code. */
typedef struct sg_path {
    uint64_t cycles[SG_BLAME_COUNT];
    const void *site[SG_BLAME_COUNT];
    uint32_t region[SG_BLAME_COUNT];
} sg_path;

enum sg_breaks { SG_GOES_ON, SG_BREAKS };

struct sg_thread {
    /* While on no processor: where to resume, and the code address at which it entered the runtime. */
    void *stack_pointer;
    void *thread_pointer;
    const void *site;
    sg_processor *processor; /* current or last one; NULL: none yet */
    sg_account *account;     /* on that processor, when it left; NULL: its regions have changed since */
    uint32_t id;
    enum sg_state state;
    /* Waiting. */
    enum sg_category wait_category;
    int32_t wait_holder; /* thread number; -1: none in particular */
    uint64_t wait_object;
    sg_thread *next_waiting;
    sg_queue
        *queue;    /* it waits in this one; it may run on until it suspends itself, and lose its processor */
    sg_rank *rank; /* the process it belongs to; NULL: there is only one */
    uint64_t ready_at;
    uint64_t since; /* clock at which it was put on its processor */
    /* A message ends the wait: it was in flight from `met` on, delayed for `jam` of that time. */
    uint64_t met, jam;
    sg_talk talk; /* with whom */
    bool by_message;
    bool for_first; /* it waits for several things: one known to come may be overtaken by another */
    bool timed, timed_out;
    /* Signals: an unblocked one is pending; its handler runs during a wait; that wait was in a queue, timed,
     * or has ended meanwhile; a handler has ended the wait; all handlers restart it. */
    bool signalled, interrupted, queued, was_timed, woken, broken, restarts;
    enum sg_breaks breaks; /* what a handler does to the wait */
    bool away;             /* it uses none of the program's data before sg_rank_return */
    bool granted;          /* taken from the queue: it has been given what it waits for */
    sg_thread *next_ready; /* after it on its processor */
    uint64_t synced;       /* writes seen when it last synchronised, see observe/sg_race.c */
    uint64_t learned, learned_number, learned_else;
    uint64_t deadline; /* of a timed wait */
    sg_thread *next_timed;
    uint32_t ticket;
    /* What it waits for, see observe/sg_blame.c. */
    bool in_runtime; /* it runs, but not the program's code */
    /* The MPI call it is in, and the call's site. */
    const char *call;
    const void *call_site;
    bool collective; /* what it waits for belongs to a collective operation */
    sg_path path;
    uint64_t late[SG_BLAME_COUNT]; /* upper bounds on the parts of this wait caused by delays of others */
    uint64_t told;                 /* the last value read from the clock */
    uint64_t complete;             /* when all had arrived at the barrier; SG_NEVER: not needed */
    const uint64_t *places;        /* bit set of allowed processors; NULL: all */
    const sg_policy *policy;       /* where pages go that it touches first; NULL: as the machine says */
    /* Coroutine. */
    void (*entry)(void);
    char *stack_low; /* its guard page, before the stack; NULL: the program's own stack */
    uint64_t stack_size;
    volatile uint32_t parked; /* state of the host thread: sg_thread.c; 0: none */
    pthread_t host;
    struct sg_posix *posix;
    /* Regions. */
    uint32_t depth;
    uint32_t *stack_of_regions;
    /* OpenMP. */
    sg_team *team;
    uint32_t member;
    sg_team *initial;       /* its own, outside all parallel regions; NULL until needed */
    sg_team *start;         /* team that this docked worker is to join */
    uint32_t start_member;  /* as this member */
    sg_work *work;          /* the last worksharing construct entered */
    sg_loop_turn turn;      /* in it */
    uint64_t ordered_chunk; /* first iteration of the running chunk of an ordered loop */
    uint64_t ordered_last;  /* one past its last iteration */
    bool in_ordered;        /* such a chunk is running */
    sg_task *task;
    uint32_t yields;                           /* tasks that run on top of a taskyield */
    uint32_t place;                            /* of OMP_PLACES, from 1; 0: none */
    uint32_t partition_first, partition_count; /* places shared among its teams */
    uint64_t variable; /* address of this thread's own line of simulated runtime variables */
} __attribute__((aligned(64)));

/* See sg_table.h. */
typedef struct sg_table_entry {
    uint64_t key;
    union {
        uint64_t number; /* 0: the entry is free */
        void *pointer;
    };
} sg_table_entry;

typedef struct sg_table {
    sg_table_entry *entry; /* `size` of them */
    uint32_t size, used;
} sg_table;

typedef struct sg_context {
    sg_config config;
    sg_mem *mem;
    struct sg_wire *wire;    /* the interconnect between nodes; NULL: a single node */
    sg_processor *processor; /* array of config.processors */
    sg_coroutine *coroutine; /* array of config.processors */
    uint32_t processors;
    uint32_t own_processors; /* those that the program sees: all, or those of its rank */
    sg_thread **thread;      /* by number; SG_MAX_THREADS places */
    uint32_t threads;        /* places in use so far */
    uint32_t most_threads;   /* at a time; the fewer, the larger the stacks may be */
    /* Processors with a thread except the running one, by clock << SG_KEY_BITS | number: sg_run_queue.h. */
    uint64_t *run_queue;
    uint64_t slack; /* how far a processor may run ahead of the others, as a key */
    /* Ranks with several threads: each has 1 << group_shift leaves; group_node is the running rank's first.
     * Its threads run in exact order; `slack` applies between ranks. */
    bool grouped;
    uint32_t group_shift, group_node;
    uint32_t run_queue_leaves, free_leaves;
    uint32_t *leaf_of, *free_leaf;
    uint64_t idle[SG_MAX_PROCESSORS / 64]; /* bit set of the processors without a thread */
    uint32_t waiting;                      /* threads in run queues */
    uint32_t running;                      /* processors with a thread; plus one if there is only one */
    uint32_t lock_waiters;                 /* threads that wait for locks */
    bool lone_due;                         /* a serial stretch begins at clock rest_since */
    uint64_t rest_since;                   /* the latest clock of the idle processors */
    sg_processor *lone;                    /* the one that executes serial code now; NULL: none */
    sg_thread *timed;                      /* threads in timed waits, earliest first */
    uint64_t timer;                        /* time of the timer's entry in the order; UINT64_MAX: none */
    uint64_t *next_tick;                   /* by processor, see machine.disturbance; NULL: no disturbance */
    uint64_t thread_data;                  /* bytes of the program's and the libraries' thread-local data */
    uint64_t large_stacks;                 /* bytes of stacks larger than the run's */
    bool fast_thread_pointer;
    bool alone; /* runs by itself, without the simulator */
    bool check;
    bool finished;
    union {
        volatile uint64_t attention; /* not 0: one of these */
        struct {
            volatile int stop_signal; /* SIGTERM arrived: stop at the next safe point */
            int tracing;              /* whether there is a trace */
        };
    };
    void *host_stack; /* of the real main thread */
    void *host_thread;
    uint64_t line_bytes;
    bool uncached;   /* the machine has no data cache: sg_mem_is_free */
    bool pages_only; /* and only first references to pages are seen: sg_sched_start.c */
    uint64_t next_variable;
    uint64_t first_variable; /* lines of the first threads, one per processor */
    uint64_t host_start_ns;
    int exit_code;
    uint32_t team_max;
    bool arena_exhausted;
    uint64_t arena_request;
    /* Code addresses. */
    uintptr_t text_low, text_high;
    uint32_t *block_index;    /* by offset in the text */
    uint32_t *lone_index;     /* the same for a lone processor: numbers are greater by executions_count */
    uint32_t *no_block_index; /* the same for code outside the simulation: all zero */
    sg_block_cost *blocks;
    uint64_t *block_parts; /* of blocks; or SG_TRAP_PARTS */
    sg_speed *speed;       /* by config.node_speeds, or just one: blocks and block_parts */
    uint32_t speeds, blocks_count;
    uint64_t *block_address;
    bool overlaps;             /* see sg_overlap.h */
    const sg_timing *timing;   /* of blocks, from number 1 on; NULL: only the cost of operations is known */
    bool (*learn)(uint32_t);   /* makes the block's timing known; false: it was. NULL: all is known */
    bool *branch_targets;      /* by block: is it a branch target? NULL: unknown */
    sg_slot *slots;            /* by index in executions */
    uint32_t executions_count; /* blocks and slots */
    uint32_t *uncosted;        /* indices that count only references */
    uint32_t uncosted_count;
    sg_behind *behind;   /* by offset in the text */
    sg_account *changed; /* accounts since the last snapshot */
    char *accounts_next; /* free memory for accounts */
    size_t accounts_left;
    uint32_t *site_index;
    sg_site_count *sites;
    uint32_t sites_count;
    /* Scratch record of one slow access, all zero between accesses. */
    sg_outcome outcome;
    struct sg_clock_place *clock_places; /* calls that may read a clock, by address */
    size_t clock_places_count;
    /* OpenMP. */
    struct sg_omp *omp;
    bool docks;              /* teams start as in libgomp */
    uint32_t release_cycles; /* what the last thread at a barrier pays after releasing the others */
    uint64_t making_until;   /* clock at which the next thread can be created */
    /* Message passing: sg_rank.c. */
    uint32_t ranks; /* 0: the program passes no messages */
    sg_rank **all_ranks;
    sg_rank *rank;   /* current or last one */
    sg_rank *mapped; /* whose static data is in place */
    void (*turn_to)(sg_rank *rank, bool away);
    bool defers;       /* ranks may continue before their effects on others are done: sg_may_defer */
    uint32_t deferred; /* operations, over all processors */
    void (*explain_deadlock)(char *text, size_t size); /* appends which rank waits for what */
    /* The running rank ends (sg_rank.h); the last one returns the program's status. */
    int (*rank_exit)(int status, const void *site, bool quick);
    bool lockstep;             /* a SIMD machine: sg_lockstep.h */
    bool (*nobody_runs)(void); /* wakes threads that wait for this; false: none */
    sg_table locks;            /* by the address of the program's variable */
    struct kept *policies;     /* sg_numa.c */
    bool blocks_scaled;        /* what-if has its own block tables */
    bool primitives_differ;    /* synchronisation is free, or a lock is scaled */
    sg_table futexes;          /* queues, by address */
    struct named *semaphores;
    struct sg_file *files;    /* streams that have ever been locked */
    struct sg_system *system; /* sg_system.c; NULL: not used yet */
    bool robust;              /* the program has used a robust mutex */
    char warnings[1024];
    /* Set by sg_start.c: writes the result of a run that did not end normally; stops a run in which all wait
     * for each other, or that has reached its time limit. */
    void (*report)(enum sg_status status, const char *message, int signal_number);
    void (*deadlock)(void) __attribute__((noreturn));
    void (*timeout)(void) __attribute__((noreturn));
    struct sg_signals *signals; /* posix/sg_signal.c; NULL: the program uses none */
    uint32_t signals_due;       /* threads with signals to handle */
    void (*deliver_signals)(void);
    void (*files_changed)(void);  /* a file may have become ready: posix/sg_files.c; NULL: nobody waits */
    bool (*wait_for_files)(void); /* waits for outside events; false: none can come */
    uint32_t regions_watched;     /* observers that want to know when a thread's regions change */
    uint64_t writes_seen;         /* by the race hint: the time of all that it notes */
    uint64_t threads_ran;         /* cycles of all threads except main */
    int64_t skipped;              /* cycles that sampling adds to every clock, see observe/sg_sample.c */
    int64_t expected;             /* cycles that only the program's clocks have, as it will be added later */
} sg_context;

/* No clock gets there; as a deadline: never. A block with a scaled cost has SG_TRAP cycles, beyond every
 * limit. */
#define SG_NEVER      (SG_TRAP - 1)
#define SG_TRAP       (1ull << 53)
#define SG_TRAP_PARTS (SG_TRAP << SG_PARTS_SHIFT)

/* One entry follows the processors in the order: the timer of all timed waits. */
#define SG_KEY_BITS 15
#define SG_KEY_MASK ((1ull << SG_KEY_BITS) - 1)
#define SG_TIMER    SG_MAX_PROCESSORS

/* The runtime's two global variables: its state, and the current processor. */
extern sg_context *sg;
extern sg_processor *sg_now;
/* Value of sg_now before and after the simulation: hooks do nothing on it. */
extern sg_processor sg_idle_processor;
/* Nothing is expected. */
extern sg_quick sg_quick_none;
/* From now on the hooks do nothing. */
void sg_finish_hooks(void);
/* Set by sg_start.c: starts simulating the program, which entered the runtime at `site` before main. False:
 * it has already ended. */
extern bool (*sg_begin_early)(const void *site);

/* The clock of `p` as the program and the result see it: including what sampling skipped. */
static inline uint64_t sg_time_of(const sg_processor *p)
{
    return (uint64_t)((int64_t)p->clock + sg->skipped);
}

static inline void sg_advance(sg_processor *p, uint64_t cycles)
{
    p->time += cycles << SG_PARTS_SHIFT;
}

/* Block costs on a processor. */
static inline const sg_speed *sg_speed_of(uint32_t processor)
{
    if (sg->speeds == 1)
        return sg->speed;
    return &sg->speed[processor / sg_config_node_processors(&sg->config) % sg->speeds];
}

#endif

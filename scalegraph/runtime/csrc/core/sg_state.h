/* The simulated processors, the threads that run on them, their accounts, and the state of the runtime.
 *
 * A simulated processor is a clock; a thread is a coroutine that runs on one. The processor with the earliest
 * clock runs its thread; it keeps running while its references hit in its private caches (at most the quantum
 * ahead of the others) and gives way when it must go out to the memory system or its thread waits for
 * another. Threads that share a processor take turns. One host thread runs everything, so nothing here needs
 * a host lock. */
#ifndef SG_STATE_H
#define SG_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sg_config.h"
#include "sg_format.h"
#include "sg_loop_turn.h"
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
#define SG_TRACE_BASE        (SG_BASE + 0xe000000000ull)
#define SG_IMAGE_BASE        (SG_BASE + 0xf000000000ull)
#define SG_ARGUMENT_POINTERS (1ull << 32) /* room for what points to them, before their texts */
/* Heaps of the ranks of a program but the first, which has the one above. */
#define SG_RANK_HEAP_BASE  (SG_BASE + 0x100000000000ull)
#define SG_RANK_HEAP_BYTES (1ull << 32)
#define SG_MAX_PROCESSORS  16384u
#define SG_MAX_THREADS     16896u /* at a time */
#define SG_FEW_THREADS     8704u  /* likewise on up to SG_FEW_PROCESSORS */
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

/* Blocks cost parts of cycles. What is no whole cycle yet waits in the account of a region. */
#define SG_PARTS_SHIFT 10
#define SG_PARTS       (1ull << SG_PARTS_SHIFT)

/* What one execution of a basic block costs, times in parts of a cycle; the hook examines the sum of them,
 * sg->block_parts, alone. */
typedef struct sg_block_cost {
    uint64_t busy[4]; /* busy_int, busy_fp, busy_mem, busy_control */
    uint64_t ops;
    uint64_t flops;
    uint64_t parts;
    uint64_t executions; /* by all processors; up to date after sg_accounts_settle */
    uint64_t more;       /* parts that they took besides, on nodes of another speed; may be "negative" */
} sg_block_cost;

/* What blocks cost on the nodes of one speed. */
typedef struct sg_speed {
    sg_block_cost *blocks; /* busy, ops, flops and parts are this speed's */
    uint64_t *parts;       /* of blocks, or SG_TRAP_PARTS; again for a lone processor, at executions_count */
    const uint64_t *slot_parts; /* of slots (biased: index by a slot's address) */
} sg_speed;

/* What is counted when a place of sg_account.executions is: an execution of a block, and references. */
#define SG_NO_BLOCK UINT32_MAX
typedef struct sg_slot {
    uint32_t block; /* SG_NO_BLOCK: of references only */
    uint32_t reads, writes;
} sg_slot;

/* References behind a hook in its segment of the code. */
typedef struct sg_behind {
    uint16_t reads, writes;
} sg_behind;

/* What a processor has spent and done in a region. What changes at every reference and at every miss lies
 * side by side; the record of the result file, to which all is added in the end (sg_account_total), holds
 * the rest until then. Of blocks only the executions are counted, each by itself: what they cost together is
 * known in the end (sg_accounts_settle). */
typedef struct sg_account {
    uint64_t reads, writes;
    uint64_t parts;             /* see sg_account_parts */
    uint64_t stall[SG_STALLS];  /* from SG_CATEGORY_STALL_LOCAL on */
    uint64_t events[SG_EVENTS]; /* counters from SG_COUNTER_L1_MISSES on */
    uint64_t busy[4];           /* the busy categories, in parts of a cycle */
    uint64_t ops, flops;
    sg_cost rest;
    bool alone;   /* something was executed by a lone processor, see observe/sg_blame.c */
    bool touched; /* since elements of a SIMD machine were together, see messages/sg_step.c */
    struct sg_account *next_touched;
    uint64_t executions[]; /* by block, then by slot; then again, those by a lone processor */
} __attribute__((aligned(64))) sg_account;

/* What happened at one code address besides the execution of blocks. */
typedef struct sg_site_count {
    uint64_t address;
    uint64_t misses;
    uint64_t references; /* that the runtime counted here itself */
    uint32_t load;       /* see sg_overlap.h */
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
    int16_t category; /* to which everything is charged that it costs; -1: each cost to its own */
} sg_pending;

/* What a processor does to others at its clock, but is done without it when that time has come: it has gone
 * on meanwhile. */
typedef struct sg_deferred {
    struct sg_deferred *next;
    uint64_t clock;
    void (*perform)(struct sg_deferred *d); /* not by the thread, nor on its processor */
} sg_deferred;

/* What the scheduler needs of a processor that waits for its turn, and what it asks the host's memory for
 * early; side by side for all processors, because a processor's own memory is cold by then. */
typedef struct sg_coroutine {
    void *stack_pointer; /* of its thread */
    sg_account *account;
    sg_pending pending;
    sg_thread *thread;
    const void *needs;     /* what its thread will read first, besides its stack */
    sg_deferred *deferred; /* the last one, in a ring; NULL: none. The first one's time is in the order. */
    bool exact;            /* it waits until no processor at all is earlier */
    bool queued;           /* besides its deferred operations it waits for its turn itself */
    bool settles;          /* it waits for the turn that was due, not for one at its clock */
    uint32_t site;         /* number of the site at which the pending reference is */
} __attribute__((aligned(64))) sg_coroutine;

struct sg_processor {
    /* One cache line of the host, read by every hook. */
    union {
        uint64_t time; /* in parts of a cycle: what blocks cost is added to it */
        struct {
            uint64_t parts : SG_PARTS_SHIFT; /* which the account of the current region has taken */
            uint64_t clock : 64 - SG_PARTS_SHIFT;
        };
    };
    union {
        uint64_t time_limit; /* the last part of the limit */
        struct {
            uint64_t limit_parts : SG_PARTS_SHIFT;
            uint64_t limit : 64 -
                SG_PARTS_SHIFT; /* beyond this clock another processor must get its chance */
        };
    };
    sg_account *account;        /* of the current region */
    uintptr_t executed;         /* executions of slots there (biased: plus a slot's address) */
    const uint64_t *slot_parts; /* of sg_speed */
    const uint64_t *fast;       /* what inlined hooks search: the filter, or one that never answers */
    uint64_t *filter;           /* sg_filter of the memory system */
    uint64_t mask;
    /* The next line: for hooks that are called, switches and slow references. */
    uint32_t shift;
    uint32_t id;
    const uint32_t *block_of;    /* code address -> number of its block (biased: index by the address) */
    const uint64_t *block_parts; /* by that number: what an execution costs */
    const void *site;            /* code address of the call that entered the runtime last */
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
    sg_account **accounts;   /* by region */
    bool worked;             /* a thread has run on it */
    uint32_t together;       /* references of the runtime that are under way together; 0: one */
    uintptr_t executed_from; /* from an account to what is in `executed` */
    uint64_t stretches;      /* sg_blame.c: length of the serial stretches until it came to rest */
    uint64_t turn_due;       /* clock of the last turn that it should have taken since it had one; 0: none */
} __attribute__((aligned(64)));

/* A partner in a communicator: its number among all ranks, or SG_TALK_NOBODY. */
typedef struct sg_talk {
    uint32_t context; /* of the communicator, or the next number: of its collective operations */
    int32_t peer;
} sg_talk;

/* How long a thread's way was held up so far, and where last; by enum sg_blamed, without serial code. */
typedef struct sg_path {
    uint64_t cycles[SG_BLAME_COUNT];
    const void *site[SG_BLAME_COUNT];
    uint32_t region[SG_BLAME_COUNT];
} sg_path;

enum sg_breaks { SG_GOES_ON, SG_BREAKS };

struct sg_thread {
    /* While it is on no processor: where to go on, and the code address at which it entered the runtime. */
    void *stack_pointer;
    void *thread_pointer;
    const void *site;
    sg_processor *processor; /* on which it runs or ran last; NULL: none yet */
    sg_account *account;     /* of that, when it left it; NULL: its regions have changed since */
    uint32_t id;
    enum sg_state state;
    /* Waiting. */
    enum sg_category wait_category;
    int32_t wait_holder; /* number of a thread; -1: nobody in particular */
    uint64_t wait_object;
    sg_thread *next_waiting;
    sg_queue *queue; /* in which it waits; it may run on until it suspends itself, and lose its processor */
    sg_rank *rank;   /* process of which it is a thread; NULL: there is only one */
    uint64_t ready_at;
    uint64_t since; /* clock at which it was put on its processor */
    /* A message ends the wait: it was on its way from `met` on, held up for `jam` of that time. */
    uint64_t met, jam;
    sg_talk talk; /* with whom */
    bool by_message;
    bool for_first; /* it waits for several things: what is known to come may be overtaken until it has */
    bool timed, timed_out;
    /* Signals: one that it does not block is pending; its handler runs while it waits, which it did in a
     * queue, until a time, and which has ended meanwhile; a handler has ended the wait, all restart it. */
    bool signalled, interrupted, queued, was_timed, woken, broken, restarts;
    enum sg_breaks breaks; /* what a handler does to the wait */
    bool away;             /* it uses no data of the program before sg_rank_return */
    bool granted;          /* taken from that queue: what it waits for is its own */
    sg_thread *next_ready; /* behind it on its processor */
    uint64_t synced;       /* writes that had been seen when it synchronised last, see observe/sg_race.c */
    uint64_t learned, learned_number, learned_else;
    uint64_t deadline; /* of a timed wait */
    sg_thread *next_timed;
    uint32_t ticket;
    /* What it waits for, see observe/sg_blame.c. */
    bool in_runtime; /* it runs, but what it does is no code of the program */
    /* The call of MPI in which it is, and where that was called. */
    const char *call;
    const void *call_site;
    bool collective; /* what it waits for belongs to a collective operation */
    sg_path path;
    uint64_t late[SG_BLAME_COUNT]; /* of this wait so much at most is due to what held up others */
    uint64_t told;                 /* what the clock said last */
    uint64_t complete;             /* when all had come to the barrier; SG_NEVER: that is not asked */
    const uint64_t *places;        /* bit set of the processors it may run on; NULL: all */
    const sg_policy *policy; /* where the pages are that it touches first; NULL: where the machine says */
    /* Coroutine. */
    void (*entry)(void);
    char *stack_low; /* its guard page, in front of the stack; NULL: the program's own stack */
    uint64_t stack_size;
    volatile uint32_t parked; /* state of the host's thread: sg_thread.c; 0: there is none */
    pthread_t host;
    struct sg_posix *posix;
    /* Regions. */
    uint32_t depth;
    uint32_t *stack_of_regions;
    /* OpenMP. */
    sg_team *team;
    uint32_t member;
    sg_team *initial;       /* its own, outside all parallel regions; NULL before it asks */
    sg_team *start;         /* team that this docked worker shall join */
    uint32_t start_member;  /* as this member */
    sg_work *work;          /* worksharing construct entered last */
    sg_loop_turn turn;      /* in it */
    uint64_t ordered_chunk; /* first iteration of the running chunk of an ordered loop */
    uint64_t ordered_last;  /* and the first one behind it */
    bool in_ordered;        /* such a chunk is running */
    sg_task *task;
    uint32_t yields;                           /* tasks that run above a taskyield */
    uint32_t place;                            /* of OMP_PLACES, from 1 on; 0: none */
    uint32_t partition_first, partition_count; /* places that its teams share out */
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
    struct sg_wire *wire;    /* the interconnect between the nodes; NULL: the machine is one node */
    sg_processor *processor; /* array of config.processors */
    sg_coroutine *coroutine; /* likewise */
    uint32_t processors;
    uint32_t own_processors; /* of them, those that the program sees: all, or those of its rank */
    sg_thread **thread;      /* by number; SG_MAX_THREADS places */
    uint32_t threads;        /* places in use so far */
    uint32_t most_threads;   /* at a time; the fewer, the more addresses are left for stacks */
    /* Processors with a thread but the running one, by clock << SG_KEY_BITS | number: sg_run_queue.h. */
    uint64_t *run_queue;
    uint64_t slack; /* references of a processor may come so much earlier than those of others, as a key */
    /* Ranks of several threads: each has 1 << group_shift leaves, whose first is at node group_node for the
     * rank that runs. Its threads are in exact order; `slack` is between ranks. */
    bool grouped;
    uint32_t group_shift, group_node;
    uint32_t run_queue_leaves, free_leaves;
    uint32_t *leaf_of, *free_leaf;
    uint64_t idle[SG_MAX_PROCESSORS / 64]; /* bit set of the processors without a thread */
    uint32_t waiting;                      /* threads in run queues */
    uint32_t running;                      /* processors with a thread; one more if there is only one */
    uint32_t lock_waiters;                 /* threads that wait for locks */
    bool lone_due;                         /* a serial stretch begins at clock rest_since */
    uint64_t rest_since;                   /* the latest clock of those without a thread */
    sg_processor *lone;                    /* that executes serial code now; NULL: none */
    sg_thread *timed;                      /* threads in timed waits, the earliest first */
    uint64_t timer;                        /* time of the timer's entry in the order; UINT64_MAX: none */
    uint64_t *next_tick;   /* of each processor, see machine.disturbance; NULL: there are none */
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
    bool uncached;   /* the machine has no data cache: sg_mem_is_free */
    bool pages_only; /* besides, of all references only the first ones to pages are seen: sg_sched_start.c */
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
    uint32_t *lone_index;     /* the same with the numbers for a lone processor: executions_count greater */
    uint32_t *no_block_index; /* the same for code outside the simulation: all zero */
    sg_block_cost *blocks;
    uint64_t *block_parts; /* of blocks; or SG_TRAP_PARTS */
    sg_speed *speed;       /* by config.node_speeds, or the only one: blocks and block_parts */
    uint32_t speeds;
    uint64_t *block_address;
    bool overlaps; /* see sg_overlap.h */
    const sg_timing
        *timing; /* of blocks, from number 1 on; NULL: nothing is known but what their operations cost */
    bool *branch_targets; /* of blocks: are they entered from a branch? NULL: that is not known */
    uint32_t blocks_count;
    sg_slot *slots;            /* by place in executions */
    uint32_t executions_count; /* blocks and slots */
    uint32_t *uncosted;        /* places that stand for references only */
    uint32_t uncosted_count;
    sg_behind *behind;   /* by offset in the text */
    char *accounts_next; /* free memory for accounts */
    size_t accounts_left;
    uint32_t *site_index;
    sg_site_count *sites;
    uint32_t sites_count;
    /* Spare record of one slow access, all zero between accesses. */
    sg_outcome outcome;
    struct sg_clock_place *clock_places; /* calls that may read a clock, by address */
    size_t clock_places_count;
    /* OpenMP. */
    struct sg_omp *omp;
    bool docks;              /* teams are started as libgomp does it */
    uint32_t release_cycles; /* what the last one at a barrier adds when it has let the others go */
    uint64_t making_until;   /* clock at which the next thread can be made */
    /* Message passing: sg_rank.c. */
    uint32_t ranks; /* 0: the program passes no messages */
    sg_rank **all_ranks;
    sg_rank *rank;   /* that runs or ran last */
    sg_rank *mapped; /* whose static data is in its place */
    void (*turn_to)(sg_rank *rank, bool away);
    bool defers;       /* ranks may go on before what they do to others is done: sg_may_defer */
    uint32_t deferred; /* operations, of all processors */
    void (*explain_deadlock)(char *text, size_t size); /* adds which rank waits for what */
    /* The running rank ends (sg_rank.h); returns the program's status if it is the last. */
    int (*rank_exit)(int status, const void *site, bool quick);
    bool lockstep;             /* a SIMD machine: sg_lockstep.h */
    bool (*nobody_runs)(void); /* lets threads go on that wait for this; false: there are none */
    sg_table locks;            /* by the address of the program's variable */
    struct kept *policies;     /* sg_numa.c */
    bool blocks_scaled;        /* what-if has its own tables of blocks */
    bool primitives_differ;    /* synchronisation is free, or a lock is scaled */
    sg_table futexes;          /* queues, by address */
    struct named *semaphores;
    struct sg_file *files;    /* streams that were locked once */
    struct sg_system *system; /* sg_system.c; NULL: nobody has asked */
    bool robust;              /* the program has used a robust mutex */
    char warnings[1024];
    /* Writes the result of a run that does not end by itself: sg_result_write. */
    void (*report)(enum sg_status status, const char *message, int signal_number);
    struct sg_signals *signals; /* posix/sg_signal.c; NULL: the program uses none */
    uint32_t signals_due;       /* threads that have to handle some */
    void (*deliver_signals)(void);
    void (*files_changed)(void);  /* a file may have become ready: posix/sg_files.c; NULL: nobody waits */
    bool (*wait_for_files)(void); /* for what comes from outside; false: nothing can */
    uint32_t regions_watched;     /* observers that want to know when a thread's regions change */
    uint64_t writes_seen;         /* by the hint at races: the time of all that it notes */
    uint64_t threads_ran;         /* cycles of all threads but the main one */
    int64_t skipped;              /* cycles that sampling adds to every clock, see observe/sg_sample.c */
} sg_context;

/* No clock gets there; as a deadline: never. A block whose cost is scaled has SG_TRAP cycles, beyond every
 * limit. */
#define SG_NEVER      (SG_TRAP - 1)
#define SG_TRAP       (1ull << 53)
#define SG_TRAP_PARTS (SG_TRAP << SG_PARTS_SHIFT)

/* Behind the processors' numbers there is one more in the order: the timer of all timed waits. */
#define SG_KEY_BITS 15
#define SG_KEY_MASK ((1ull << SG_KEY_BITS) - 1)
#define SG_TIMER    SG_MAX_PROCESSORS

/* The two global variables of the runtime: its state, and the processor that runs now. */
extern sg_context *sg;
extern sg_processor *sg_now;
/* What sg_now is before the simulation begins and after its end: on it hooks do nothing. */
extern sg_processor sg_idle_processor;

/* The clock of `p` as the program and the result have it: with what was not simulated. */
static inline uint64_t sg_time_of(const sg_processor *p)
{
    return (uint64_t)((int64_t)p->clock + sg->skipped);
}

static inline void sg_advance(sg_processor *p, uint64_t cycles)
{
    p->time += cycles << SG_PARTS_SHIFT;
}

/* What blocks cost on a processor. */
static inline const sg_speed *sg_speed_of(uint32_t processor)
{
    if (sg->speeds == 1)
        return sg->speed;
    return &sg->speed[processor / sg_config_node_processors(&sg->config) % sg->speeds];
}

#endif

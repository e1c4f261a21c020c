/* The monitor of real runs. Every thread has an account of time-stamp ticks by region and category; at each
 * event (a region or a wait begins or ends) the ticks since the previous event go to the account that was
 * current. So a thread's accounts add up, by construction, to the time since it was first seen. */
#ifndef SGM_H
#define SGM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sg_format.h"

#define SGM_COMPUTING         SG_CATEGORY_BUSY_INT /* the program's own code: read as `busy_compute` */
#define SGM_STARTING          SG_CATEGORY_PRIM_DISTURBANCE /* MPI starts or ends: read as `prim_start` */
#define SGM_DEPTH             1024u /* nested regions; deeper ones count as the last of these */
#define SGM_API               __attribute__((visibility("default")))
#define SGM_LIKELY(condition) __builtin_expect(!!(condition), 1)

typedef uint64_t sgm_account[SG_CATEGORY_COUNT];

/* What to trace: bits in the order of TRACED in runtime/format.py. */
enum {
    SGM_TRACE_REGIONS = 1,
    SGM_TRACE_WAITS = 2,
    SGM_TRACE_LOCKS = 4,
    SGM_TRACE_TASKS = 8,
    SGM_TRACE_CHUNKS = 16,
    SGM_TRACE_SHARES = 32,
    SGM_TRACE_COUNTERS = 64,
    SGM_TRACE_MESSAGES = 128
};

/* Shared by the members of a team, from its fork until the last of them is seen again. */
typedef struct sgm_team {
    struct sgm_team *next; /* in the free list */
    int64_t users;
    uint64_t forked, ended; /* ended: when the last member reached its end */
    uint64_t arrived[2];    /* for alternate barriers: when the last member arrived; only ever rises */
    uint64_t worked;        /* when the most recent task ended */
    uint32_t region;
    const void *master; /* the thread that forked it */
} sgm_team;

typedef struct sgm_thread {
    uint64_t last; /* ticks of the previous event */
    uint32_t category, region, depth;
    uint32_t regions; /* capacity of `accounts` and `visits` */
    sgm_account *accounts;
    uint64_t *visits;
    uint64_t counters[SG_COUNTER_COUNT]; /* except visits */
    uint32_t stack[SGM_DEPTH];
    uint64_t entered[SGM_DEPTH]; /* this and the next two: main thread only */
    uint32_t *open;
    uint64_t *elapsed;
    uint64_t events;
    uint64_t first, ended; /* ticks of its start and end, 0: still running */
    uint64_t barriers;     /* of its team that it has passed */
    sgm_team *team, *before;
    uint64_t waited_ns, ran_ns; /* from the kernel: time on the run queue, on a processor; when it ended */
    uint32_t processor;         /* on which it ended */
    uint32_t number, inherited; /* the region for its time outside all others */
    int32_t kernel;             /* its number in the kernel */
    bool main, over;
    sg_trace_record *records;   /* trace records not written yet */
    uint32_t recorded, allowed; /* their number, and the maximum within the trace's limit */
    uint64_t object;            /* that it waits for */
    int64_t step;               /* of the loop whose chunks it takes */
    uint64_t task;              /* current task; see sgm_implicit_task */
    uint32_t tasks;             /* that it created */
    uint64_t switched; /* last change of category in a traced run; the monitor may continue after it */
    uint32_t window;   /* of the trace in which it last recorded */
    uint64_t hardware[4];
    int hardware_files[4], migrations_file;
    uint64_t metered_at, metered[SG_METRIC_COUNT]; /* last ones in the trace */
    struct sgm_thread *next;
} sgm_thread;

extern _Thread_local sgm_thread *sgm_self_or_null __attribute__((tls_model("initial-exec")));
extern bool sgm_is_on;
extern int sgm_rank
    __attribute__((weak)); /* of the process, if MPI calls are observed; -1 before MPI starts */

/* When rank 0's time stamp was `there`, this process's was `own`, with an error in its own ticks. */
typedef struct sgm_clock {
    uint64_t own, there, error;
} sgm_clock;
extern sgm_clock sgm_clocks[2]
    __attribute__((weak)); /* at the start and end of MPI; `error` is 0 where nothing was compared */

sgm_thread *sgm_begin_thread(uint32_t region);
sgm_thread *sgm_thread_apart(void);
void sgm_end_thread(void);
void sgm_grow(sgm_thread *t, uint32_t region);
void sgm_count_hardware(sgm_thread *t);
void sgm_read_hardware(sgm_thread *t);
void sgm_begin_meter(sgm_thread *t);
/* Records the calling thread's counts since the last time. */
void sgm_meter(sgm_thread *t);
void sgm_read_kernel(sgm_thread *t);
uint32_t sgm_processor_of(const sgm_thread *t);
void sgm_write(void);
/* May the processes of the run be on several computers? */
bool sgm_several_computers(void);
/* The name of this process within the run: its number, preceded by its computer's name if there are
 * several. */
const char *sgm_process_name(void);
sgm_thread *sgm_threads(void);
uint32_t sgm_thread_count(void);
const char *sgm_hardware_refusal(void);
sgm_team *sgm_new_team(const sgm_thread *master, uint64_t forked);
void sgm_forget_team(sgm_team *team);
void sgm_enter_team(sgm_team *team);
void sgm_end_of_team(sgm_team *team, uint64_t now);
void sgm_charge_waiting(sgm_thread *t, const sgm_team *team, uint64_t arrived, uint64_t now);
void sgm_stop(const char *sentence);
double sgm_cycles_per_tick(void);
double sgm_frequency(void);
extern double sgm_speed_at_begin; /* cycles per tick */
extern uint64_t sgm_meter_every;  /* minimum ticks between readings of the counters */
extern uint32_t sgm_traced;       /* what is recorded; 0: no trace, or none any more */
void *sgm_new_memory(size_t bytes);
void *sgm_touched_memory(size_t bytes);
bool sgm_write_all(int file, const void *data, size_t bytes);
void sgm_trace_begin(void);
void sgm_trace_begin_thread(sgm_thread *t);
/* The program begins at `origin`. */
void sgm_trace_from(uint64_t origin);
void sgm_trace_end_thread(sgm_thread *t);
/* Discards what `t` records, without using up the limit. */
void sgm_trace_nothing_of(sgm_thread *t);
void sgm_trace_end(uint64_t origin, uint64_t now, double hertz);
void sgm_trace_put(sgm_thread *t, sg_trace_record record);
void sgm_trace_make_room(sgm_thread *t);
void sgm_trace_share(sgm_thread *t, uint32_t category, uint64_t from, uint64_t to);
void sgm_trace_wait(sgm_thread *t, uint32_t category, uint64_t from, uint64_t to, uint64_t object);
void sgm_trace_switched(sgm_thread *t, uint32_t category, uint64_t from);
void sgm_trace_call(sgm_thread *t, uint32_t what, uint32_t region, uint64_t now);
void sgm_trace_mark(sgm_thread *t, uint32_t mark, uint64_t now, uint64_t value);
void sgm_trace_lock(sgm_thread *t, uint32_t step, const volatile void *object);
void sgm_trace_task(sgm_thread *t, uint32_t step, uint32_t region, uint64_t now, uint64_t task,
                    uint64_t parent);

static inline uint64_t sgm_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#endif
}

/* The calling thread; an unannounced one is announced by its first event. */
static inline sgm_thread *sgm_self(void)
{
    sgm_thread *t = sgm_self_or_null;
    return SGM_LIKELY(t != NULL) ? t : sgm_begin_thread(0);
}

/* Charges the time since the previous event to `category` of the current region. */
static inline void sgm_charge(sgm_thread *t, uint64_t now, uint32_t category)
{
    uint64_t from = t->last;
    t->accounts[t->region][category] += now - from;
    t->last = now;
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_SHARES) == 0))
        sgm_trace_share(t, category, from, now);
}

/* From now on the thread is in `category`; returns the previous category. */
static inline uint32_t sgm_switch(sgm_thread *t, uint32_t category)
{
    uint32_t before = t->category;
    uint64_t from = t->last;
    sgm_charge(t, sgm_ticks(), before);
    if (!SGM_LIKELY(sgm_traced == 0))
        sgm_trace_switched(t, before, from);
    t->category = category;
    t->events++;
    return before;
}

/* Charges the time since the previous event to `category` up to `until`, and the rest to `rest`. */
static inline void sgm_charge_until(sgm_thread *t, uint64_t now, uint64_t until, uint32_t category,
                                    uint32_t rest)
{
    uint64_t at = until < t->last ? t->last : until > now ? now : until;
    sgm_charge(t, at, category);
    sgm_charge(t, now, rest);
}

/* The number of what the thread does outside explicit tasks; tasks it creates have this number with a count
 * in the lower half. */
static inline uint64_t sgm_implicit_task(const sgm_thread *t)
{
    return (uint64_t)(t->number + 1) << 32;
}

static inline void sgm_latest(uint64_t *at, uint64_t now)
{
    uint64_t before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (before < now &&
           !__atomic_compare_exchange_n(at, &before, now, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
}

/* The function of this name that ours wraps. */
#define SGM_REAL(name)                                                                                       \
    ({                                                                                                       \
        static __typeof__(&name) sgm_found;                                                                  \
        __typeof__(&name) sgm_there = __atomic_load_n(&sgm_found, __ATOMIC_RELAXED);                         \
        if (!SGM_LIKELY(sgm_there != NULL)) {                                                                \
            sgm_there = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                          \
            if (sgm_there == NULL)                                                                           \
                sgm_stop("the program's libraries lack " #name);                                             \
            __atomic_store_n(&sgm_found, sgm_there, __ATOMIC_RELAXED);                                       \
        }                                                                                                    \
        sgm_there;                                                                                           \
    })

#endif

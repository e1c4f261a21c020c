/* Observers watch a simulated run: traces, blame, accounts by cause and by variable, miss classes, parts
 * of the run, race hints. What-if is one too, and also changes costs.
 *
 * The simulator (core, memory, sync, openmp, posix) reports events and knows no observer. An observer is a
 * table of callbacks, one for each event that it wants; observe/sg_observers.c lists the tables. An event
 * without observers costs a load and a predicted branch; with one observer, a call. Observers are called
 * in list order. They must not block a thread, and only what-if may change a clock, an account of the
 * scheduler or the order of processors. Parts of the simulator register for events too, where a lower file
 * would otherwise call a higher one (thread_begins).
 *
 * The program's stack lies above the frames of our functions that call it (worker, sg_parallel, execute
 * and waiting at a barrier): cycles depend on the size of these frames. */
#ifndef SG_OBSERVER_H
#define SG_OBSERVER_H

#include "sg_state.h"

/* What has changed in a thread's regions: the innermost one, all of them, or the region of a task that runs
 * on top of others. */
enum sg_regions_change { SG_REGIONS_INNERMOST, SG_REGIONS_ALL, SG_REGIONS_TASK };

/* A thread in a worksharing loop: it is the first to arrive; it has taken a chunk; it has executed one; it
 * finds no more iterations (`finished`: it is the last to do so). */
enum sg_loop_step { SG_LOOP_OPENS, SG_LOOP_TAKEN, SG_LOOP_DONE, SG_LOOP_LEFT };
struct sg_scheduled;
struct sg_cells;
struct sg_loop_turn;

/* Where a phase of the program begins: the address of a call, and its kind, in the order of PHASE_KINDS. */
#define SG_PHASE_FORK    0u
#define SG_PHASE_BARRIER 1u
#define SG_PHASE_JOIN    2u
static inline uint64_t sg_phase_place(const void *site, unsigned kind)
{
    return (uint64_t)(uintptr_t)site << 2 | kind;
}

/* A received message. */
typedef struct sg_passed {
    uint32_t sender, receiver; /* processors */
    uint64_t sent, left;       /* when its sender started and finished sending it */
    uint64_t posted, received; /* when its receiver asked for it, and had all of it */
    uint64_t bytes;
    int32_t tag;
    uint32_t context; /* odd: of a collective operation */
} sg_passed;

/* The call that this collective operation is part of, if it is not one of its own. */
enum sg_collective_part { SG_PART_OF_NOTHING, SG_PART_OF_FINALIZE, SG_PART_OF_WINDOW };

/* A collective operation that a rank has completed. */
typedef struct sg_gathered {
    uint64_t begin, sent, received; /* cycles; bytes of this rank */
    uint32_t context;
    int32_t root;      /* processor; -1: none */
    uint8_t operation; /* numbered as in traces */
    uint8_t algorithm; /* in the order of the marks in traces */
    uint8_t part_of;   /* enum sg_collective_part */
} sg_gathered;

/* EVENT(name, parameters, arguments) for each event. Where none is named, the running processor and thread
 * are meant. */
#define SG_OBSERVED_EVENTS(EVENT)                                                                            \
    /* Threads: `t` becomes the thread of `p`, nothing has changed yet; */                                   \
    EVENT(installs, (sg_processor * p, sg_thread * t), (p, t))                                               \
    /* the thread of `p`, its regions or what it holds has changed; */                                       \
    EVENT(installed, (sg_processor * p), (p))                                                                \
    /* `p` was charged `cycles` of waiting in `category`; `t` ended the wait (NULL: the program ended); */   \
    EVENT(waited, (sg_processor * p, const sg_thread *t, enum sg_category category, uint64_t cycles),        \
          (p, t, category, cycles))                                                                          \
    /* `t` runs on `p` from here on; */                                                                      \
    EVENT(runs, (sg_processor * p, const sg_thread *t), (p, t))                                              \
    /* `t` leaves `p` but could continue; */                                                                 \
    EVENT(preempted, (const sg_thread *t, const sg_processor *p), (t, p))                                    \
    /* the running processor wakes `t` at time `when`; timeouts are not reported; */                         \
    EVENT(wakes, (const sg_thread *t, uint64_t when), (t, when))                                             \
    /* `t` is about to begin, perhaps with a reused number; the running thread `t` ends; */                  \
    EVENT(thread_begins, (sg_thread * t), (t))                                                               \
    EVENT(thread_ends, (const sg_thread *t), (t))                                                            \
    /* `p` has no thread from now on. */                                                                     \
    EVENT(rests, (sg_processor * p), (p))                                                                    \
    /* Serial code: only `p` has a thread; another has had one since `when`, or none has one now. */         \
    EVENT(lone_begins, (sg_processor * p), (p))                                                              \
    EVENT(lone_ends, (uint64_t when), (when))                                                                \
    /* Regions: those of the thread of `p` have changed; the main thread enters or leaves one. */            \
    EVENT(regions, (sg_processor * p, enum sg_regions_change change), (p, change))                           \
    EVENT(main_enters, (uint32_t region, uint64_t clock), (region, clock))                                   \
    EVENT(main_categories, (uint32_t region, uint64_t clock), (region, clock))                               \
    /* References: `p` is about to make `r`; its sg->outcome is known, but nothing is charged yet; */        \
    EVENT(references, (sg_processor * p, const sg_pending *r), (p, r))                                       \
    EVENT(scales, (sg_processor * p, const sg_pending *r), (p, r))                                           \
    EVENT(referenced, (sg_processor * p, const sg_pending *r, const sg_outcome *o), (p, r, o))               \
    /* the same, but only for the runtime's own references and those that invalidate copies; */              \
    EVENT(caused, (sg_processor * p, const sg_pending *r, const sg_outcome *o), (p, r, o))                   \
    /* private caches served one within a line; the variable at an address was referenced that often. */     \
    EVENT(hits, (sg_processor * p, uint64_t address, uint64_t size, enum sg_access kind, const void *site),  \
          (p, address, size, kind, site))                                                                    \
    EVENT(counts, (uint64_t address, uint64_t references), (address, references))                            \
    /* Memory: the allocator has returned `size` bytes to the call before `caller`, or frees them; the */    \
    /* runtime's own variables in [address, address + bytes) are of kind `own`. */                           \
    EVENT(allocated, (const void *block, uint64_t size, const void *caller, bool large),                     \
          (block, size, caller, large))                                                                      \
    EVENT(freed, (const void *block), (block))                                                               \
    EVENT(owns, (uint64_t address, uint64_t bytes, enum sg_own own), (address, bytes, own))                  \
    /* Synchronisation: the running thread enters or leaves code that is not the program's; */               \
    EVENT(runtime, (bool inside), (inside))                                                                  \
    /* the next charge of its processor is waiting; it waited at the barrier `object` for processor */       \
    /* `by`, which arrived at `released`; */                                                                 \
    EVENT(waits, (void), ())                                                                                 \
    EVENT(barrier_waited, (uint64_t object, uint32_t by, uint64_t released), (object, by, released))         \
    /* it releases `t`, which waits at a barrier: the `last` to arrive, or an earlier one. */                \
    /* `complete`: when all had arrived; the time after that counts as the end of a parallel region; */      \
    EVENT(releases, (sg_thread * t, bool last, uint64_t complete), (t, last, complete))                      \
    /* it begins or ends an operation on the lock at `object`; it got a lock that it has wanted since        \
     * `from`; */                                                                                            \
    /* it holds the lock, or is about to release it; */                                                      \
    EVENT(lock_operation, (uint64_t object, bool begins), (object, begins))                                  \
    EVENT(lock_taken, (uint64_t from), (from))                                                               \
    EVENT(lock_held, (uint64_t object, bool holds), (object, holds))                                         \
    EVENT(lock_step, (uint64_t lock, uint64_t order, enum sg_lock_step step), (lock, order, step))           \
    EVENT(marks, (enum sg_trace_mark mark, uint64_t value), (mark, value))                                   \
    /* Teams and tasks: the main thread begins or ends an outermost parallel region; */                      \
    EVENT(parallel, (bool begins), (begins))                                                                 \
    /* `t` becomes a member of a team, which started at `from`; `idle`: it has no other work; all have       \
     * joined; */                                                                                            \
    EVENT(member_starts, (sg_thread * t, uint64_t from, bool idle), (t, from, idle))                         \
    EVENT(team_started, (uint64_t from), (from))                                                             \
    /* the main thread's outermost team begins, or all its members have arrived at a barrier at `place`, */  \
    /* SG_PHASE_*; */                                                                                        \
    EVENT(phase, (uint64_t place), (place))                                                                  \
    /* `number` is 0 until an observer has recorded the creation of the task. */                             \
    EVENT(task, (uint64_t *number, uint32_t region, enum sg_task_step step), (number, region, step))         \
    /* Loops that call the runtime: the running thread in one, see schedules/sg_schedules.h. */              \
    EVENT(loop, (enum sg_loop_step step, struct sg_scheduled * s, const struct sg_loop_turn *turn),          \
          (step, s, turn))                                                                                   \
    /* Messages: the running thread has received one; */                                                     \
    EVENT(message, (const sg_passed *m), (m))                                                                \
    /* its rank has completed a collective operation; */                                                     \
    EVENT(gathered, (const sg_gathered *g), (g))                                                             \
    /* `p` was charged `cycles` of communication, excluding the wait for a partner to arrive; */             \
    EVENT(talked, (sg_processor * p, enum sg_category category, uint64_t cycles), (p, category, cycles))     \
    /* those cycles waited for a message in flight, which processor `by` (-1: none) had sent at `released`;  \
     */                                                                                                      \
    /* `more`: the next charge is the rest of this wait. */                                                  \
    EVENT(message_waited, (enum sg_category category, int32_t by, uint64_t released, bool more),             \
          (category, by, released, more))                                                                    \
    /* a rank has a communicator of `size` ranks, made by the call before `site`, or names it. */            \
    EVENT(communicator, (uint32_t context, uint32_t size, const char *name, const void *site),               \
          (context, size, name, site))                                                                       \
    /* it has written `bytes` to standard output through a stream of the C library. */                       \
    EVENT(prints, (uint64_t bytes), (bytes))                                                                 \
    /* The program reads a clock at `site`. */                                                               \
    EVENT(reads_clock, (const void *site), (site))                                                           \
    /* The end: no thread runs any more; the accounts are complete up to each processor's clock, `end` is */ \
    /* the latest; the run is over or was stopped, and its result is about to be written. */                 \
    EVENT(closes, (void), ())                                                                                \
    EVENT(ends, (uint64_t end), (end))                                                                       \
    EVENT(stops, (void), ())                                                                                 \
    /* Accounts are settled: a lone processor has executed a block `executions` times; all blocks are added  \
     * up. */                                                                                                \
    EVENT(lone_executions, (uint32_t processor, uint32_t block, uint64_t executions),                        \
          (processor, block, executions))                                                                    \
    EVENT(settles, (void), ())                                                                               \
    /* If the parts do not add up to the total, says so in `fault`, unless that holds a text already. */     \
    EVENT(checks, (char *fault, size_t size), (fault, size))                                                 \
    /* Reports to `cells` all counts that grow in proportion to the simulated work: sg_cells.h. */           \
    EVENT(cells, (struct sg_cells * cells), (cells))                                                         \
    /* Completes the result's record of this site. */                                                        \
    EVENT(completes, (uint32_t number, sg_site *site), (number, site))

/* ANSWER(name, type, parameters): decided by at most one observer; NULL: by none. */
#define SG_OBSERVED_ANSWERS(ANSWER)                                                                          \
    /* The cause of a reference of the runtime that is charged to `category`; counts it. */                  \
    ANSWER(cause, enum sg_cause,                                                                             \
           (sg_processor * p, enum sg_category category, uint64_t address, enum sg_access kind))             \
    /* Does the filter that the observer has taken from `p` hit? */                                          \
    ANSWER(filter, bool,                                                                                     \
           (sg_processor * p, uint64_t address, uint64_t size, enum sg_access kind, const void *site))       \
    /* Cost in this run of `cycles` of a primitive, or of a private hit. */                                  \
    ANSWER(primitive, uint64_t, (sg_processor * p, enum sg_category category, uint64_t cycles))              \
    ANSWER(hit, uint64_t, (sg_processor * p, uint64_t address, const void *site, uint64_t cycles))           \
    /* Cost of a mispredicted branch, in fractions of a cycle. */                                            \
    ANSWER(penalty, uint64_t, (sg_processor * p, const void *site, uint64_t parts))                          \
    /* Charges the cost of a trapped block, to which SG_TRAP cycles were added. Returns 0. */                \
    ANSWER(block, int, (sg_processor * p, const void *site))                                                 \
    /* Busy cycles of a block over the whole run. */                                                         \
    ANSWER(block_cycles, uint64_t, (uint32_t number))                                                        \
    /* The limit of `p`; without the observer it would be `limit`. */                                        \
    ANSWER(limit, uint64_t, (sg_processor * p, uint64_t limit))                                              \
    /* `p` has reached its limit. True: without the observer it would not yield now. */                      \
    ANSWER(stays, bool, (sg_processor * p))                                                                  \
    /* What the program's clock must be ahead of `clock` for what is not simulated at the moment. */         \
    ANSWER(ahead, int64_t, (uint64_t clock))                                                                 \
    /* A visit that is skimmed has more work than it was to have. */                                         \
    ANSWER(exceeds, void, (void))                                                                            \
    /* A library function takes this long. True: that is not simulated at the moment. */                     \
    ANSWER(library, bool, (uint64_t cycles))

/* A section of the result file; `put` returns the number of records, and writes them unless `w` is NULL. */
struct sg_writer;
typedef struct sg_result_part {
    uint32_t id, record_size;
    uint64_t (*put)(struct sg_writer *w);
} sg_result_part;

#define SG_DECLARE_EVENT(name, parameters, arguments) void(*name) parameters;
#define SG_DECLARE_ANSWER(name, type, parameters)     type(*name) parameters;

typedef struct sg_observer {
    const char *name;
    /* Creates its state. Blocks and memory are known; the processors do not exist yet. */
    void (*open)(void);
    /* Does it take part in this run? NULL: always. The processors exist, but no team and no thread. */
    bool (*takes_part)(void);
    const sg_result_part *parts;
    uint32_t parts_count;
    SG_OBSERVED_EVENTS(SG_DECLARE_EVENT)
    SG_OBSERVED_ANSWERS(SG_DECLARE_ANSWER)
} sg_observer;

/* The function to call for each event: that of the only observer, or one that calls all; NULL: none. */
typedef struct sg_observed_events {
    SG_OBSERVED_EVENTS(SG_DECLARE_EVENT)
    SG_OBSERVED_ANSWERS(SG_DECLARE_ANSWER)
} sg_observed_events;
extern sg_observed_events sg_observed;

/* sg_observe_NAME(arguments) calls the observers of an event. */
#define SG_DEFINE_EVENT(name, parameters, arguments)                                                         \
    static inline void sg_observe_##name parameters                                                          \
    {                                                                                                        \
        if (SG_UNLIKELY(sg_observed.name != NULL))                                                           \
            sg_observed.name arguments;                                                                      \
    }
SG_OBSERVED_EVENTS(SG_DEFINE_EVENT)

/* Starts or stops calling `observer`. Only the last one may withdraw from inside a callback. */
void sg_observer_register(const sg_observer *observer);
void sg_observer_withdraw(const sg_observer *observer);

#endif

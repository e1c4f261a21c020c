/* Which thread runs on which simulated processor, and when; creation and end of threads. */
#ifndef SG_SCHED_H
#define SG_SCHED_H

#include "sg_state.h"

/* ---- sg_sched.c ---- */

/* The running thread; NULL before and after the simulation. */
static inline sg_thread *sg_self(void)
{
    return sg_now->thread;
}

/* Makes `t` the thread of processor 0 and returns that processor; continues with it for good. */
sg_processor *sg_sched_first(sg_thread *t);
void sg_sched_resume_first(sg_processor *p) __attribute__((noreturn));

/* ---- sg_sched_start.c ---- */

void sg_sched_open(void);
/* Leaves the host's stack for good and continues in `entry` as thread 0 on processor 0. */
void sg_sched_enter(void (*entry)(void)) __attribute__((noreturn));
/* Starts the simulation before main: the running code becomes thread 0, on the host's stack until
 * sg_sched_continue switches to the thread's own stack and runs `entry` there. */
void sg_sched_begin(void);
void sg_sched_continue(void (*entry)(void)) __attribute__((noreturn));
/* ---- sg_sched.c ---- */

/* Returns when no processor with a thread has an earlier clock (ties: lower number first) and p's pending
 * reference, if any, is done. The thread stays on `p`. */
void sg_turn_slow(sg_processor *p);
/* Called when a processor has run its quantum ahead of the others, or its thread's time slice is over. The
 * thread may come back on another processor, as after sg_suspend: read sg_now again. */
void sg_yield(sg_processor *p, const void *site);
/* The same, whatever the limit. */
void sg_give_way(sg_processor *p, const void *site);
/* Runs the other threads of this processor first. */
void sg_pass(const void *site);
/* The running thread waits until sg_wake. While its processor has nothing else to do, the time is charged to
 * `category` of the next thread to run there. `holder` is -1 if there is none. */
void sg_suspend(enum sg_category category, uint64_t object, int32_t holder);
/* The same, at most until the clock reaches `deadline`; false: timed out, and it has left its queue. */
bool sg_suspend_until(enum sg_category category, uint64_t object, int32_t holder, uint64_t deadline);
/* `t` has a signal to handle: if it waits, it handles it now and resumes its wait. */
void sg_interrupt(sg_thread *t);
/* Makes the blocked thread `t` ready at time `when`. */
void sg_wake(sg_thread *t, uint64_t when);
/* Wakes `t`, which sleeps or is about to, at time `when` at the latest; a later call may make that
 * earlier. */
void sg_wake_by(sg_thread *t, uint64_t when);
void sg_refresh_limit(sg_processor *p);

/* ---- sg_thread.c: threads come and go ---- */

void sg_thread_open(void);
/* Distance between stacks, which start at SG_STACK_BASE. */
uint64_t sg_stack_stride(void);
/* Creates a thread with a stack and a thread pointer, not yet started, in the running thread's regions. Stops
 * the run if there are already sg->most_threads. */
sg_thread *sg_thread_new(void);
/* Creates `count` threads at once, so that the host starts them in parallel; later calls of sg_thread_new use
 * them. */
void sg_thread_prepare(uint32_t count);
/* Starts a new thread in `entry`, which must not return, at time `when`. */
void sg_thread_start(sg_thread *t, void (*entry)(void), uint64_t when);
/* Creates one with a stack of at least `stack_size` bytes, or with the program's own at `stack`, if not NULL.
 * NULL: that stack is too small. */
sg_thread *sg_thread_new_on(void *stack, size_t stack_size);
/* The thread with this handle, or NULL. */
sg_thread *sg_thread_of(pthread_t handle);
/* Ends the running thread for good. */
void sg_thread_end(void) __attribute__((noreturn));
/* Gives back an ended thread's number and host thread. */
void sg_thread_free(sg_thread *t);
/* Copies to `t`, which will run main, what constructors have written to the program's thread-local data. */
void sg_thread_adopt_data(sg_thread *t);
/* May thread `t` run on processor `id`? */
static inline bool sg_thread_fits(const sg_thread *t, uint32_t id)
{
    return t->places == NULL || (t->places[id / 64] >> id % 64 & 1) != 0;
}

static inline uint64_t sg_key(const sg_processor *p)
{
    return (uint64_t)p->clock << SG_KEY_BITS | p->id;
}

/* Key of the earliest processor that waits for its turn; UINT64_MAX: none. */
static inline uint64_t sg_first_key(void)
{
    return sg->run_queue[1];
}

/* Is some ready processor earlier than `p`? */
static inline bool sg_is_late(const sg_processor *p)
{
    return sg_first_key() < sg_key(p);
}

/* Must the late processor `p` yield, if it is one of several processors of a rank? */
static inline bool sg_group_waits(const sg_processor *p)
{
    return sg->run_queue[sg->group_node] < sg_key(p) || sg_key(p) - sg_first_key() > sg->slack;
}

/* Before affecting threads of the running rank. */
static inline void sg_turn(sg_processor *p)
{
    if (sg_is_late(p) && (SG_LIKELY(!sg->grouped) || sg_group_waits(p)))
        sg_turn_slow(p);
}

/* Before affecting other ranks; in lockstep that happens only in exchanges. */
static inline void sg_turn_of_all(sg_processor *p)
{
    if (!sg_is_late(p) || sg->lockstep)
        return;
    p->coroutine->exact = true;
    sg_turn_slow(p);
    p->coroutine->exact = false;
}

/* ---- sg_deferred.c: a rank's effects on others happen in order, but the rank continues at once ----
 *
 * The order of interactions between ranks stays the same: the operation is performed when the processor would
 * have had its turn. For the accounts to stay the same too, some other processor must have a thread then
 * (otherwise executions would count as serial code), and nobody may observe the clock at which a processor
 * wakes others. */

/* May the running processor `p` defer an operation? It must be a rank with one thread on a node of its
 * own. */
bool sg_may_defer(const sg_processor *p);
/* Calls `perform` with `d` once no processor is earlier than the running `p` is now. */
void sg_defer(sg_processor *p, sg_deferred *d, void (*perform)(sg_deferred *d));
/* The running `p` would take its turn only to do nothing: true if it need not. */
bool sg_defer_turn(sg_processor *p);
void sg_settle_slow(void);

/* Before something that others must see in the same order but that needs no turn: waits for the last turn
 * that the running processor skipped, and so until all its deferred operations are done. */
static inline void sg_settle(void)
{
    if (SG_UNLIKELY(sg_now->turn_due != 0))
        sg_settle_slow();
}

/* Puts `t` into `queue`, even if it still has work to do before it suspends itself. */
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

/* Takes `t` out of its queue, if any. */
void sg_queue_remove(sg_thread *t);
void sg_wake_all(sg_queue *queue, uint64_t when);

#endif

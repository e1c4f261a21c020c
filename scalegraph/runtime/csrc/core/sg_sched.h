/* Which thread runs on which simulated processor, and when; threads come and go. */
#ifndef SG_SCHED_H
#define SG_SCHED_H

#include "sg_state.h"

/* ---- sg_sched.c ---- */

/* The running thread; NULL before the simulation and after its end. */
static inline sg_thread *sg_self(void)
{
    return sg_now->thread;
}

/* Makes `t` the thread of processor 0 and returns that; continues with it for good. */
sg_processor *sg_sched_first(sg_thread *t);
void sg_sched_resume_first(sg_processor *p) __attribute__((noreturn));

/* ---- sg_sched_start.c ---- */

void sg_sched_open(void);
/* Leaves the host's stack for good and continues in `entry` as thread 0 on processor 0. */
void sg_sched_enter(void (*entry)(void)) __attribute__((noreturn));
/* Begins the simulation before main: what runs is thread 0 from now on, on the host's stack until
 * sg_sched_continue gives it its own and runs `entry` there. */
void sg_sched_begin(void);
void sg_sched_continue(void (*entry)(void)) __attribute__((noreturn));
/* sg_start.c: the program, which has entered the runtime at `site` before main, is to be simulated from here
 * on. False: it has ended already. */
extern bool (*sg_begin_early)(const void *site);
/* ---- sg_sched.c ---- */

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
 * charged to `category` of whoever runs there next. `holder` is -1 when nobody in particular. */
void sg_suspend(enum sg_category category, uint64_t object, int32_t holder);
/* The same, at most until the clock `deadline`; false: nobody woke it, and it has left its queue. */
bool sg_suspend_until(enum sg_category category, uint64_t object, int32_t holder, uint64_t deadline);
/* `t` has a signal to handle: if it waits, it does so now, and goes on waiting. */
void sg_interrupt(sg_thread *t);
/* Makes the blocked thread `t` ready at time `when`. */
void sg_wake(sg_thread *t, uint64_t when);
/* The thread `t`, which sleeps or is about to, goes on at time `when` at the latest; until then another call
 * may make that earlier. */
void sg_wake_by(sg_thread *t, uint64_t when);
void sg_refresh_limit(sg_processor *p);

/* ---- sg_thread.c: threads come and go ---- */

void sg_thread_open(void);
/* From one stack to the next, from SG_STACK_BASE on. */
uint64_t sg_stack_stride(void);
/* A thread with a stack and a thread pointer, not yet started, in the regions of the running one. Stops the
 * run when there are sg->most_threads. */
sg_thread *sg_thread_new(void);
/* Makes `count` threads at once, so that the host starts them side by side; later calls of sg_thread_new
 * take those. */
void sg_thread_prepare(uint32_t count);
/* Makes a new thread run `entry`, which must not return, from time `when` on. */
void sg_thread_start(sg_thread *t, void (*entry)(void), uint64_t when);
/* The same with a stack of at least `stack_size` bytes, or with the program's own at `stack`, if not NULL.
 * NULL: that one is too small. */
sg_thread *sg_thread_new_on(void *stack, size_t stack_size);
/* The thread with this handle; NULL: none. */
sg_thread *sg_thread_of(pthread_t handle);
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
    return (uint64_t)p->clock << SG_KEY_BITS | p->id;
}

/* Key of the earliest of the processors that wait for their turn; UINT64_MAX: there are none. */
static inline uint64_t sg_first_key(void)
{
    return sg->run_queue[1];
}

/* Is some ready processor earlier than `p`? */
static inline bool sg_is_late(const sg_processor *p)
{
    return sg_first_key() < sg_key(p);
}

/* Must `p`, which is late, give way if it is one of several processors of a rank? */
static inline bool sg_group_waits(const sg_processor *p)
{
    return sg->run_queue[sg->group_node] < sg_key(p) || sg_key(p) - sg_first_key() > sg->slack;
}

/* For what concerns the threads of the running rank. */
static inline void sg_turn(sg_processor *p)
{
    if (sg_is_late(p) && (SG_LIKELY(!sg->grouped) || sg_group_waits(p)))
        sg_turn_slow(p);
}

/* For what ranks do to each other; in lockstep that happens in exchanges only. */
static inline void sg_turn_of_all(sg_processor *p)
{
    if (!sg_is_late(p) || sg->lockstep)
        return;
    p->coroutine->exact = true;
    sg_turn_slow(p);
    p->coroutine->exact = false;
}

/* ---- sg_deferred.c: what a rank does to others is done at its time, but the rank goes on at once ----
 *
 * The order of all that ranks do to each other stays the same: the operation is done when the processor would
 * have had its turn. So that accounts stay the same, too, some other processor must have a thread then, or
 * executions would be of serial code; and nobody may observe at which clock a processor wakes others. */

/* May the running processor `p`, which is a rank of one thread on a node of its own, defer an operation? */
bool sg_may_defer(const sg_processor *p);
/* `perform` is called with `d` when no processor is earlier than the running `p` is now. */
void sg_defer(sg_processor *p, sg_deferred *d, void (*perform)(sg_deferred *d));
/* The running `p` would take its turn and do nothing: it need not, if this returns true. */
bool sg_defer_turn(sg_processor *p);
void sg_settle_slow(void);

/* Before something that others must see in the same order, though it needs no turn: waits for the last turn
 * that the running processor has not taken, and so until all that it has deferred is done. */
static inline void sg_settle(void)
{
    if (SG_UNLIKELY(sg_now->turn_due != 0))
        sg_settle_slow();
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

#endif

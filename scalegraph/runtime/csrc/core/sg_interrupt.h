/* Waits that a signal interrupts: the handler runs on the waiting thread, which then resumes its wait.
 * Private to sg_sched.c. */
#ifndef SG_INTERRUPT_H
#define SG_INTERRUPT_H

#include "sg_timed.h"

/* May a handler run in this kind of wait? Otherwise signals are handled when the wait is over. */
static bool may_interrupt(const sg_thread *t)
{
    enum sg_category c = t->wait_category;
    return !t->by_message &&
           (c == SG_CATEGORY_IDLE_WAIT || c == SG_CATEGORY_IDLE_LOCK || c == SG_CATEGORY_IDLE_BARRIER);
}

static void refuse_nested_wait(void)
{
    sg_stop(SG_STATUS_UNSUPPORTED,
            "a signal handler waits at 0x%llx while its thread waits, which the simulator does not support",
            (unsigned long long)(uintptr_t)sg_now->site);
}

static void note_interruption(sg_thread *t)
{
    t->interrupted = true;
    t->woken = false;
    t->queued = t->queue != NULL;
    t->was_timed = t->timed;
    if (t->timed)
        stop_timing(t);
}

/* Handles the signals that interrupt the wait of the running thread `t`. True: it resumes its wait. */
static bool waits_on(sg_thread *t)
{
    sg_thread wait = {
        .wait_category = t->wait_category, .wait_object = t->wait_object, .wait_holder = t->wait_holder};
    sg->deliver_signals();
    sg_settle();
    t->interrupted = false;
    bool over = t->woken || (t->queued && t->queue == NULL);
    t->broken &= !over && t->breaks != SG_GOES_ON;
    if (t->broken)
        sg_queue_remove(t);
    if (over || t->broken)
        return false;
    t->wait_category = wait.wait_category;
    t->wait_object = wait.wait_object;
    t->wait_holder = wait.wait_holder;
    if (t->was_timed)
        start_timing(t, t->deadline > sg_now->clock ? t->deadline : sg_now->clock);
    return true;
}

#endif

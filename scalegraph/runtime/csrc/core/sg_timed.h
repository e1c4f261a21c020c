/* Threads with a deadline: one entry in the order of the processors stands for all. Private to sg_sched.c. */
#ifndef SG_TIMED_H
#define SG_TIMED_H

#include "sg_run_queue.h"

#define NEVER (UINT64_MAX >> SG_KEY_BITS)

/* Sets the entry to the earliest timed wait; firing too early does no harm. */
static void arm_timer(void)
{
    if (sg->timed == NULL || sg->timed->deadline >= sg->timer)
        return;
    sg_run_queue_set_timer(sg->timed->deadline << SG_KEY_BITS | SG_TIMER);
    sg->timer = sg->timed->deadline;
}

static void start_timing(sg_thread *t, uint64_t deadline)
{
    sg_thread **at = &sg->timed;
    while (*at != NULL && (*at)->deadline <= deadline)
        at = &(*at)->next_timed;
    t->deadline = deadline;
    t->timed = true;
    t->next_timed = *at;
    *at = t;
    arm_timer();
}

static void stop_timing(sg_thread *t)
{
    sg_thread **at = &sg->timed;
    while (*at != t)
        at = &(*at)->next_timed;
    *at = t->next_timed;
    t->timed = false;
}

#endif

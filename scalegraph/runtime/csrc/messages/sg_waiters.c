/* Threads that wait for a completion, and go on once its time is known; also memory and accounting for all
 * code that deals with messages. */
#include <stdlib.h>

#include "sg_alloc.h"
#include "sg_message.h"

void *sg_message_memory(size_t size)
{
    bool before = sg_alloc_own(true);
    void *memory = malloc(size);
    sg_alloc_own(before);
    if (memory == NULL)
        sg_stop(SG_STATUS_INTERNAL, "no memory for the messages of the simulation");
    return memory;
}

void sg_message_charge(enum sg_category category, uint64_t cycles)
{
    sg_processor *p = sg_now;
    uint64_t before = p->clock;
    sg_charge_site(p, category, cycles);
    sg_observe_talked(p, category, p->clock - before);
}

static void expect(sg_thread *t, const sg_completion *done)
{
    t->rank->talk = t->talk = done->talk;
    t->by_message = true;
    t->met = done->met;
    t->jam = done->contention;
}

void sg_completion_expect(sg_thread *t, const sg_completion *done, uint64_t when)
{
    if (t->timed && t->deadline <= when)
        return;
    expect(t, done);
    sg_wake_by(t, when);
}

/* `t`, if not NULL, waits for this among other things; its completion time is now known. */
void sg_completion_wake(sg_thread *t, const sg_completion *done, uint64_t now)
{
    uint64_t when = done->clock > now ? done->clock : now;
    if (t == NULL || t->state != SG_BLOCKED)
        return;
    if (t->for_first) {
        sg_completion_expect(t, done, when);
        return;
    }
    expect(t, done);
    sg_wake(t, when);
}

void sg_waiters_wake(const sg_waiter *list, const sg_completion *done, uint64_t now)
{
    for (const sg_waiter *w = list; w != NULL; w = w->next)
        sg_completion_wake(w->thread, done, now);
}

void sg_waiter_add(sg_waiter **list, sg_waiter *w)
{
    sg_waiter **end = list;
    while (*end != NULL)
        end = &(*end)->next;
    *w = (sg_waiter){NULL, list, sg_self()};
    *end = w;
}

void sg_waiter_remove(sg_waiter *w)
{
    sg_waiter **at = w->list;
    if (at == NULL)
        return;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    w->list = NULL;
}

void sg_waiters_leave(sg_waiter **list)
{
    for (sg_waiter *w = *list; w != NULL; w = w->next)
        w->list = NULL;
    *list = NULL;
}

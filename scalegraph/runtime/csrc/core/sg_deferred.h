/* Operations that processors have deferred, in the global order: the time of a processor's first one is its
 * key there, even while it runs. Private to the scheduler. */
#ifndef SG_DEFERRED_H
#define SG_DEFERRED_H

#include "sg_run_queue.h"

/* Key of the turn that `p` waits for, once its deferred operations are done. */
static inline uint64_t sg_turn_key(const sg_processor *p)
{
    return SG_UNLIKELY(p->coroutine->settles) ? p->turn_due << SG_KEY_BITS | p->id : sg_key(p);
}

/* Puts `p`, which has a thread, into the order. */
static inline void sg_await_turn(sg_processor *p)
{
    if (SG_UNLIKELY(p->coroutine->deferred != NULL))
        p->coroutine->queued = true;
    else
        sg_run_queue_add(p->id, sg_turn_key(p));
}

/* Processor `id` is next: performs its first deferred operation. False: the processor itself continues. */
static inline bool sg_deferred_perform(uint32_t id)
{
    sg_coroutine *c = &sg->coroutine[id];
    const sg_processor *p = &sg->processor[id];
    if (c->deferred == NULL)
        return false;
    sg_deferred *first = c->deferred->next;
    uint64_t clock = first->clock;
    bool last = first == c->deferred;
    if (last)
        c->deferred = NULL;
    else
        c->deferred->next = first->next;
    sg->deferred--;
    first->perform(first); /* it may be gone then */
    if (!last)
        sg_run_queue_set(sg->leaf_of[id], c->deferred->next->clock << SG_KEY_BITS | id);
    else if (c->settles && p->turn_due == clock) /* this was its turn */
        return false;
    else if (c->queued)
        sg_run_queue_set(sg->leaf_of[id], sg_turn_key(p));
    else
        sg_run_queue_remove(id);
    return true;
}

#endif

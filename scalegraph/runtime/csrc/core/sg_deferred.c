/* Ranks continue before their effects on others are carried out. */
#include "sg_deferred.h"

/* Is some other processor with a thread later than `p`? Also says no if a quick search finds none. */
static bool is_before_another(const sg_processor *p)
{
    enum { TRIES = 16 };
    static uint32_t found = 0; /* its leaf; mostly the same one is later again */
    const uint64_t *leaf = &sg->run_queue[sg->run_queue_leaves];
    uint64_t key = sg_key(p);
    uint32_t at = found;
    for (int i = 0; i < TRIES; i++) {
        if (leaf[at] > key && leaf[at] != UINT64_MAX) {
            found = at;
            return true;
        }
        at = at + 2 < sg->run_queue_leaves ? at + 1 : 0; /* the last one is the timer's */
    }
    return false;
}

bool sg_may_defer(const sg_processor *p)
{
    return sg->defers && sg_is_late(p) && sg->threads == sg->ranks && sg_observed.wakes == NULL &&
           is_before_another(p);
}

void sg_defer(sg_processor *p, sg_deferred *d, void (*perform)(sg_deferred *d))
{
    sg_coroutine *c = p->coroutine;
    d->clock = p->turn_due = p->clock;
    d->perform = perform;
    if (c->deferred == NULL) {
        d->next = d;
        c->queued = false;
        sg_run_queue_add(p->id, sg_key(p));
    } else {
        d->next = c->deferred->next;
        c->deferred->next = d;
    }
    c->deferred = d;
    sg->deferred++;
}

bool sg_defer_turn(sg_processor *p)
{
    if (!sg_may_defer(p))
        return false;
    p->turn_due = p->clock;
    return true;
}

void sg_settle_slow(void)
{
    sg_processor *p = sg_now;
    p->coroutine->settles = true;
    sg_turn_slow(p);
    p->coroutine->settles = false;
}

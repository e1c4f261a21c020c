/* How far a processor may run before another one gets its turn. Private to sg_sched.c. */
#ifndef SG_LIMIT_H
#define SG_LIMIT_H

#include "sg_run_queue.h"

/* The same for ranks with several threads: the quantum applies between threads, the slack between ranks. */
static uint64_t group_limit(uint64_t limit)
{
    uint64_t own = sg->run_queue[sg->group_node];
    if (limit != SG_NEVER)
        limit += (sg->slack >> SG_KEY_BITS) - sg->config.quantum_cycles;
    if (own == UINT64_MAX)
        return limit;
    own = (own >> SG_KEY_BITS) + sg->config.quantum_cycles;
    return own < limit ? own : limit;
}

static inline uint64_t limit_of(const sg_processor *p)
{
    uint64_t limit = SG_NEVER;
    if (sg_first_key() != UINT64_MAX)
        limit = (sg_first_key() >> SG_KEY_BITS) + sg->config.quantum_cycles;
    if (SG_UNLIKELY(sg->grouped))
        limit = group_limit(limit);
    if (SG_UNLIKELY(p->ready.head != NULL)) {
        uint64_t next = p->ready.head->ready_at > p->slice_end ? p->ready.head->ready_at : p->slice_end;
        limit = next < limit ? next : limit;
    }
    if (SG_UNLIKELY(sg->lone_due) && sg->rest_since - 1 < limit)
        limit = sg->rest_since - 1;
    if (SG_UNLIKELY(sg->next_tick != NULL) && sg->next_tick[p->id] - 1 < limit)
        limit = sg->next_tick[p->id] - 1;
    if (SG_UNLIKELY(sg->signals_due != 0) && p->thread != NULL && p->thread->signalled)
        limit = 0;
    return limit;
}

static __attribute__((noinline)) void set_attentive_limit(sg_processor *p)
{
    p->limit = sg->stop_signal ? 0 : sg_observed.limit(p, limit_of(p));
}

#endif

/* What a trace records of messages between ranks, and why a thread waits. */
#include "sg_observers.h"
#include "sg_rank.h"
#include "sg_trace_lane.h"

void sg_trace_message(const sg_passed *m)
{
    const sg_processor *p = &sg->processor[m->receiver];
    if (!sg_trace_tells(SG_TRACED_MESSAGES) || !sg_trace->lane[p->id].on || !sg_trace_ready())
        return;
    unsigned communicator = m->context == 0  ? SG_COMMUNICATOR_WORLD
                            : m->context & 1 ? SG_COMMUNICATOR_COLLECTIVE
                                             : SG_COMMUNICATOR_OTHER;
    sg_trace_event_put(p, SG_EVENT_MESSAGE, 0, m->sender, m->received, m->sent, m->posted);
    sg_trace_event_put(p, SG_EVENT_PARCEL, communicator, 0, m->left, m->bytes, (uint64_t)(uint32_t)m->tag);
}

void sg_trace_gathered(const sg_gathered *g)
{
    const sg_processor *p = sg_now;
    if (!sg_trace_tells(SG_TRACED_MESSAGES) || !sg_trace->lane[p->id].on || !sg_trace_ready())
        return;
    sg_trace_event_put(p, SG_EVENT_COLLECTIVE, g->operation, g->context / 2, p->clock, g->begin,
                       (uint64_t)(g->root + 1));
    sg_trace_event_put(p, SG_EVENT_CARRIED, 0, 0, p->clock, g->sent, g->received);
    sg_trace_event_put(p, SG_EVENT_MARK, SG_MARK_COLLECTIVE_DISSEMINATION + g->algorithm, 0, p->clock,
                       g->sent + g->received, 0);
    if (g->part_of != SG_PART_OF_NOTHING)
        sg_trace_event_put(p, SG_EVENT_MARK, SG_MARK_IN_FINALIZE + g->part_of - SG_PART_OF_FINALIZE, 0,
                           p->clock, g->sent + g->received, 0);
}

void sg_trace_wait_put(const sg_processor *p, enum sg_trace_why why, uint64_t begin, uint64_t end,
                       uint64_t object, int32_t holder, uint64_t released)
{
    uint32_t region = sg_trace->lane[p->id].account->rest.region;
    if (!sg_trace_tells(SG_TRACED_WAITS) || begin >= end)
        return;
    if (holder == (int32_t)p->id || released > end) {
        holder = -1;
        released = end;
    }
    sg_trace_event_put(p, SG_EVENT_WAIT, why, region, end, begin, object);
    sg_trace_event_put(p, SG_EVENT_WAKER, 0, (uint32_t)(holder + 1), released, 0, 0);
}

int32_t sg_trace_partner_of(const sg_thread *t)
{
    if (t->rank == NULL || t->rank->talk.peer < 0)
        return -1;
    uint32_t first = sg->all_ranks[t->rank->talk.peer]->first_processor;
    return (int32_t)(sg_now->id - first < sg->own_processors ? sg_now->id : first);
}

/* The time in flight is one wait, even if charged in pieces: it is recorded with its last piece. */
static void put_way(const sg_processor *p, uint64_t begin, uint64_t end, uint64_t object, int32_t holder,
                    uint64_t released, bool more)
{
    sg_lane *l = &sg_trace->lane[p->id];
    if (more) {
        l->on_way = end - begin;
        return;
    }
    begin -= l->on_way;
    bool served = released == SG_NEVER; /* no action of its partner is needed */
    sg_trace_wait_put(p, SG_WHY_RECEIVE, begin, end, object, served ? -1 : holder, served ? begin : released);
    l->on_way = 0;
}

void sg_trace_wait_message(const sg_processor *p, const sg_thread *t, enum sg_category category,
                           uint64_t begin, uint64_t end)
{
    const sg_waker *w = &sg_trace->waker[t->id];
    bool way = category == SG_CATEGORY_IDLE_TRANSFER || category == SG_CATEGORY_IDLE_NETWORK;
    bool more = category == SG_CATEGORY_IDLE_TRANSFER && t->jam > 0;
    if (way)
        put_way(p, begin, end, t->wait_object, w->processor, w->released, more && begin < end);
    else
        sg_trace_wait_put(p, sg_trace_why_of(t, category), begin, end, t->wait_object, w->processor,
                          w->released);
}

void sg_trace_message_waited(enum sg_category category, int32_t by, uint64_t released, bool more)
{
    uint64_t begin, end;
    if (!sg_trace_ready())
        return;
    sg_lane_cut_idle(sg_now, category, &begin, &end);
    put_way(sg_now, begin, end, (uint64_t)(uint32_t)by, by, released, more && begin < end);
}

enum sg_trace_why sg_trace_why_of(const sg_thread *t, enum sg_category category)
{
    static const uint8_t waits[] = SG_CATEGORY_WAITS;
    if (category != SG_CATEGORY_IDLE_WAIT)
        return (enum sg_trace_why)waits[category];
    if (t->wait_holder >= 0)
        return SG_WHY_JOIN; /* nothing else waits for a particular thread */
    return t->wait_object != 0 ? SG_WHY_CONDITION : SG_WHY_OTHER; /* otherwise it sleeps */
}

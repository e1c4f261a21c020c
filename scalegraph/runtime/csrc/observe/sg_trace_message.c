/* What a trace records of messages between ranks, and why a thread waits. */
#include "sg_observers.h"
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
}

enum sg_trace_why sg_trace_why_of(const sg_thread *t, enum sg_category category)
{
    switch (category) {
    case SG_CATEGORY_IDLE_BARRIER:
        return SG_WHY_BARRIER;
    case SG_CATEGORY_IDLE_LOCK:
        return SG_WHY_LOCK;
    case SG_CATEGORY_IDLE_ORDER:
        return SG_WHY_ORDERED;
    case SG_CATEGORY_IDLE_TASK:
        return SG_WHY_TASK;
    case SG_CATEGORY_IDLE_WAIT:
        if (t->wait_holder >= 0)
            return SG_WHY_JOIN; /* nothing else waits for one thread by its name */
        return t->wait_object != 0 ? SG_WHY_CONDITION : SG_WHY_OTHER; /* else it sleeps */
    case SG_CATEGORY_IDLE_LATE_SENDER:
    case SG_CATEGORY_IDLE_TRANSFER:
    case SG_CATEGORY_IDLE_NETWORK:
        return SG_WHY_RECEIVE;
    case SG_CATEGORY_IDLE_LATE_RECEIVER:
        return SG_WHY_SEND;
    case SG_CATEGORY_IDLE_COLLECTIVE:
        return SG_WHY_COLLECTIVE;
    default:
        return SG_WHY_OTHER;
    }
}

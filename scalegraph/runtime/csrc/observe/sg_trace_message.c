/* What a trace records of messages between ranks. */
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

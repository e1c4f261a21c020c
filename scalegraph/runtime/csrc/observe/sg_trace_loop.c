/* What a trace records of loop chunks: where a chunk comes from, and when it is done. Its start and number of
 * iterations are in the preceding mark `chunk`. */
#include "sg_loop_turn.h"
#include "sg_observers.h"
#include "sg_trace_lane.h"

static void put(enum sg_trace_mark mark, uint64_t value)
{
    sg_trace_event_put(sg_now, SG_EVENT_MARK, mark, sg_region(sg_self()), sg_now->clock, value, 0);
}

void sg_trace_loop(enum sg_loop_step step, struct sg_scheduled *s, const struct sg_loop_turn *turn)
{
    (void)s;
    const schedule_chunk *c = &turn->chunk;
    if ((step != SG_LOOP_TAKEN && step != SG_LOOP_DONE) || !sg_trace_tells(SG_TRACED_CHUNKS) ||
        !sg_trace->lane[sg_now->id].on || !sg_trace_ready())
        return;
    if (step == SG_LOOP_DONE) {
        put(SG_MARK_CHUNK_END, c->count);
        return;
    }
    put(SG_MARK_CHUNK_FIRST, c->first);
    put(SG_MARK_CHUNK_OWNER, c->owner == UINT32_MAX ? 0 : (uint64_t)c->owner + 1);
    if (c->control > 0) {
        put(SG_MARK_CHUNK_CONTROL, c->control);
        put(SG_MARK_CHUNK_STATE, (uint64_t)(c->state + 2));
    }
}

/* What a trace records of each processor: stretches of time within a window. */
#include "sg_array.h"
#include "sg_trace_file.h"
#include "sg_trace_lane.h"

struct sg_trace *sg_trace = NULL;

bool sg_trace_tells(enum sg_traced what)
{
    return (sg_trace->what & what) != 0;
}

void sg_trace_event_put(const sg_processor *p, enum sg_trace_event event, unsigned what, uint32_t region,
                        uint64_t time, uint64_t first, uint64_t second)
{
    sg_trace_record record = {(uint8_t)event, (uint8_t)what, (uint16_t)p->id, region, time, first, second};
    if (time < sg_trace->begin)
        sg_trace->begin = time;
    if (time > sg_trace->end)
        sg_trace->end = time;
    if (event != SG_EVENT_WAKER && region >= sg_trace->most_regions)
        sg_trace->most_regions = region + 1;
    sg_trace_put(&record);
}

/* ---- the window ---- */

void sg_lane_add_counts(const sg_processor *p, const sg_share *share)
{
    sg_lane *l = &sg_trace->lane[p->id];
    l->ops += share->ops;
    l->flops += share->flops;
    l->references += share->references;
    l->misses += share->misses;
}

void sg_lane_put_counts(const sg_processor *p, uint64_t time)
{
    sg_lane *l = &sg_trace->lane[p->id];
    bool any = (l->ops | l->flops | l->references | l->misses) != 0;
    if ((any || l->counted < time) && sg_trace_tells(SG_TRACED_COUNTERS)) {
        sg_trace_event_put(p, SG_EVENT_COUNTS, 0, 0, time, l->ops, l->flops);
        sg_trace_event_put(p, SG_EVENT_COUNTS, 1, 0, time, l->references, l->misses);
    }
    l->counted = time;
    l->ops = l->flops = l->references = l->misses = 0;
}

void sg_lane_turn_on(sg_processor *p, uint64_t time)
{
    sg_lane *l = &sg_trace->lane[p->id];
    l->on = true;
    l->counted = time;
    l->ops = l->flops = l->references = l->misses = 0;
    for (uint32_t i = 0; i < l->depth && sg_trace_tells(SG_TRACED_REGIONS); i++)
        sg_trace_event_put(p, SG_EVENT_CALL, 1, l->regions[i], time, 0, 0);
}

void sg_lane_turn_off(sg_processor *p, uint64_t time)
{
    sg_lane *l = &sg_trace->lane[p->id];
    sg_lane_put_counts(p, time);
    for (uint32_t i = l->depth; i > 0 && sg_trace_tells(SG_TRACED_REGIONS); i--)
        sg_trace_event_put(p, SG_EVENT_CALL, 2, l->regions[i - 1], time, 0, 0);
    l->on = false;
}

static bool in_window(uint64_t time)
{
    return time >= sg_trace->since && time < sg_trace->until;
}

void sg_lane_turn(sg_processor *p)
{
    sg_lane *l = &sg_trace->lane[p->id];
    bool wanted = in_window(p->clock);
    if (l->on && !wanted)
        sg_lane_turn_off(p, p->clock);
    else if (!l->on && wanted)
        sg_lane_turn_on(p, p->clock);
}

void sg_lane_set_due(sg_lane *l)
{
    l->due = l->on ? sg_trace->until : l->from < sg_trace->since ? sg_trace->since : UINT64_MAX;
    if (l->on && sg_trace->interval != 0 && l->from + sg_trace->interval < l->due)
        l->due = l->from + sg_trace->interval;
}

void sg_lane_set_all_due(void)
{
    for (uint32_t i = 0; i < sg->processors; i++)
        sg_lane_set_due(&sg_trace->lane[i]);
}

void sg_lane_open_window(uint64_t time)
{
    const sg_config *config = &sg->config;
    sg_trace->since = time > config->trace_begin ? time : config->trace_begin;
    sg_trace->until = config->trace_end != 0 ? config->trace_end : UINT64_MAX;
    sg_lane_set_all_due();
}

/* ---- stretches ---- */

sg_told *sg_lane_told_of(sg_lane *l, uint32_t region)
{
    SG_ARRAY_HOLD_IN(sg_trace_larger, l->told, l->told_size, region, 16);
    if (SG_UNLIKELY(l->told[region] == NULL))
        l->told[region] = sg_told_new();
    return l->told[region];
}

static void put_share(sg_processor *p, const sg_share *share)
{
    const sg_lane *l = &sg_trace->lane[p->id];
    uint32_t region = l->account->rest.region;
    for (unsigned category = 0; category < SG_CATEGORY_COUNT && sg_trace_tells(SG_TRACED_SHARES); category++)
        if (share->categories[category] != 0)
            sg_trace_event_put(p, SG_EVENT_SHARE, category, region, p->clock, l->from,
                               share->categories[category]);
    sg_lane_add_counts(p, share);
    if (p->clock - l->counted >= sg_trace->interval)
        sg_lane_put_counts(p, p->clock);
    sg_trace->inexact += share->inexact;
}

void sg_lane_cut(sg_processor *p)
{
    sg_lane *l = &sg_trace->lane[p->id];
    sg_share share;
    if (p->clock != l->from) {
        sg_told_since(sg_lane_told_of(l, l->account->rest.region), l->account, p->clock - l->from, &share);
        if (l->on)
            put_share(p, &share);
        l->from = p->clock;
        sg_lane_turn(p);
    }
    l->account = p->account;
    sg_lane_set_due(l);
}

void sg_lane_cut_idle(sg_processor *p, enum sg_category category, uint64_t *begin, uint64_t *end)
{
    sg_lane *l = &sg_trace->lane[p->id];
    sg_share share;
    uint64_t from = l->from;
    sg_told_since(sg_lane_told_of(l, l->account->rest.region), l->account, p->clock - from, &share);
    if (l->on)
        sg_lane_add_counts(p, &share); /* of references that took no time */
    *begin = from > sg_trace->since ? from : sg_trace->since;
    *end = p->clock < sg_trace->until ? p->clock : sg_trace->until;
    if (*begin < *end) {
        if (!l->on)
            sg_lane_turn_on(p, *begin);
        if (sg_trace_tells(SG_TRACED_SHARES))
            sg_trace_event_put(p, SG_EVENT_SHARE, category, l->account->rest.region, *end, *begin,
                               *end - *begin);
        sg_lane_put_counts(p, *begin);
        sg_lane_put_counts(p, *end);
    }
    if (l->on && *end < p->clock)
        sg_lane_turn_off(p, *end > from ? *end : from);
    l->from = p->clock;
    l->account = p->account;
    sg_lane_set_due(l);
}

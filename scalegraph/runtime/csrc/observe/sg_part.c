/* What the program times itself: where the main thread reads a clock, when for the first and the last time,
 * and how much parallel work there was until then. Which two reads enclose the timed part is found out later
 * (analyze/timed.py). */
#include <unwind.h>

#include "sg_part.h"

enum {
    PLACES = 256,  /* where a clock is read; more are no measurement of a part */
    READS = 100000 /* of one that is polled */
};

sg_parts_state sg_parts = {0};

void sg_part_more(uint32_t region)
{
    uint32_t size = sg_parts.insides > 0 ? 2 * sg_parts.insides : 64;
    while (size <= region)
        size *= 2;
    sg_parts.inside =
        sg_larger(sg_parts.inside, sg_parts.insides * sizeof(sg_inside), size * sizeof(sg_inside));
    sg_parts.insides = size;
}

/* ---- reads of clocks ---- */

typedef struct chain {
    uint64_t at[3];
    uint32_t found, frames;
} chain;

/* The place of the call, once the walk has come to it, and those of its callers. */
static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *argument)
{
    chain *c = argument;
    uint64_t at = _Unwind_GetIP(context);
    if (c->found > 0 && at > sg->text_low && at < sg->text_high)
        c->at[c->found++] = at;
    else if (c->found == 0 && at == c->at[0])
        c->found = 1;
    return c->found == 3 || ++c->frames == 16 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static sg_reading *reading_of(const chain *c)
{
    for (uint32_t i = 0; i < sg_parts.readings_count; i++) {
        sg_reading *r = &sg_parts.readings[i];
        if (r->address == c->at[0] && r->caller == c->at[1] && r->outer == c->at[2])
            return r;
    }
    if (sg_parts.readings == NULL)
        sg_parts.readings = sg_new(PLACES * sizeof(sg_reading));
    if (sg_parts.readings_count == PLACES)
        return NULL;
    sg_reading *r = &sg_parts.readings[sg_parts.readings_count++];
    *r = (sg_reading){.address = c->at[0], .caller = c->at[1], .outer = c->at[2]};
    return r;
}

void sg_part_read(const void *site)
{
    const sg_thread *t = sg_self();
    uint64_t at = (uint64_t)(uintptr_t)site;
    if (t == NULL || t->id != 0 || at <= sg->text_low || at >= sg->text_high ||
        sg_parts.readings_made > READS)
        return;
    sg_parts.readings_made++;
    chain c = {.at = {at}};
    _Unwind_Backtrace(add_frame, &c);
    sg_reading *r = reading_of(&c);
    if (r == NULL)
        return;
    uint64_t now = sg_now->clock, work = sg_parts.threads_ran + sg_parts.region_ran;
    if (sg_parts.in_region)
        work += now - sg_parts.region_since;
    if (r->count++ == 0) {
        r->first = now;
        r->first_work = work;
    }
    r->last = now;
    r->last_work = work;
}

/* ---- result ---- */

uint64_t sg_reading_put(struct sg_writer *w)
{
    if (sg_parts.readings_made > READS || sg_parts.readings_count == PLACES)
        return 0;
    sg_put(w, sg_parts.readings, sg_parts.readings_count * sizeof(sg_reading));
    return sg_parts.readings_count;
}

uint64_t sg_part_put(struct sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < sg_parts.insides; i++) {
        const sg_inside *inside = &sg_parts.inside[i];
        if (inside->visits == 0)
            continue;
        uint64_t open = inside->open > 0 ? sg->processor[0].clock - inside->since : 0;
        sg_part part = {.region = i, .visits = inside->visits, .cycles = inside->cycles + open};
        sg_put(w, &part, sizeof part);
        count++;
    }
    return count;
}

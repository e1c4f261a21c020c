/* Parts of a run by the main thread's time: regions, and sections that the program times itself: where the
 * main thread reads a clock, when it first and last did so, and the parallel work up to then.
 * analyze/timed.py later finds the two reads that enclose the timed section. */
#include <unwind.h>

#include "sg_array.h"
#include "sg_cells.h"
#include "sg_observers.h"

enum {
    PLACES = 256,  /* sites of clock reads; with more, the reads do not delimit a section */
    READS = 100000 /* of a polled clock */
};

/* A region on thread 0's stack. */
typedef struct inside {
    uint64_t cycles, visits;
    uint64_t since;
    uint32_t open; /* recursion depth */
} inside;

static struct {
    uint64_t region_ran; /* cycles of the main thread in outermost parallel regions */
    uint64_t region_since;
    bool in_region;
    inside *inside; /* by region */
    uint32_t insides;
    sg_reading *readings;
    uint32_t readings_count;
    uint64_t readings_made;
} timed = {0};

static void enter(uint32_t region, uint64_t clock)
{
    SG_ARRAY_HOLD(timed.inside, timed.insides, region, 64);
    inside *in = &timed.inside[region];
    in->visits++;
    if (in->open++ == 0)
        in->since = clock;
}

static void leave(uint32_t region, uint64_t clock)
{
    inside *in = &timed.inside[region];
    if (region < timed.insides && in->open > 0 && --in->open == 0)
        in->cycles += clock - in->since;
}

/* Outermost parallel regions of the main thread. */
static void enter_parallel(bool begins)
{
    uint64_t now = sg_now->clock;
    timed.in_region = begins;
    if (begins)
        timed.region_since = now;
    else
        timed.region_ran += now - timed.region_since;
}

/* Sampling counts what a visit of a phase adds. A region still open at the end of a visit has been credited
 * with its part by then, so regions around many visits, and those that span two, add up. */
static void report_cells(sg_cells *cells)
{
    uint64_t now = sg_latest();
    for (uint32_t i = 0; i < timed.insides; i++) {
        inside *in = &timed.inside[i];
        if (in->open == 0)
            continue;
        in->cycles += now - in->since;
        in->since = now;
    }
    if (timed.insides > 0)
        sg_cells_add(cells, &timed.inside, &timed.inside->cycles, sizeof *timed.inside,
                     offsetof(inside, since), timed.insides);
}

/* ---- reads of clocks ---- */

typedef struct chain {
    uint64_t at[3];
    uint32_t found, frames;
} chain;

/* The call's place, once the walk has reached it, and those of its callers. */
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
    for (uint32_t i = 0; i < timed.readings_count; i++) {
        sg_reading *r = &timed.readings[i];
        if (r->address == c->at[0] && r->caller == c->at[1] && r->outer == c->at[2])
            return r;
    }
    if (timed.readings == NULL)
        timed.readings = sg_new(PLACES * sizeof(sg_reading));
    if (timed.readings_count == PLACES)
        return NULL;
    sg_reading *r = &timed.readings[timed.readings_count++];
    *r = (sg_reading){.address = c->at[0], .caller = c->at[1], .outer = c->at[2]};
    return r;
}

static void read_clock(const void *site)
{
    const sg_thread *t = sg_self();
    uint64_t at = (uint64_t)(uintptr_t)site;
    if (t == NULL || t->id != 0 || at <= sg->text_low || at >= sg->text_high || timed.readings_made > READS)
        return;
    timed.readings_made++;
    chain c = {.at = {at}};
    _Unwind_Backtrace(add_frame, &c);
    sg_reading *r = reading_of(&c);
    if (r == NULL)
        return;
    uint64_t now = sg_now->clock, work = sg->threads_ran + timed.region_ran;
    if (timed.in_region)
        work += now - timed.region_since;
    if (r->count++ == 0) {
        r->first = now;
        r->first_work = work;
    }
    r->last = now;
    r->last_work = work;
}

/* ---- result ---- */

static uint64_t put_readings(struct sg_writer *w)
{
    if (timed.readings_made > READS || timed.readings_count == PLACES)
        return 0;
    sg_put(w, timed.readings, timed.readings_count * sizeof(sg_reading));
    return timed.readings_count;
}

static uint64_t put_regions(struct sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < timed.insides; i++) {
        const inside *in = &timed.inside[i];
        if (in->visits == 0)
            continue;
        uint64_t open = in->open > 0 ? sg->processor[0].clock - in->since : 0;
        int64_t cycles = (int64_t)(in->cycles + open); /* with sampling, a short one may come out negative */
        sg_part part = {.region = i, .visits = in->visits, .cycles = cycles < 0 ? 0 : (uint64_t)cycles};
        sg_put(w, &part, sizeof part);
        count++;
    }
    return count;
}

static const sg_result_part parts[] = {
    {SG_SECTION_READINGS, sizeof(sg_reading), put_readings},
    {SG_SECTION_PARTS, sizeof(sg_part), put_regions},
};

const sg_observer sg_observer_part = {
    .name = "parts of the run",
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .main_enters = enter,
    .main_categories = leave,
    .parallel = enter_parallel,
    .reads_clock = read_clock,
    .cells = report_cells,
};

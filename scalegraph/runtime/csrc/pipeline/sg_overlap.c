/* Misses on a processor with a modelled pipeline: how much of their latency is not hidden.
 *
 * After a miss the processor continues until its window is full: that takes as much of the program's own
 * time as the pipeline model says (`ahead`, see instrument/pipeline.py). Only the rest of the latency
 * stalls it. Later misses start meanwhile, but
 * - at most pipeline.misses of them are outstanding at a time;
 * - one whose address depends on the value of another load starts after that has arrived. The program's
 *   code tells the dependences; a reference that hits was there in time.
 * (Karkhanis and Smith, "A First-Order Superscalar Processor Model", ISCA 2004, with known dependences.)
 *
 * All times are in parts of a cycle. The program's own time is the processor's without the stalls charged
 * here, and including what virtual speedups have removed (`spared`). When a miss occurs, it is charged
 * what it adds to the stalls of those before it; so `charged` runs ahead of `passed`, the stalls that are
 * over. */
#include "sg_overlap.h"
#include "sg_runtime.h"

#define PURPOSE  "what is known of misses under way"
#define IN_QUEUE 512u /* a power of two */

/* At this point of the program's own time the window is full; this much must have been stalled by then. */
typedef struct limit {
    uint64_t full, stalled;
} limit;

typedef struct overlap {
    uint64_t charged, passed;
    uint64_t spared;        /* removed by virtual speedups */
    uint64_t filled;        /* when all misses so far are done, if the maximum number is always outstanding */
    uint64_t longest, room; /* longest latency of one of them, and what is left of it without its own share */
    uint32_t first, next;   /* in the queue */
    limit queue[IN_QUEUE];
    uint64_t arrived[]; /* what each reference last loaded, by number */
} overlap;

static struct {
    overlap **of; /* by processor */
    const sg_load_row *rows;
    uint32_t count;
    uint32_t most;
    uint64_t ahead;          /* of references without a record */
    uint64_t latency, share; /* of the last miss: most are alike, and division is slow on the host */
} overlaps = {0};

static uint64_t parts_of(uint32_t millicycles)
{
    return (uint64_t)millicycles * SG_PARTS / 1000;
}

void sg_overlap_open(const sg_load_row *rows, size_t count)
{
    overlaps.rows = rows;
    overlaps.count = (uint32_t)count;
    uint32_t parallelism = sg->config.pipeline_misses;
    if (parallelism == 0)
        parallelism = (sg->config.memory_parallelism + 500) / 1000;
    if (parallelism <= 1 || count == 0)
        return;
    overlaps.of = sg_reserve(sg->processors * sizeof *overlaps.of, PURPOSE);
    overlaps.ahead = (uint64_t)sg->config.pipeline_window * SG_PARTS / sg->config.issue_width;
    overlaps.most = parallelism;
    sg->overlaps = true;
}

const sg_load_row *sg_overlap_rows(uint32_t *count)
{
    *count = overlaps.count;
    return overlaps.rows;
}

uint32_t sg_overlap_number(uint64_t address)
{
    uint32_t low = 0, high = overlaps.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (overlaps.rows[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < overlaps.count && overlaps.rows[low].address == address && !overlaps.rows[low].unknown;
    return found ? low + 1 : 0;
}

static overlap *overlap_of(const sg_processor *p)
{
    overlap **o = &overlaps.of[p->id];
    if (*o == NULL)
        *o = sg_new(sizeof **o + (overlaps.count + 1) * sizeof(uint64_t));
    return *o;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When the values loaded by `origins`, and everything computed from them, are known. */
static uint64_t known(const overlap *o, const uint32_t *origins, const uint32_t *delays)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < SG_ORIGINS && origins[i] != 0; i++)
        if (o->arrived[origins[i]] != 0)
            at = later(at, o->arrived[origins[i]] + parts_of(delays[i]));
    return at;
}

/* The program's own time, after waiting for the full windows up to then. */
static uint64_t own_time(overlap *o, const sg_processor *p)
{
    uint64_t now = p->time + o->spared - o->charged;
    while (o->first != o->next && o->queue[o->first % IN_QUEUE].full <= now)
        o->passed = later(o->passed, o->queue[o->first++ % IN_QUEUE].stalled);
    if (o->first == o->next)
        o->first = o->next = 0; /* the start of the queue stays in the host's cache */
    return now;
}

/* When a miss of `latency` whose address is ready at `ready` can start: the number outstanding is limited.
 * Misses that still wait for their address take no room from others, so this goes by their total latency. */
static uint64_t begin_of(overlap *o, uint64_t now, uint64_t ready, uint64_t latency)
{
    if (latency != overlaps.latency) {
        overlaps.latency = latency;
        overlaps.share = latency / overlaps.most;
    }
    if (o->filled <= now) {
        o->filled = now;
        o->longest = 0;
    }
    if (latency > o->longest) {
        o->longest = latency;
        o->room = latency - overlaps.share;
    }
    uint64_t begin = o->filled > o->room ? later(ready, o->filled - o->room) : ready;
    o->filled += overlaps.share;
    return begin;
}

/* The window is full at `full`, by which `stalled` parts must have been stalled. Most misses are done by
 * then, or an earlier one stalls the processor at least as long. */
static void enqueue(overlap *o, uint64_t full, uint64_t stalled)
{
    if (stalled <= o->passed)
        return;
    const limit *last = &o->queue[(o->next - 1) % IN_QUEUE];
    if (o->first != o->next && last->stalled >= stalled && last->full <= full)
        return;
    if (o->next - o->first == IN_QUEUE)
        o->passed = later(o->passed, o->queue[o->first++ % IN_QUEUE].stalled);
    o->queue[o->next++ % IN_QUEUE] = (limit){full, stalled};
}

/* Charges the missing stall up to `stalled` parts. */
static uint64_t charge(overlap *o, uint64_t stalled)
{
    uint64_t cycles = stalled > o->charged ? (stalled - o->charged) / SG_PARTS : 0;
    o->charged += cycles * SG_PARTS;
    return cycles;
}

uint64_t sg_overlap_miss(sg_processor *p, const sg_site_count *site, uint64_t cycles)
{
    overlap *o = overlap_of(p);
    const sg_load_row *row = site->load != 0 ? &overlaps.rows[site->load - 1] : NULL;
    uint64_t now = own_time(o, p), real = now + o->passed, ready = real;
    if (row != NULL)
        ready = later(ready, known(o, row->origins, row->delays));
    uint64_t done = begin_of(o, real, ready, cycles * SG_PARTS) + cycles * SG_PARTS;
    if (row != NULL)
        o->arrived[site->load] = done;
    uint64_t full = now + (row != NULL ? parts_of(row->ahead) : overlaps.ahead);
    uint64_t stalled = done > full ? done - full : 0;
    enqueue(o, full, stalled);
    return charge(o, stalled);
}

uint64_t sg_overlap_branch(sg_processor *p, uint32_t number)
{
    overlap *o = overlap_of(p);
    const sg_timing *timing = &sg->timing[number - 1];
    uint64_t now = own_time(o, p), at = known(o, timing->origins, timing->delays);
    uint64_t stalled = at > now ? at - now : 0;
    o->passed = later(o->passed, stalled);
    return charge(o, stalled);
}

void sg_overlap_spare(sg_processor *p, uint64_t parts)
{
    if (sg->overlaps)
        overlap_of(p)->spared += parts;
}

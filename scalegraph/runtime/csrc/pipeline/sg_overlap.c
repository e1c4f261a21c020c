/* Misses of a processor whose pipeline is modelled: how much of their latency is not hidden.
 *
 * After a miss the processor goes on until its window is full: so much of the program's own time passes
 * meanwhile as the model of the pipeline says (`ahead`, see instrument/pipeline.py). Only what is left of the
 * latency then holds it up. Later misses begin while it goes on, but
 * - so many at most as pipeline.misses says are under way at a time;
 * - one whose address depends on what another loads begins after that has arrived. Which other ones it
 * depends on is known from the program's code; a reference that hits was there in time. (Karkhanis and Smith,
 * "A First-Order Superscalar Processor Model", ISCA 2004, with the dependences known.)
 *
 * All times are in parts of a cycle. The program's own time is the processor's without the stalls that are
 * charged here, and with what virtual speedups have taken away (`spared`). A miss is charged, when it occurs,
 * what it adds to the stalls of those before it; so `charged` runs ahead of `passed`, the stalls that are
 * over. */
#include "sg_overlap.h"
#include "sg_runtime.h"

#define PURPOSE  "what is known of misses under way"
#define IN_QUEUE 512u /* a power of two */

/* The window is full at this of the program's own time, and then this much must have been stalled. */
typedef struct limit {
    uint64_t full, stalled;
} limit;

typedef struct overlap {
    uint64_t charged, passed;
    uint64_t spared; /* what virtual speedups have taken away */
    uint64_t filled; /* when all misses so far are over, if so many as can be are under way all the time */
    uint64_t longest, room; /* latency of one of them, and what is left of it without its own share */
    uint32_t first, next;   /* in the queue */
    limit queue[IN_QUEUE];
    uint64_t arrived[]; /* what each reference has loaded last, by number */
} overlap;

static struct {
    overlap **of; /* by processor */
    const sg_load_row *rows;
    uint32_t count;
    uint32_t most;
    uint64_t ahead;          /* of references without a record */
    uint64_t latency, share; /* of the last miss: most are alike, and dividing takes the host long */
} overlaps = {0};

static uint64_t parts_of(uint32_t millicycles)
{
    return (uint64_t)millicycles * SG_PARTS / 1000;
}

void sg_overlap_open(const sg_load_row *rows, size_t count)
{
    uint32_t parallelism = sg->config.pipeline_misses;
    if (parallelism == 0)
        parallelism = (sg->config.memory_parallelism + 500) / 1000;
    if (parallelism <= 1 || count == 0)
        return;
    overlaps.of = sg_reserve(sg->processors * sizeof *overlaps.of, PURPOSE);
    overlaps.ahead = (uint64_t)sg->config.pipeline_window * SG_PARTS / sg->config.issue_width;
    overlaps.rows = rows;
    overlaps.count = (uint32_t)count;
    overlaps.most = parallelism;
    sg->overlaps = true;
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
    return low < overlaps.count && overlaps.rows[low].address == address ? low + 1 : 0;
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

/* When what `origins` load is known, with all that is computed from it. */
static uint64_t known(const overlap *o, const uint32_t *origins, const uint32_t *delays)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < SG_ORIGINS && origins[i] != 0; i++)
        if (o->arrived[origins[i]] != 0)
            at = later(at, o->arrived[origins[i]] + parts_of(delays[i]));
    return at;
}

/* The program's own time, up to which the windows that are full have been waited for. */
static uint64_t own_time(overlap *o, const sg_processor *p)
{
    uint64_t now = p->time + o->spared - o->charged;
    while (o->first != o->next && o->queue[o->first % IN_QUEUE].full <= now)
        o->passed = later(o->passed, o->queue[o->first++ % IN_QUEUE].stalled);
    return now;
}

/* When a miss of `latency` can begin that has its address at `ready`: so many are under way together as there
 * is room for. Those that still wait for their addresses take no room from others, so this goes by what all
 * take together. */
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

/* The window is full at `full`: then `stalled` parts must have been. Most misses are over by then, or another
 * one holds up the processor before, and at least as long. */
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

/* Charges what is missing until `stalled` parts have been. */
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

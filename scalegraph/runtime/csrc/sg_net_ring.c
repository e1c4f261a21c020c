/* Slotted rings in two levels (KSR-1: ALLCACHE engine).
 *
 * Every leaf ring has one station for each of its processors and, behind them, two for its routers (one
 * leaves to the upper ring, one comes from it), and as many slots as stations. All slots move one station
 * each hop time, so slot s stands before station p at known times. A packet waits for a slot that passes
 * empty (waiting = contention), and a request keeps its slot for one whole revolution: every cell sees it,
 * the holder puts the data into the same slot, copies are invalidated as it passes, and it comes back to
 * where it started. A request that its own ring cannot answer goes on through the router: upper ring, one
 * whole revolution on each ring that has copies, and back in a fresh slot of the upper and of the own ring.
 *
 * A cell that supplies a subpage is busy with it for a while, and a subpage that changes its owner answers
 * nobody until it has arrived (the waiting requester asks when it has).
 *
 * Simplified: the two directories of a ring answer at once within the router time; requests to different
 * rings of one upper packet go in parallel and the slowest decides. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_cache.h"
#include "sg_calendar.h"

#define ROUTERS   2u
#define MAX_RINGS 1024

/* A divisor with its reciprocal: the host divides slowly, and each packet needs two quotients. */
typedef struct divisor {
    uint64_t by, reciprocal; /* 2^64 / by, rounded down */
} divisor;

static divisor divisor_of(uint64_t by)
{
    return (divisor){by, by == 1 ? UINT64_MAX : UINT64_MAX / by};
}

/* Returns value / d.by, exactly. */
static inline uint64_t divide(uint64_t value, divisor d)
{
    uint64_t quotient = (uint64_t)((unsigned __int128)value * d.reciprocal >> 64);
    while (value - quotient * d.by >= d.by)
        quotient++; /* once or twice at most: the product is rounded down */
    return quotient;
}

typedef struct ring_net {
    uint32_t cells;    /* processors of one leaf ring */
    uint32_t stations; /* and its slots */
    uint32_t rings;    /* stations and slots of the upper ring */
    uint64_t hop, upper_hop, interface, router, holder;
    uint64_t revolution;
    divisor by_stations, by_rings, by_hop, by_upper_hop;
    sg_calendar *slots; /* of leaf ring r: slots + r * stations; the upper ring's come last */
    sg_calendar *cell;  /* of each processor: supplying a subpage */
    size_t bytes;
    /* The other rings of the transaction under way and who has a copy there; not on the stack, because that
     * of a simulated processor is cold. */
    uint32_t ring[MAX_RINGS], holder_there[MAX_RINGS];
} ring_net;

static const sg_net_parameter parameters[] = {
    {"ring_processors", 1, 1024}, /* processors on one leaf ring */
    {"rings", 1, MAX_RINGS},      /* leaf rings, stations of the upper ring */
    {"hop_cycles", 1, 10000},     /* from one station of a leaf ring to the next */
    {"upper_hop_cycles", 1, 10000},
    {"interface_cycles", 0, 100000}, /* of the cell that asks, both ways together */
    {"router_cycles", 0, 100000},    /* one passage between a leaf ring and the upper ring */
    {"holder_cycles", 0, 100000},    /* a cell is busy with supplying one subpage */
    {NULL, 0, 0},
};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    ring_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    net->cells = (uint32_t)sg_config_u64(config, "ring_processors");
    net->stations = net->cells + ROUTERS;
    net->rings = (uint32_t)sg_config_u64(config, "rings");
    net->hop = sg_config_u64(config, "hop_cycles");
    net->upper_hop = sg_config_u64(config, "upper_hop_cycles");
    net->interface = sg_config_u64(config, "interface_cycles");
    net->router = sg_config_u64(config, "router_cycles");
    net->holder = sg_config_u64(config, "holder_cycles");
    net->revolution = net->hop * net->stations;
    net->by_stations = divisor_of(net->stations);
    net->by_rings = divisor_of(net->rings);
    net->by_hop = divisor_of(net->hop);
    net->by_upper_hop = divisor_of(net->upper_hop);
    size_t slots = (size_t)net->rings * net->stations + net->rings;
    net->bytes = (slots + (size_t)net->rings * net->cells) * sizeof(sg_calendar);
    if (net->rings * net->cells < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.rings: expected room for %u processors, got %u rings of %u",
                 config->max_processors, net->rings, net->cells);
    else if (!(net->slots = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else {
        net->cell = net->slots + slots;
        return net;
    }
    free(net);
    return NULL;
}

static void destroy(void *state)
{
    ring_net *net = state;
    sg_unmap(net->slots, net->bytes);
    free(net);
}

/* A ring as a packet sees it. */
typedef struct track {
    sg_calendar *slots;
    divisor count, hop;
} track;

static track leaf_ring(const ring_net *net, uint32_t ring)
{
    return (track){net->slots + (size_t)ring * net->stations, net->by_stations, net->by_hop};
}

static track upper_ring(const ring_net *net)
{
    return (track){net->slots + (size_t)net->rings * net->stations, net->by_rings, net->by_upper_hop};
}

static uint64_t distance(track t, uint64_t from, uint64_t to)
{
    return (to >= from ? to - from : to + t.count.by - from) * t.hop.by;
}

/* Puts a packet on the ring at `station`, not before `time`, into the first slot that passes there and is
 * empty for `length` cycles. Returns when; adds the time beyond the first passing slot to `wait`. */
static uint64_t load(track t, uint64_t station, uint64_t time, uint64_t length, uint64_t *wait)
{
    uint64_t hops = divide(time + t.hop.by - 1, t.hop), first = hops * t.hop.by, best = UINT64_MAX;
    uint64_t passed = hops - divide(hops, t.count) * t.count.by, best_slot = 0;
    uint64_t slot = station >= passed ? station - passed : station + t.count.by - passed;
    uint32_t place, best_place = 0;
    for (uint64_t i = 0; i < t.count.by && best > first + i * t.hop.by; i++) {
        /* The slot comes by every revolution; look in its calendar from its first passage on. */
        uint64_t revolution = t.count.by * t.hop.by, passage = first + i * t.hop.by, free = passage;
        for (;;) {
            free = sg_calendar_find(&t.slots[slot], passage, length, &place);
            if (free == passage)
                break;
            passage += (free - passage + revolution - 1) / revolution * revolution;
        }
        if (passage < best) {
            best = passage;
            best_slot = slot;
            best_place = place;
        }
        slot = slot == 0 ? t.count.by - 1 : slot - 1;
    }
    sg_calendar_take(&t.slots[best_slot], best, length, best_place, best - first);
    *wait += best - first;
    return best;
}

#define NOBODY UINT32_MAX

/* The first processor on leaf ring `ring` with a copy that a packet from station `from` meets, or NOBODY. */
static uint32_t first_holder(const ring_net *net, const sg_request *r, uint32_t ring, uint32_t from)
{
    uint32_t first = ring * net->cells, behind = NOBODY, end = first + net->cells;
    if (end > r->words * 64)
        end = r->words * 64;
    for (uint32_t p = first; p < end;) {
        uint64_t word = r->holders[p >> 6] >> (p & 63);
        if (word == 0) {
            p = (p | 63) + 1;
            continue;
        }
        p += (uint32_t)__builtin_ctzll(word);
        if (p >= end)
            break;
        if (p - first > from)
            return p;
        if (behind == NOBODY)
            behind = p;
        p++;
    }
    return behind;
}

/* The cell `holder` (or NOBODY that we know) supplies the subpage to a packet that comes by at `time`;
 * returns how long the packet has to wait for it. */
static uint64_t supply(ring_net *net, const sg_request *r, uint32_t holder, uint64_t time)
{
    if (holder == NOBODY || r->kind == SG_UPGRADE)
        return 0;
    return sg_calendar_reserve(&net->cell[holder], time, net->holder) - time;
}

/* The way of a request that entered the upper ring of `own` at `sent` to `ring`, where `holder` has a copy,
 * and back to the requester. Returns the time of arrival. */
static uint64_t visit(ring_net *net, const sg_request *r, uint32_t ring, uint32_t holder, uint64_t sent,
                      uint64_t *wait)
{
    uint32_t own = r->processor / net->cells, station = r->processor % net->cells;
    track upper = upper_ring(net), there = leaf_ring(net, ring), here = leaf_ring(net, own);
    uint64_t in = net->cells + 1; /* station of the router that comes from the upper ring */
    uint64_t time = sent + distance(upper, own, ring) + net->router;
    time = load(there, in, time, net->revolution, wait);
    uint64_t late = supply(net, r, holder, time + distance(there, in, holder % net->cells));
    *wait += late;
    time += net->revolution + late + net->router;
    time =
        load(upper, ring, time, distance(upper, ring, own), wait) + distance(upper, ring, own) + net->router;
    return load(here, in, time, distance(here, in, station), wait) + distance(here, in, station);
}

/* The other rings that a request must reach: for a read that the own ring cannot answer the next one with a
 * copy in the direction of the upper ring, for a write all with copies; the ring that keeps a displaced
 * subpage. */
static uint32_t other_rings(const ring_net *net, const sg_request *r, int local, uint32_t *ring,
                            uint32_t *holder)
{
    uint32_t own = r->processor / net->cells, count = 0;
    if (r->kind == SG_FETCH_READ && local)
        return 0;
    uint32_t used = (r->words * 64 + net->cells - 1) / net->cells; /* nobody is on the rings beyond */
    if (used > net->rings)
        used = net->rings;
    for (uint32_t i = 1; i < used && r->copies > 0; i++) {
        ring[count] = own + i < used ? own + i : own + i - used;
        holder[count] = first_holder(net, r, ring[count], net->cells + 1);
        if (holder[count] == NOBODY)
            continue;
        count++;
        if (r->kind == SG_FETCH_READ)
            break;
    }
    if (r->copies == 0 && !local && r->kind != SG_UPGRADE) {
        ring[0] = r->home / net->cells;
        holder[0] = NOBODY;
        count = 1;
    }
    return count;
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    ring_net *net = state;
    uint32_t own = r->processor / net->cells, station = r->processor % net->cells;
    uint32_t *ring = net->ring, *holder = net->holder_there;
    uint64_t wait = 0, time = sg_wait_line(r, r->now + net->interface, &wait);
    track here = leaf_ring(net, own);
    uint64_t start = load(here, station, time, net->revolution, &wait);
    uint32_t supplier = first_holder(net, r, own, station);
    int local = supplier != NOBODY || (r->copies == 0 && r->home / net->cells == own);
    uint64_t late = 0;
    if (supplier != NOBODY)
        late = supply(net, r, supplier, start + distance(here, station, supplier % net->cells));
    uint64_t end = start + net->revolution + late, end_wait = wait + late;

    uint32_t count = other_rings(net, r, local, ring, holder);
    if (count > 0) {
        track upper = upper_ring(net);
        time = start + distance(here, station, net->cells) + net->router;
        uint64_t sent = load(upper, own, time, upper.count.by * upper.hop.by, &wait);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t branch_wait = wait;
            uint64_t arrival = visit(net, r, ring[i], holder[i], sent, &branch_wait);
            if (arrival > end) {
                end = arrival;
                end_wait = branch_wait;
            }
        }
    }
    if (r->kind != SG_FETCH_READ)
        *r->busy = end;
    reply->remote = 1;
    reply->contention = end_wait;
    reply->cycles = end - r->now - end_wait;
}

/* A displaced subpage goes round its ring once to the cell that takes it. */
static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t home)
{
    ring_net *net = state;
    uint64_t wait = 0;
    (void)line;
    (void)home;
    load(leaf_ring(net, processor / net->cells), processor % net->cells, now + net->interface,
         net->revolution, &wait);
}

/* A cell keeps what it touched: every processor is a place of its own. */
static uint32_t nodes(const void *state)
{
    const ring_net *net = state;
    return net->rings * net->cells;
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    (void)state;
    return processor;
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const ring_net *net = state;
    for (uint32_t ring = 0; ring < net->rings; ring++) {
        const sg_calendar *slots = net->slots + (size_t)ring * net->stations;
        sg_usage_tell(slots, net->stations, 1, SG_USAGE_LINK, visit, context, "ring %u", ring);
    }
    const sg_calendar *upper = net->slots + (size_t)net->rings * net->stations;
    sg_usage_tell(upper, net->rings, 1, SG_USAGE_LINK, visit, context, "upper ring");
    for (uint32_t p = 0; p < net->rings * net->cells; p++)
        sg_usage_tell(&net->cell[p], 1, 1, SG_USAGE_MODULE, visit, context, "cell %u", p);
}

const sg_net_ops sg_net_ring = {"ring",     parameters, create,  destroy,   transact,
                                write_back, nodes,      node_of, statistics};

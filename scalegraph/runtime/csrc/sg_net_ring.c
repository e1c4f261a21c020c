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
 * Simplified: the two directories of a ring answer at once within the router time; requests to different
 * rings of one upper packet go in parallel and the slowest decides. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_cache.h"
#include "sg_calendar.h"

typedef struct ring_net {
    uint32_t cells;    /* processors of one leaf ring */
    uint32_t stations; /* and its slots */
    uint32_t rings;    /* stations and slots of the upper ring */
    uint64_t hop, upper_hop, interface, router;
    uint64_t revolution;
    sg_calendar *slots; /* of leaf ring r: slots + r * stations; the upper ring's come last */
    size_t bytes;
} ring_net;

static const sg_net_parameter parameters[] = {
    {"ring_processors", 1, 1024}, /* processors on one leaf ring */
    {"rings", 1, 1024},           /* leaf rings, stations of the upper ring */
    {"hop_cycles", 1, 10000},     /* from one station of a leaf ring to the next */
    {"upper_hop_cycles", 1, 10000},
    {"interface_cycles", 0, 100000}, /* of the cell that asks, both ways together */
    {"router_cycles", 0, 100000},    /* one passage between a leaf ring and the upper ring */
    {NULL, 0, 0},
};

#define ROUTERS 2u

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
    net->revolution = net->hop * net->stations;
    net->bytes = ((size_t)net->rings * net->stations + net->rings) * sizeof(sg_calendar);
    if (net->rings * net->cells < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.rings: expected room for %u processors, got %u rings of %u",
                 config->max_processors, net->rings, net->cells);
    else if (!(net->slots = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else
        return net;
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
    uint64_t count, hop;
} track;

static track leaf_ring(ring_net *net, uint32_t ring)
{
    return (track){net->slots + (size_t)ring * net->stations, net->stations, net->hop};
}

static track upper_ring(ring_net *net)
{
    return (track){net->slots + (size_t)net->rings * net->stations, net->rings, net->upper_hop};
}

static uint64_t distance(track t, uint64_t from, uint64_t to)
{
    return (to + t.count - from) % t.count * t.hop;
}

/* Puts a packet on the ring at `station`, not before `time`, into the first slot that passes there and is
 * empty for `length` cycles. Returns when; adds the time beyond the first passing slot to `wait`. */
static uint64_t load(track t, uint64_t station, uint64_t time, uint64_t length, uint64_t *wait)
{
    uint64_t hops = (time + t.hop - 1) / t.hop, first = hops * t.hop, best = UINT64_MAX;
    uint64_t slot = (station + t.count - hops % t.count) % t.count, best_slot = 0;
    uint32_t place, best_place = 0;
    for (uint64_t i = 0; i < t.count && best > first + i * t.hop; i++) {
        /* The slot comes by every revolution; look in its calendar from its first passage on. */
        uint64_t revolution = t.count * t.hop, passage = first + i * t.hop, free = passage;
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
        slot = slot == 0 ? t.count - 1 : slot - 1;
    }
    sg_calendar_take(&t.slots[best_slot], best, length, best_place);
    *wait += best - first;
    return best;
}

/* The copies of a request on leaf ring `ring`. */
static int has_copies(const ring_net *net, const sg_request *r, uint32_t ring)
{
    uint32_t first = ring * net->cells, end = first + net->cells;
    if (end > r->words * 64)
        end = r->words * 64;
    for (uint32_t p = first; p < end;) {
        uint64_t word = r->sharers[p >> 6] >> (p & 63);
        uint32_t step = 64 - (p & 63);
        if (step > end - p) {
            step = end - p;
            word &= (1ull << step) - 1;
        }
        if (word)
            return 1;
        p += step;
    }
    return 0;
}

/* The way of a request that entered the upper ring of `own` at `sent` to `ring` and back to the requester.
 * Returns the time of arrival. */
static uint64_t visit(ring_net *net, uint32_t own, uint32_t ring, uint64_t station, uint64_t sent,
                      uint64_t *wait)
{
    track upper = upper_ring(net), there = leaf_ring(net, ring), here = leaf_ring(net, own);
    uint64_t in = net->cells + 1; /* station of the router that comes from the upper ring */
    uint64_t time = sent + distance(upper, own, ring) + net->router;
    time = load(there, in, time, net->revolution, wait) + net->revolution + net->router;
    time =
        load(upper, ring, time, distance(upper, ring, own), wait) + distance(upper, ring, own) + net->router;
    return load(here, in, time, distance(here, in, station), wait) + distance(here, in, station);
}

/* Ring that supplies a read which the own ring cannot: the next one in the direction of the upper ring. */
static uint32_t nearest_ring(const ring_net *net, const sg_request *r, uint32_t own)
{
    for (uint32_t i = 1; i < net->rings; i++) {
        uint32_t ring = (own + i) % net->rings;
        if (has_copies(net, r, ring))
            return ring;
    }
    return r->home / net->cells; /* nobody has it but the cell that keeps a displaced line */
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    ring_net *net = state;
    uint32_t own = r->processor / net->cells;
    uint64_t station = r->processor % net->cells, wait = 0;
    track here = leaf_ring(net, own);
    uint64_t start = load(here, station, r->now + net->interface, net->revolution, &wait);
    uint64_t end = start + net->revolution, end_wait = wait;
    int local = has_copies(net, r, own) || (r->invalidations == 0 && r->home / net->cells == own);

    uint32_t elsewhere[1024], count = 0;
    if (r->kind == SG_FETCH_READ) {
        if (!local)
            elsewhere[count++] = nearest_ring(net, r, own);
    } else if (r->invalidations > 0) {
        for (uint32_t i = 1; i < net->rings; i++)
            if (has_copies(net, r, (own + i) % net->rings))
                elsewhere[count++] = (own + i) % net->rings;
    } else if (r->kind == SG_FETCH_WRITE && !local) {
        elsewhere[count++] = r->home / net->cells;
    }
    if (count > 0) {
        track upper = upper_ring(net);
        uint64_t time = start + distance(here, station, net->cells) + net->router;
        uint64_t sent = load(upper, own, time, upper.count * upper.hop, &wait);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t branch_wait = wait;
            uint64_t arrival = visit(net, own, elsewhere[i], station, sent, &branch_wait);
            if (arrival > end) {
                end = arrival;
                end_wait = branch_wait;
            }
        }
    }
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

const sg_net_ops sg_net_ring = {"ring", parameters, create, destroy, transact, write_back};

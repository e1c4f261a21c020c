/* Two-level slotted rings (KSR-1: ALLCACHE engine).
 *
 * Every leaf ring has one station per processor and, after them, two for its routers (one out to the upper
 * ring, one in from it), and as many slots as stations. All slots move one station per hop time, so slot s
 * passes station p at known times. A packet waits for an empty slot to pass (waiting = contention), and a
 * request keeps its slot for one whole revolution: every cell sees it, the holder puts the data into the
 * same slot, copies are invalidated as it passes, and it returns to its start. A request that its own ring
 * cannot serve goes on through the router: upper ring, one whole revolution on each ring with copies, and
 * back in new slots of the upper ring and its own.
 *
 * A cell that supplies a subpage is busy for a while, and a subpage that changes its owner answers nobody
 * until it has arrived (the waiting requester then asks).
 *
 * Simplified: the two directories of a ring answer within the router time; requests to different rings in
 * one upper packet proceed in parallel and the slowest decides. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_calendar.h"
#include "sg_divisor.h"
#include "sg_huge.h"

#define ROUTERS   2u
#define MAX_RINGS 1024

/* A ring as a packet sees it. */
typedef struct track {
    sg_calendar *slots;
    sg_divisor count, hop, revolution;
} track;

/* Position of a processor: its leaf ring and its station on it. */
typedef struct spot {
    uint32_t ring, station;
} spot;

typedef struct ring_net {
    uint32_t cells;    /* processors of one leaf ring */
    uint32_t stations; /* and its slots */
    uint32_t rings;    /* stations and slots of the upper ring */
    uint32_t used;     /* leaf rings with a processor of this run, at minimum */
    uint64_t hop, upper_hop, interface, router, holder;
    uint64_t revolution;
    track leaf[MAX_RINGS], upper;
    sg_calendar *slots; /* of leaf ring r: slots + r * stations; the upper ring's come last */
    sg_calendar *cell;  /* of each processor: busy supplying a subpage */
    spot *spot;         /* of each processor */
    size_t bytes;
    /* The other rings of the current transaction and who has a copy there; not on the stack, because a
     * simulated processor's stack is cold. */
    uint32_t ring[MAX_RINGS], holder_there[MAX_RINGS];
} ring_net;

static const sg_net_parameter parameters[] = {SG_RING_PARAMETERS};

static track make_track(const ring_net *net, size_t first, uint64_t count, uint64_t hop)
{
    return (track){net->slots + first, sg_divisor_of(count), sg_divisor_of(hop), sg_divisor_of(count * hop)};
}

/* Carves up the network's memory: `slots` calendars, and one entry for each of the `cells`. */
static void lay_out(ring_net *net, size_t slots, size_t cells)
{
    net->cell = net->slots + slots;
    net->spot = (spot *)(net->cell + cells);
    for (uint32_t p = 0; p < cells; p++)
        net->spot[p] = (spot){p / net->cells, p % net->cells};
    for (uint32_t ring = 0; ring < net->rings; ring++)
        net->leaf[ring] = make_track(net, (size_t)ring * net->stations, net->stations, net->hop);
    net->upper = make_track(net, slots - net->rings, net->rings, net->upper_hop);
}

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    ring_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    net->cells = (uint32_t)sg_config_u64(config, "ring_processors");
    net->stations = net->cells + ROUTERS;
    net->rings = (uint32_t)sg_config_u64(config, "rings");
    net->used = ((config->processors + 63) / 64 * 64 + net->cells - 1) / net->cells;
    if (net->used > net->rings)
        net->used = net->rings;
    net->hop = sg_config_u64(config, "hop_cycles");
    net->upper_hop = sg_config_u64(config, "upper_hop_cycles");
    net->interface = sg_config_u64(config, "interface_cycles");
    net->router = sg_config_u64(config, "router_cycles");
    net->holder = sg_config_u64(config, "holder_cycles");
    net->revolution = net->hop * net->stations;
    size_t slots = (size_t)net->rings * net->stations + net->rings, cells = (size_t)net->rings * net->cells;
    net->bytes = (slots + cells) * sizeof(sg_calendar) + cells * sizeof(spot);
    if (net->rings * net->cells < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.rings: expected room for %u processors, got %u rings of %u",
                 config->max_processors, net->rings, net->cells);
    else if (!(net->slots = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else {
        lay_out(net, slots, cells);
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

static inline uint64_t distance(const track *t, uint64_t from, uint64_t to)
{
    return (to >= from ? to - from : to + t->count.by - from) * t->hop.by;
}

/* A slot passing the station, when, and its position in the slot's calendar. */
typedef struct passage {
    sg_calendar *slot;
    uint64_t time;
    uint32_t place;
} passage;

/* The slot's last reservation is later than at->time + length: is it empty until then? Sets at->place if
 * so. */
static inline int has_gap(passage *at, uint64_t length)
{
    const sg_calendar *slot = at->slot;
    const sg_interval *before = &slot->busy[slot->count - 1];
    if (before->end > at->time) {
        if (before->start < at->time + length)
            return 0;
        return sg_calendar_search(slot, at->time, length, &at->place) == at->time;
    }
    at->place = (uint32_t)slot->count - 1;
    return 1;
}

/* Is the slot empty for `length` cycles when it passes at at->time? Sets at->place if so. */
static inline int is_empty(passage *at, uint64_t length)
{
    at->place = (uint32_t)at->slot->count;
    return at->slot->busy[0].end <= at->time ||
           (at->slot->busy[0].start >= at->time + length && has_gap(at, length));
}

/* The slot that passes after `slot`. */
static inline sg_calendar *next_slot(const track *t, sg_calendar *slot)
{
    return slot == t->slots ? slot + t->count.by - 1 : slot - 1;
}

/* The earliest passage of an empty slot if none is empty in the revolution before `at`. Each slot passes once
 * per revolution. */
static passage first_later(const track *t, passage at, uint64_t length)
{
    passage best = {.time = UINT64_MAX};
    uint64_t revolution = t->revolution.by, first = at.time;
    for (uint64_t i = 0; i < t->count.by && best.time > first + i * t->hop.by; i++) {
        at.time = first + i * t->hop.by;
        while (at.time < best.time && !is_empty(&at, length)) {
            uint64_t free = sg_calendar_find(at.slot, at.time, length, &at.place);
            at.time =
                free >= best.time
                    ? free
                    : at.time + sg_quotient(free - at.time + revolution - 1, &t->revolution) * revolution;
        }
        if (at.time < best.time)
            best = at;
        at.slot = next_slot(t, at.slot);
    }
    return best;
}

/* Takes an empty slot that is not the first to pass (`slot` at `first`) or that has later reservations.
 * Returns when. */
static __attribute__((noinline)) uint64_t take_other(const track *t, sg_calendar *slot, uint64_t first,
                                                     uint64_t length)
{
    passage at = {.slot = slot, .time = first};
    uint64_t end = first + t->revolution.by, hop = t->hop.by;
    for (; at.time != end; at.time += hop, at.slot = next_slot(t, at.slot)) {
        const sg_interval *last = &at.slot->busy[0];
        if (last->end <= at.time) {
            sg_calendar_count(at.slot, length, at.time - first);
            sg_calendar_take_last(at.slot, at.time, length);
            return at.time;
        }
        if (last->start >= at.time + length && has_gap(&at, length))
            break;
    }
    if (at.time == end)
        at = first_later(t, at, length);
    sg_calendar_take(at.slot, at.time, length, at.place, at.time - first);
    return at.time;
}

/* Puts a packet on the ring at `station`, at `time` or later, into the first passing slot that is empty for
 * `length` cycles. Returns when; adds the delay after the first passing slot to `wait`. */
static uint64_t load(const track *t, uint64_t station, uint64_t time, uint64_t length, uint64_t *wait)
{
    uint64_t hops = sg_quotient(time + t->hop.by - 1, &t->hop), first = hops * t->hop.by;
    uint64_t passed = sg_remainder(hops, &t->count);
    sg_calendar *slot = &t->slots[station >= passed ? station - passed : station + t->count.by - passed];
    if (slot->busy[0].end <= first) {
        sg_calendar_count(slot, length, 0);
        sg_calendar_take_last(slot, first, length);
        return first;
    }
    time = take_other(t, slot, first, length);
    *wait += time - first;
    return time;
}

#define NOBODY UINT32_MAX

/* The first processor with a copy on leaf ring `ring` that a packet from station `from` reaches, or
 * NOBODY. */
static uint32_t first_holder(const ring_net *net, const sg_request *r, uint32_t ring, uint32_t from)
{
    uint32_t first = ring * net->cells, behind = NOBODY, end = first + net->cells;
    if (r->copies == 0)
        return NOBODY;
    if (first >> 6 == (end - 1) >> 6) { /* all bits of the ring are in one word */
        uint64_t all = r->holders[first >> 6] >> (first & 63) & ~0ull >> (64 - net->cells);
        uint64_t ahead = from < 63 ? all >> (from + 1) << (from + 1) : 0;
        if (all == 0)
            return NOBODY;
        return first + (uint32_t)__builtin_ctzll(ahead != 0 ? ahead : all);
    }
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

/* The cell `holder` (NOBODY: none known) supplies the subpage to a packet that passes station `from` of its
 * ring at `start`; returns how long the packet must wait. */
static uint64_t supply(ring_net *net, const sg_request *r, uint32_t holder, const track *there, uint64_t from,
                       uint64_t start)
{
    if (holder == NOBODY || r->kind == SG_UPGRADE)
        return 0;
    uint64_t time = start + distance(there, from, net->spot[holder].station);
    return sg_calendar_reserve(&net->cell[holder], time, net->holder) - time;
}

/* A request that entered the upper ring of `own` at `sent` travels to `ring`, where `holder` has a copy, and
 * back to the requester. Returns the arrival time. */
static uint64_t visit(ring_net *net, const sg_request *r, uint32_t ring, uint32_t holder, uint64_t sent,
                      uint64_t *wait)
{
    uint32_t own = net->spot[r->processor].ring, station = net->spot[r->processor].station;
    const track *upper = &net->upper, *there = &net->leaf[ring], *here = &net->leaf[own];
    uint64_t in = net->cells + 1; /* station of the router in from the upper ring */
    uint64_t time = sent + distance(upper, own, ring) + net->router;
    time = load(there, in, time, net->revolution, wait);
    uint64_t late = supply(net, r, holder, there, in, time);
    *wait += late;
    time += net->revolution + late + net->router;
    time =
        load(upper, ring, time, distance(upper, ring, own), wait) + distance(upper, ring, own) + net->router;
    return load(here, in, time, distance(here, in, station), wait) + distance(here, in, station);
}

/* Lists the other rings that a request must reach. For a read that the processor's own ring cannot serve,
 * this is the next one with a copy in the upper ring's direction; for a write, all rings with copies; for a
 * displaced subpage, the ring that keeps it. */
static uint32_t other_rings(const ring_net *net, const sg_request *r, int local, uint32_t *ring,
                            uint32_t *holder)
{
    uint32_t own = net->spot[r->processor].ring, count = 0;
    if (r->kind == SG_FETCH_READ && local)
        return 0;
    uint32_t used = net->used;
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
        ring[0] = net->spot[r->home].ring;
        holder[0] = NOBODY;
        count = 1;
    }
    return count;
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    ring_net *net = state;
    uint32_t own = net->spot[r->processor].ring, station = net->spot[r->processor].station;
    uint32_t *ring = net->ring, *holder = net->holder_there;
    uint64_t wait = 0, time = sg_wait_line(r, r->now + net->interface, &wait);
    const track *here = &net->leaf[own];
    uint64_t start = load(here, station, time, net->revolution, &wait);
    uint32_t supplier = first_holder(net, r, own, station);
    int local = supplier != NOBODY || (r->copies == 0 && net->spot[r->home].ring == own);
    uint64_t late = supply(net, r, supplier, here, station, start);
    uint64_t end = start + net->revolution + late, end_wait = wait + late;

    uint32_t count = other_rings(net, r, local, ring, holder);
    if (count > 0) {
        const track *upper = &net->upper;
        time = start + distance(here, station, net->cells) + net->router;
        uint64_t sent = load(upper, own, time, upper->revolution.by, &wait);
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
    const track *own = &net->leaf[net->spot[processor].ring];
    load(own, net->spot[processor].station, now + net->interface, net->revolution, &wait);
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

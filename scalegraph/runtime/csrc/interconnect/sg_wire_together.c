/* Messages sent by all elements of a SIMD machine at once: successive instructions carry them.
 *
 * Messages with the same direction and distance are one shift. Each wire carries what its elements send
 * over it, byte after byte: a shift by d of all elements takes d times as long as the bytes, one of
 * elements that are d apart takes as long as the bytes. A diagonal shift followed by a straight one is two
 * instructions. Everything else goes through the router in one instruction, for as long as its most loaded
 * channel needs with perfect packing. The program does not say which to use; as a programmer would, we
 * shift the largest groups of messages as long as that shortens the total. */
#include <stddef.h>

#include "sg_huge.h"
#include "sg_wire_state.h"

#define MOST_SHIFTS SG_WIRE_INSTRUCTIONS /* number 0 is the router, also for any more directions */
#define NONE        UINT32_MAX

/* Messages with one displacement, or all those too far for a shift. */
typedef struct group {
    uint32_t first, last, count; /* in the list of messages */
    bool near;
    sg_shift shift;
    uint64_t time; /* as a shift */
} group;

/* Working memory for an exchange: host memory, kept as long as the interconnect. */
struct sg_exchange {
    sg_wire *wire;
    const sg_shifts *shifts;
    sg_together *message;
    uint32_t groups;
    uint64_t now; /* start of the next instruction */
    bool contended;
    uint32_t used_count;
    uint64_t *load; /* by link: bytes; all zero between instructions */
    uint32_t *used; /* links with a load */
    uint32_t room;  /* capacity in messages; a power of two */
    uint32_t *next; /* next message of the same group */
    group *group;
    uint32_t *place; /* hash table of group numbers by displacement: open addressing, NONE if empty */
};

typedef struct sg_exchange exchange;

static uint64_t cycles(uint64_t time)
{
    return (time + 999) / 1000;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static sg_link link_of(const sg_wire *wire, uint32_t link)
{
    sg_link is = wire->link;
    if (wire->topology->link)
        wire->topology->link(wire->shape, link, &is);
    return is;
}

static const sg_route *route_of(const exchange *e, const sg_together *m, bool routed)
{
    sg_route *route = &e->wire->route;
    route->links = 0;
    if (routed)
        e->shifts->router(e->wire->shape, m->from, m->to, route);
    else
        e->wire->topology->route(e->wire->shape, e->wire, m->from, m->to, 0, route);
    return route;
}

/* Adds the bytes of a message to its links, if messages contend. */
static void add_load(exchange *e, const sg_together *m, bool routed)
{
    const sg_route *route = route_of(e, m, routed);
    for (uint32_t i = 0; m->bytes > 0 && i < route->links; i++) {
        uint64_t *load = &e->load[route->link[i]];
        if (*load == 0)
            e->used[e->used_count++] = route->link[i];
        *load = e->contended ? *load + m->bytes : larger(*load, m->bytes);
    }
}

static void take_load(exchange *e, const sg_together *m)
{
    const sg_route *route = route_of(e, m, true);
    for (uint32_t i = 0; e->contended && i < route->links; i++)
        e->load[route->link[i]] -= m->bytes;
}

/* Transmission time on the most loaded link. */
static uint64_t longest(const exchange *e)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < e->used_count; i++)
        most = larger(most, e->load[e->used[i]] * link_of(e->wire, e->used[i]).byte / 1000);
    return most;
}

static void clear(exchange *e)
{
    for (uint32_t i = 0; i < e->used_count; i++)
        e->load[e->used[i]] = 0;
    e->used_count = 0;
}

/* ---- duration of instructions ---- */

/* Duration of a shift whose wires need `bytes` of time for what they carry. */
static uint64_t shift_time(const sg_wire *wire, const sg_shift *shift, uint64_t bytes)
{
    uint64_t time = 0;
    for (int i = 0; i < 2; i++)
        if (shift->steps[i] > 0)
            time += 2 * wire->interface_pass + shift->steps[i] * wire->link.hop + bytes;
    return time;
}

static uint64_t router_time(const exchange *e, uint64_t bytes)
{
    const sg_route *route = route_of(e, e->message, true);
    uint64_t time = 2 * e->wire->interface_pass + bytes;
    for (uint32_t i = 0; i < route->links; i++)
        time += link_of(e->wire, route->link[i]).hop;
    return time;
}

static uint64_t of_interface(const sg_wire *wire, const sg_together *m)
{
    return m->bytes * wire->interface_byte / 1000;
}

/* Puts the messages of a group on their links; returns how long their bytes take. */
static uint64_t load_group(exchange *e, const group *g, bool routed)
{
    uint64_t bytes = 0;
    for (uint32_t i = g->first; i != NONE; i = e->next[i]) {
        add_load(e, &e->message[i], routed);
        bytes = larger(bytes, of_interface(e->wire, &e->message[i]));
    }
    return bytes;
}

static uint64_t time_of_group(exchange *e, const group *g)
{
    uint64_t bytes = load_group(e, g, false);
    bytes = larger(bytes, longest(e));
    clear(e);
    return shift_time(e->wire, &g->shift, bytes);
}

/* One message on its own wires. */
static uint64_t alone(const exchange *e, const sg_together *m, const sg_shift *shift)
{
    uint64_t link = m->bytes * e->wire->link.byte / 1000, own = of_interface(e->wire, m);
    if (shift != NULL)
        return shift_time(e->wire, shift, larger(link, own));
    const sg_route *route = route_of(e, m, true);
    for (uint32_t i = 0; i < route->links; i++)
        own = larger(own, m->bytes * link_of(e->wire, route->link[i]).byte / 1000);
    return router_time(e, own);
}

/* ---- the choice ---- */

/* The group with this displacement; number 0 has all messages that are too far. */
static group *group_of(exchange *e, const sg_shift *shift)
{
    uint32_t mask = 2 * e->room - 1, at = (uint32_t)((shift->way * 0x9e3779b97f4a7c15ull) >> 32) & mask;
    while (e->place[at] != NONE && e->group[e->place[at]].shift.way != shift->way)
        at = (at + 1) & mask;
    if (e->place[at] == NONE) {
        e->place[at] = e->groups;
        e->group[e->groups++] = (group){.first = NONE, .near = true, .shift = *shift};
    }
    return &e->group[e->place[at]];
}

static void make_groups(exchange *e, uint32_t count)
{
    memset(e->place, 0xff, 2 * e->room * sizeof *e->place);
    e->group[0] = (group){.first = NONE};
    e->groups = 1;
    for (uint32_t i = 0; i < count; i++) {
        sg_shift shift;
        bool near = e->shifts->shift(e->wire->shape, e->message[i].from, e->message[i].to, &shift);
        group *g = near ? group_of(e, &shift) : &e->group[0];
        *(g->first == NONE ? &g->first : &e->next[g->last]) = i;
        g->last = i;
        g->count++;
        e->next[i] = NONE;
    }
}

/* Moves the largest group from number `k` on to position `k` (ties: the first). */
static void bring_largest(exchange *e, uint32_t k)
{
    uint32_t best = k;
    for (uint32_t i = k + 1; i < e->groups; i++)
        if (e->group[i].count > e->group[best].count)
            best = i;
    group largest = e->group[best];
    for (uint32_t i = best; i > k; i--)
        e->group[i] = e->group[i - 1];
    e->group[k] = largest;
}

static uint64_t routed_time(const exchange *e, uint32_t messages, uint64_t interface)
{
    return messages > 0 ? router_time(e, larger(interface, longest(e))) : 0;
}

/* Number of the first group that is not a shift; it, later ones and number 0 go through the router. */
static uint32_t choose(exchange *e, uint32_t count)
{
    uint64_t after[MOST_SHIFTS]; /* the router's time if the groups up to this one are shifts */
    uint64_t interface = 0, sum = 0, best;
    uint32_t most = e->groups < MOST_SHIFTS ? e->groups : MOST_SHIFTS, left = count, chosen = 1;
    for (uint32_t k = 0; k < e->groups; k++)
        interface = larger(interface, load_group(e, &e->group[k], true));
    after[0] = best = routed_time(e, left, interface);
    for (uint32_t k = 1; k < most; k++) {
        bring_largest(e, k);
        left -= e->group[k].count;
        for (uint32_t i = e->group[k].first; i != NONE; i = e->next[i])
            take_load(e, &e->message[i]);
        after[k] = routed_time(e, left, interface);
    }
    clear(e);
    for (uint32_t k = 1; k < most; k++) {
        sum += e->group[k].time = time_of_group(e, &e->group[k]);
        if (sum + after[k] <= best) {
            best = sum + after[k];
            chosen = k + 1;
        }
    }
    return chosen;
}

/* ---- carrying out the choice ---- */

/* Records a message's load on its links in the instruction that starts at e->now. */
static void record(const exchange *e, const sg_together *m, bool routed)
{
    const sg_route *route = route_of(e, m, routed);
    for (uint32_t i = 0; i < route->links; i++) {
        uint64_t length = m->bytes * link_of(e->wire, route->link[i]).byte / 1000;
        sg_calendar *c = &e->wire->calendar[route->link[i]];
        c->transactions++;
        c->occupied += length;
        sg_wire_loads_add(&e->wire->loads, route->link[i], e->now, length, m->bytes);
    }
}

static void answer(exchange *e, const group *g, uint32_t instruction, uint64_t time)
{
    for (uint32_t i = g->first; i != NONE; i = e->next[i]) {
        sg_together *m = &e->message[i];
        m->turn = cycles(time);
        m->alone = cycles(alone(e, m, instruction == 0 ? NULL : &g->shift));
        m->instruction = instruction;
        record(e, m, instruction == 0);
    }
}

static void carry_routed(exchange *e, uint32_t shifts)
{
    uint64_t bytes = load_group(e, &e->group[0], true);
    for (uint32_t k = shifts; k < e->groups; k++)
        bytes = larger(bytes, load_group(e, &e->group[k], true));
    uint64_t time = router_time(e, larger(bytes, longest(e)));
    clear(e);
    answer(e, &e->group[0], 0, time);
    for (uint32_t k = shifts; k < e->groups; k++)
        answer(e, &e->group[k], 0, time);
    e->now += cycles(time) * 1000;
}

/* Links without a grid of shifts: all messages leave at once and contend as usual. */
static uint64_t carry_apart(sg_wire *wire, uint64_t now, sg_together *message, uint32_t count, bool contended)
{
    uint64_t end = now;
    for (sg_together *m = message; m < message + count; m++) {
        sg_transfer t = {.now = now, .from = m->from, .to = m->to, .bytes = m->bytes};
        if (contended)
            sg_wire_carry(wire, &t);
        else
            sg_wire_carry_alone(wire, &t);
        m->turn = t.arrival - now;
        m->alone = m->turn - t.contention;
        m->instruction = 0;
        end = larger(end, t.arrival);
    }
    return end - now;
}

/* ---- memory ---- */

/* The next part of `*at`, with a size that is a multiple of 8. */
static void *part(char **at, size_t size)
{
    char *begin = *at;
    *at += (size + 7) & ~(size_t)7;
    return begin;
}

/* Makes room for `count` messages; NULL: the host is out of memory. */
static exchange *room_for(sg_wire *wire, uint32_t count)
{
    uint32_t room = 64;
    while (room < count)
        room *= 2;
    if (wire->exchange != NULL && wire->exchange->room >= room)
        return wire->exchange;
    size_t bytes = 64 + sizeof(exchange) + wire->links * (sizeof(uint64_t) + sizeof(uint32_t)) +
                   room * (3 * sizeof(uint32_t)) + (room + 1) * sizeof(group);
    char *at = sg_map(bytes);
    if (at == NULL)
        return NULL;
    if (wire->exchange != NULL)
        sg_unmap(wire->exchange, wire->exchange_bytes);
    wire->exchange_bytes = bytes;
    exchange *e = wire->exchange = part(&at, sizeof *e);
    *e = (exchange){.wire = wire, .room = room};
    e->load = part(&at, wire->links * sizeof *e->load);
    e->used = part(&at, wire->links * sizeof *e->used);
    e->next = part(&at, room * sizeof *e->next);
    e->place = part(&at, 2 * room * sizeof *e->place);
    e->group = part(&at, (room + 1) * sizeof *e->group);
    return e;
}

uint64_t sg_wire_carry_together(sg_wire *wire, uint64_t now, sg_together *message, uint32_t count,
                                bool contended)
{
    const sg_shifts *shifts = wire->topology == &sg_wire_xnet ? &sg_wire_xnet_shifts : NULL;
    exchange *e = count > 0 && shifts != NULL ? room_for(wire, count) : NULL;
    if (e == NULL)
        return carry_apart(wire, now, message, count, contended);
    e->shifts = shifts;
    e->message = message;
    e->now = now * 1000;
    e->contended = contended;
    make_groups(e, count);
    uint32_t end = choose(e, count), shifted = 0;
    for (uint32_t k = 1; k < end; k++) {
        answer(e, &e->group[k], k, e->group[k].time);
        e->now += cycles(e->group[k].time) * 1000;
        shifted += e->group[k].count;
    }
    if (shifted < count)
        carry_routed(e, end);
    return e->now / 1000 - now;
}

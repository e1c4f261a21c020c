/* Common to all interconnects: interfaces, links and switching; sg_wire.h gives the formula.
 *
 * A message passes stages: the sender's interface, the links, the receiver's interface. Its head enters a
 * stage when the stage is free; the tail leaves after the time that the bytes take there. Times here are
 * thousandths of a cycle. */
#include "sg_wire_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_huge.h"

#define ROUNDS 64 /* of the search for times that suit all stages */

sg_wire *sg_wire_create(const sg_config *config, char *error, unsigned error_size)
{
    sg_wire *wire = calloc(1, sizeof *wire);
    uint64_t nodes = 0, links = 0;
    if (!wire) {
        snprintf(error, error_size, "the host has no memory for the interconnect");
        return NULL;
    }
    wire->topology = sg_wire_table[config->wire];
    wire->shape = wire->topology->create(config, &nodes, &links);
    wire->nodes = (uint32_t)nodes;
    wire->links = (uint32_t)links;
    wire->interfaces = (uint32_t)sg_config_wire(config, "interfaces");
    wire->switching = (enum switching)sg_config_wire(config, "switching");
    wire->interface_byte = sg_config_wire(config, "interface_byte_microcycles");
    wire->interface_pass = sg_config_wire(config, "interface_millicycles");
    wire->link = (sg_link){sg_config_wire(config, "link_byte_microcycles"),
                           sg_config_wire(config, "hop_millicycles"), 0};
    wire->packet_bytes = sg_config_wire(config, "packet_bytes");
    wire->header_bytes = sg_config_wire(config, "header_bytes");
    wire->least_bytes = sg_config_wire(config, "least_packet_bytes");
    wire->bytes = (links + 2 * nodes * wire->interfaces) * sizeof(sg_calendar);
    uint32_t each = sg_config_node_processors(config);
    if (wire->shape && (config->processors + each - 1) / each > nodes)
        snprintf(error, error_size,
                 "machine.interconnect: expected room for the nodes of %u processors, got %llu nodes",
                 config->processors, (unsigned long long)nodes);
    else if (!wire->shape || !(wire->calendar = sg_map(wire->bytes)) ||
             !sg_wire_loads_open(&wire->loads, wire->links))
        snprintf(error, error_size, "the host has no memory for the interconnect");
    else
        return wire;
    sg_wire_destroy(wire);
    return NULL;
}

void sg_wire_destroy(sg_wire *wire)
{
    if (!wire)
        return;
    sg_wire_loads_close(&wire->loads);
    sg_unmap(wire->calendar, wire->bytes);
    if (wire->exchange != NULL)
        sg_unmap(wire->exchange, wire->exchange_bytes);
    free(wire->shape);
    free(wire);
}

uint32_t sg_wire_nodes(const sg_wire *wire)
{
    return wire->nodes;
}

static uint64_t end_of(const sg_calendar *c, uint64_t time)
{
    return c->busy[0].end > time ? c->busy[0].end : time;
}

uint64_t sg_wire_ready(const sg_wire *wire, uint32_t link, uint64_t time)
{
    uint32_t place;
    return wire->length > 0 ? sg_calendar_find(&wire->calendar[link], time, wire->length, &place) : time;
}

static sg_calendar *interfaces_of(const sg_wire *wire, uint32_t node, int receives)
{
    return &wire->calendar[wire->links + ((uint64_t)receives * wire->nodes + node) * wire->interfaces];
}

/* The interface of a node that is free first. */
static sg_calendar *choose_interface(const sg_wire *wire, uint32_t node, int receives)
{
    sg_calendar *first = interfaces_of(wire, node, receives), *best = first;
    for (uint32_t i = 1; i < wire->interfaces; i++)
        if (end_of(&first[i], 0) < end_of(best, 0))
            best = &first[i];
    return best;
}

/* Makes room in a calendar, which would drop future reservations when full. */
static void make_room(sg_calendar *c, uint64_t now)
{
    if (c->count == SG_CALENDAR_SIZE)
        sg_calendar_condense(c, now);
}

/* Bytes on the wire: every packet has a header and a minimum length. */
static uint64_t with_headers(const sg_wire *wire, uint64_t bytes)
{
    uint64_t full = bytes / wire->packet_bytes, last = bytes % wire->packet_bytes;
    uint64_t all = full * (wire->packet_bytes + wire->header_bytes);
    if (last > 0 || full == 0)
        all += (last > wire->least_bytes ? last : wire->least_bytes) + wire->header_bytes;
    return all;
}

/* Sets up the stages of a message, except for entry times; returns their number. */
static uint32_t set_stages(sg_wire *wire, uint32_t from, uint32_t to, uint64_t bytes, uint64_t now)
{
    sg_route *route = &wire->route;
    uint64_t all = with_headers(wire, bytes);
    uint64_t packet = 0;
    if (wire->switching == STORE_AND_FORWARD)
        packet = with_headers(wire, bytes < wire->packet_bytes ? bytes : wire->packet_bytes);
    route->links = 0;
    wire->length = all * wire->link.byte / 1000;
    wire->topology->route(wire->shape, wire, from, to, now, route);
    stage *s = wire->stage,
          own = {.length = all * wire->interface_byte / 1000, .passes = wire->interface_pass};
    *s = own;
    s++->calendar = choose_interface(wire, from, 0);
    for (uint32_t i = 0; i < route->links; i++, s++) {
        sg_link link = wire->link;
        if (wire->topology->link)
            wire->topology->link(wire->shape, route->link[i], &link);
        *s = (stage){.calendar = &wire->calendar[route->link[i]],
                     .length = all * link.byte / 1000,
                     .passes = link.hop};
        if (link.collision != 0)
            s->rivals = link.collision * (1 + (bytes > 0 ? bytes - 1 : 0) / wire->packet_bytes);
        if (wire->switching == STORE_AND_FORWARD && i + 1 < route->links)
            s->passes += packet * link.byte / 1000;
    }
    *s = own;
    s++->calendar = choose_interface(wire, to, 1);
    uint64_t rest = 0;
    for (stage *back = s; back-- > wire->stage; back->rest = rest += back->passes) {
        back->hold = back->length;
    }
    return (uint32_t)(s - wire->stage);
}

/* When the tail leaves the last stage. */
static uint64_t end_of_all(const stage *s, uint32_t count)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < count; i++)
        if (s[i].head + s[i].length + s[i].rest > end)
            end = s[i].head + s[i].length + s[i].rest;
    return end;
}

static uint64_t alone(const stage *s, uint32_t count)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < count; i++)
        if (s[i].length > longest)
            longest = s[i].length;
    return s[0].rest + longest;
}

/* A message that finds a shared cable busy contends with others. */
static void collide(stage *s)
{
    uint32_t place;
    s->length += s->rivals;
    s->hold += s->rivals;
    s->rivals = 0;
    s->head = sg_calendar_find(s->calendar, s->head, s->hold, &place);
}

/* Fast path: most messages find each stage free with no later reservations, so the head enters each at once,
 * with the same result as enter(). False: search. */
static bool enter_free(sg_wire *wire, uint32_t count, uint64_t now)
{
    stage *s = wire->stage;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < count; now += s[i].passes, i++) {
        if (s[i].length > 0 && now < s[i].calendar->busy[0].end)
            return false;
        longest = s[i].length > longest ? s[i].length : longest;
        s[i].head = now;
    }
    if (wire->switching == WORMHOLE) /* busy until the tail has passed */
        for (uint32_t i = 0; i < count; i++)
            s[i].hold = s[i].length > 0 ? longest : 0;
    return true;
}

/* What reserve() does in that case. */
static void reserve_free(stage *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (s[i].hold == 0)
            continue;
        sg_calendar_count(s[i].calendar, s[i].hold, 0);
        sg_calendar_take_last(s[i].calendar, s[i].head, s[i].hold);
    }
}

/* Finds entry times for the head such that each stage is free for as long as the message holds it. */
static void enter(sg_wire *wire, uint32_t count, uint64_t now)
{
    stage *s = wire->stage;
    int again = 1;
    for (int round = 0; again && round < ROUNDS; round++) {
        uint64_t time = now;
        uint32_t place;
        for (uint32_t i = 0; i < count; time = s[i].head + s[i].passes, i++) {
            s[i].head = s[i].hold ? sg_calendar_find(s[i].calendar, time, s[i].hold, &place) : time;
            if (s[i].rivals > 0 && s[i].head > time)
                collide(&s[i]);
        }
        if (wire->switching != WORMHOLE)
            return;
        uint64_t end = end_of_all(s, count);
        again = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t hold = end - s[i].rest - s[i].head; /* until the tail has passed */
            if (s[i].length > 0 && hold > s[i].hold) {
                s[i].hold = hold;
                again |= sg_calendar_find(s[i].calendar, s[i].head, hold, &place) != s[i].head;
            }
        }
    }
    if (!again) {
        uint64_t end = end_of_all(s, count);
        for (uint32_t i = 0; i < count; i++) /* minimal again: earlier rounds may have needed more */
            s[i].hold = s[i].length > 0 ? end - s[i].rest - s[i].head : 0;
        return;
    }
    for (uint32_t i = 0; i < count; i++) /* no gap fits: after all reservations */
        if (end_of(s[i].calendar, now) > now)
            now = end_of(s[i].calendar, now);
    uint64_t longest = alone(s, count) - s[0].rest;
    for (uint32_t i = 0; i < count; now += s[i].passes, i++) {
        s[i].head = now;
        s[i].hold = s[i].length > 0 ? longest : 0;
    }
}

static void reserve(stage *s, uint32_t count, uint64_t now)
{
    for (uint32_t i = 0; i < count; now = s[i].head + s[i].passes, i++) {
        uint32_t place;
        if (s[i].hold == 0)
            continue;
        sg_calendar_find(s[i].calendar, s[i].head, s[i].hold, &place);
        sg_calendar_take(s[i].calendar, s[i].head, s[i].hold, place, s[i].head - now);
    }
}

static uint64_t cycles(uint64_t time)
{
    return (time + 999) / 1000;
}

void sg_wire_carry(sg_wire *wire, sg_transfer *t)
{
    t->free = t->arrival = t->now;
    t->contention = 0;
    if (t->from == t->to)
        return;
    uint64_t now = t->now * 1000;
    uint32_t count = set_stages(wire, t->from, t->to, t->bytes, now);
    for (uint32_t i = 0; i < wire->route.links; i++) /* cold, and needed last */
        sg_wire_loads_expect(&wire->loads, wire->route.link[i], now);
    uint64_t unloaded = cycles(alone(wire->stage, count));
    for (uint32_t i = 0; i < count; i++)
        make_room(wire->stage[i].calendar, now);
    if (enter_free(wire, count, now)) {
        reserve_free(wire->stage, count);
    } else {
        enter(wire, count, now);
        reserve(wire->stage, count, now);
    }
    for (uint32_t i = 0; i < wire->route.links; i++)
        sg_wire_loads_add(&wire->loads, wire->route.link[i], wire->stage[i + 1].head, wire->stage[i + 1].hold,
                          t->bytes);
    t->free = cycles(wire->stage[0].head + wire->stage[0].hold);
    t->arrival = cycles(end_of_all(wire->stage, count));
    t->contention = t->arrival - t->now - unloaded;
}

void sg_wire_carry_alone(sg_wire *wire, sg_transfer *t)
{
    t->free = t->arrival = t->now;
    t->contention = 0;
    if (t->from == t->to)
        return;
    uint32_t count = set_stages(wire, t->from, t->to, t->bytes, t->now * 1000);
    uint64_t whole = alone(wire->stage, count), first = wire->stage[0].length;
    t->free += cycles(wire->switching == WORMHOLE ? whole - wire->stage[0].rest : first);
    t->arrival += cycles(whole);
}

uint64_t sg_wire_alone(sg_wire *wire, uint32_t from, uint32_t to, uint64_t bytes)
{
    return from == to ? 0 : cycles(alone(wire->stage, set_stages(wire, from, to, bytes, 0)));
}

uint32_t sg_wire_hops(sg_wire *wire, uint32_t from, uint32_t to)
{
    return from == to ? 0 : set_stages(wire, from, to, 0, 0) - 2;
}

void sg_wire_statistics(const sg_wire *wire, sg_usage_visit *visit, void *context)
{
    char name[40];
    for (uint32_t i = 0; i < wire->links; i++) {
        if (wire->calendar[i].transactions == 0)
            continue;
        wire->topology->name_link(wire->shape, i, name, sizeof name);
        sg_usage_tell(&wire->calendar[i], 1, 1000, SG_USAGE_LINK, visit, context, "%s", name);
    }
    for (int receives = 0; receives < 2; receives++)
        for (uint32_t node = 0; node < wire->nodes; node++)
            sg_usage_tell(interfaces_of(wire, node, receives), wire->interfaces, 1000, SG_USAGE_LINK, visit,
                          context, "node %u %s", node, receives ? "in" : "out");
}

uint32_t sg_wire_busiest(const sg_wire *wire, uint32_t *chosen, uint32_t most)
{
    return sg_wire_loads_busiest(&wire->loads, chosen, most);
}

void sg_wire_load(const sg_wire *wire, uint32_t link, sg_link_record *load)
{
    const sg_link_load *l = &wire->loads.link[link];
    const sg_calendar *c = &wire->calendar[link];
    char name[sizeof load->name + 1];
    *load =
        (sg_link_record){.bytes = l->bytes, .width = wire->loads.width / 1000, .busy = c->occupied / 1000};
    wire->topology->name_link(wire->shape, link, name, sizeof name);
    memcpy(load->name, name, strnlen(name, sizeof load->name));
    load->transactions = c->transactions;
    load->waiting = c->waited / 1000;
    for (uint32_t i = 0; i < SG_LOAD_SPANS; i++)
        load->spans[i] = l->span[i] / 1000;
}

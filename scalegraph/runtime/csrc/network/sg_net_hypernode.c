/* Hypernodes: a crossbar inside, rings between them (Convex Exemplar SPP1000).
 *
 * Each hypernode has one functional unit per ring, each with a memory and a station on its ring. Lines are
 * interleaved over the units, so the line alone determines the unit and the ring of a request. The
 * crossbar connects the processors of a hypernode with its units; its port at a unit is busy while a line
 * passes. Rings are unidirectional: hypernode h to h + 1. A message occupies each link on its path, and a
 * request and its reply together go round the whole ring.
 *
 * Within a hypernode, a directory in the unit's memory knows the caches with copies. Between hypernodes,
 * each line's home keeps a list of the hypernodes with copies (SCI). A hypernode that wants a line asks
 * home; if another hypernode has it dirty, home says which, and the requester asks that one. A writer asks
 * home first, then has the hypernodes on the list drop their copies one after the other, each in one trip
 * round the ring.
 *
 * Part of each unit's memory is the network cache, a shared level that keeps remote lines (sg_mem.c
 * searches it first); a remote line in a cache of the same hypernode also comes from its unit.
 *
 * Simplified: the list has no order, and leaving it costs no messages; the processors' crossbar ports
 * never cause waiting. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_divisor.h"
#include "sg_huge.h"

typedef struct hypernode_net {
    uint32_t hypernodes, processors, rings;
    sg_divisor by_processors, by_rings;
    uint64_t crossbar, memory, directory, snoop, controller, hop;
    uint64_t line_crossbar;             /* a line occupies a port of the crossbar */
    uint64_t short_packet, long_packet; /* a packet occupies a ring link */
    sg_calendar *module;                /* [hypernode][ring]: the unit's memory */
    sg_calendar *port;                  /* [hypernode][ring]: the crossbar port at the unit */
    sg_calendar *link;                  /* [ring][hypernode]: to the next hypernode */
    size_t bytes;
} hypernode_net;

static const sg_net_parameter parameters[] = {SG_HYPERNODE_PARAMETERS};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    hypernode_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    uint64_t line = config->coherence_line_bytes, header = sg_config_u64(config, "header_bytes");
    uint64_t wide = sg_config_u64(config, "crossbar_bytes"), ring = sg_config_u64(config, "ring_bytes");
    net->hypernodes = (uint32_t)sg_config_u64(config, "hypernodes");
    net->processors = (uint32_t)sg_config_u64(config, "hypernode_processors");
    net->rings = (uint32_t)sg_config_u64(config, "rings");
    net->by_processors = sg_divisor_of(net->processors);
    net->by_rings = sg_divisor_of(net->rings);
    net->crossbar = sg_config_u64(config, "crossbar_cycles");
    net->memory = sg_config_u64(config, "memory_cycles");
    net->directory = sg_config_u64(config, "directory_cycles");
    net->snoop = sg_config_u64(config, "snoop_cycles");
    net->controller = sg_config_u64(config, "controller_cycles");
    net->hop = sg_config_u64(config, "hop_cycles");
    net->line_crossbar = (line + wide - 1) / wide;
    net->short_packet = (header + ring - 1) / ring;
    net->long_packet = (header + line + ring - 1) / ring;
    size_t units = (size_t)net->hypernodes * net->rings;
    net->bytes = 3 * units * sizeof(sg_calendar);
    const sg_cache_level *last = &config->level[config->levels - 1];
    if (net->hypernodes * net->processors < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.hypernodes: expected room for %u processors, got %u hypernodes of %u",
                 config->max_processors, net->hypernodes, net->processors);
    else if (last->shared_by > 1 && (last->shared_by != net->processors || !last->remote_only))
        snprintf(error, error_size,
                 "machine.level.%u.shared_by: expected 1, or a network cache (remote_only) of all %u "
                 "processors of "
                 "a hypernode",
                 config->levels - 1, net->processors);
    else if (!(net->module = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else {
        net->port = net->module + units;
        net->link = net->port + units;
        return net;
    }
    free(net);
    return NULL;
}

static void destroy(void *state)
{
    hypernode_net *net = state;
    sg_unmap(net->module, net->bytes);
    free(net);
}

static inline uint32_t hypernode_of(const hypernode_net *net, uint32_t processor)
{
    return (uint32_t)sg_quotient(processor, &net->by_processors);
}

static inline uint32_t unit_of(const hypernode_net *net, uint64_t line)
{
    return (uint32_t)sg_remainder(line, &net->by_rings);
}

/* A transaction in progress: its unit, the time, the waiting so far. */
typedef struct course {
    hypernode_net *net;
    uint32_t unit;
    uint64_t time, wait;
} course;

static void take(course *c, sg_calendar *resource, uint64_t length)
{
    uint64_t start = sg_calendar_reserve(resource, c->time, length);
    c->wait += start - c->time;
    c->time = start;
}

/* The memory of the unit in `hypernode` is busy for `cycles`. */
static void serve(course *c, uint32_t hypernode, uint64_t cycles)
{
    take(c, &c->net->module[hypernode * c->net->rings + c->unit], cycles);
    c->time += cycles;
}

/* A line crosses the crossbar between the unit and a processor. */
static void carry(course *c, uint32_t hypernode)
{
    take(c, &c->net->port[hypernode * c->net->rings + c->unit], c->net->line_crossbar);
    c->time += c->net->crossbar + c->net->line_crossbar;
}

/* A packet goes from the ring controller of one hypernode to that of another. */
static void ride(course *c, uint32_t from, uint32_t to, uint64_t packet)
{
    const hypernode_net *net = c->net;
    sg_calendar *ring = &net->link[c->unit * net->hypernodes];
    uint64_t time = c->time + net->controller, wait = 0, hop = net->hop;
    for (uint32_t end = net->hypernodes; from != to; from = from + 1 == end ? 0 : from + 1) {
        uint64_t start = sg_calendar_reserve(&ring[from], time, packet);
        wait += start - time;
        time = start + hop;
    }
    c->wait += wait;
    c->time = time + packet + net->controller;
}

/* The directory of `hypernode` asks the caches with copies there, all at once. */
static void ask_caches(course *c)
{
    c->time += 2 * c->net->crossbar + c->net->snoop;
}

/* A supplier asked for the line knows already. */
static inline int has_target(const hypernode_net *net, const sg_request *r, uint32_t hypernode)
{
    uint32_t q = hypernode * net->processors, end = q + net->processors;
    if (r->invalidations == 0 || !sg_any_bit(r->targets, r->words, q, end))
        return 0;
    return sg_next_target(r, &q) && q < end;
}

static inline int has_holder(const hypernode_net *net, const sg_request *r, uint32_t hypernode)
{
    uint32_t q = hypernode * net->processors;
    return sg_any_bit(r->holders, r->words, q, q + net->processors);
}

/* The hypernode that has the data of a fetch. */
static uint32_t source_of(const hypernode_net *net, const sg_request *r, uint32_t own)
{
    if (r->from == SG_FROM_CACHE)
        return hypernode_of(net, r->supplier);
    if (r->from == SG_FROM_OWN_GROUP || (r->home != own && has_holder(net, r, own)))
        return own;
    return r->from == SG_FROM_SHARED_CACHE ? hypernode_of(net, r->supplier) : r->home;
}

/* The unit of `hypernode` gets the line from the cache that has it, or from its memory. */
static void read_line(course *c, const sg_request *r, uint32_t hypernode)
{
    if (r->from == SG_FROM_CACHE) {
        c->time += c->net->directory;
        ask_caches(c);
        if (r->dirty)
            carry(c, hypernode);
    }
    if (r->from != SG_FROM_CACHE || !r->keeps)
        serve(c, hypernode, c->net->memory);
}

/* When the line has arrived; home has then been informed. */
static void fetch(course *c, const sg_request *r, uint32_t own, int *remote)
{
    hypernode_net *net = c->net;
    uint32_t source = source_of(net, r, own);
    c->time += net->crossbar;
    if (source != own && r->home != own && r->home != source) {
        ride(c, own, r->home, net->short_packet);
        serve(c, r->home, net->directory);
        ride(c, r->home, own, net->short_packet);
    } else if (source != own && r->home == own) {
        serve(c, own, net->directory);
    }
    if (source != own) {
        *remote = 1;
        ride(c, own, source, net->short_packet);
        read_line(c, r, source);
        ride(c, source, own, net->long_packet);
    } else {
        read_line(c, r, own);
    }
    carry(c, own);
}

/* Write permission, once the data have arrived: home makes the requester the head of the list, and all other
 * hypernodes with copies drop them in turn. `asked`: the fetch has already asked home. */
static void own_line(course *c, const sg_request *r, uint32_t own, int asked, int *remote)
{
    hypernode_net *net = c->net;
    if (!asked) {
        c->time += net->crossbar;
        if (r->home != own) {
            *remote = 1;
            ride(c, own, r->home, net->short_packet);
            serve(c, r->home, net->directory);
            if (has_target(net, r, r->home))
                ask_caches(c);
            ride(c, r->home, own, net->short_packet);
        } else {
            serve(c, own, net->directory);
        }
    }
    uint32_t there = own, others = r->invalidations > 0 || r->groups != 0 ? net->hypernodes : 0;
    for (uint32_t i = 1; i < others; i++) {
        there = there + 1 == others ? 0 : there + 1;
        int cached = (int)(r->groups >> there & 1);
        if ((there == r->home && !asked) || !(has_target(net, r, there) || cached))
            continue;
        *remote = 1;
        ride(c, own, there, net->short_packet);
        c->time += net->directory;
        if (has_target(net, r, there))
            ask_caches(c);
        ride(c, there, own, net->short_packet);
    }
    if (has_target(net, r, own))
        ask_caches(c);
    if (!asked)
        c->time += net->crossbar;
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    hypernode_net *net = state;
    uint32_t own = hypernode_of(net, r->processor);
    course c = {net, unit_of(net, r->line), r->now, 0};
    c.time = sg_wait_line(r, c.time, &c.wait);
    reply->remote = 0;
    int asked = 0;
    if (r->kind != SG_UPGRADE && r->from != SG_FROM_OWN_GROUP) {
        fetch(&c, r, own, &reply->remote);
        asked = r->home == own || source_of(net, r, own) != own;
    }
    if (r->kind != SG_FETCH_READ)
        own_line(&c, r, own, asked, &reply->remote);
    if (r->kind != SG_FETCH_READ || r->from == SG_FROM_CACHE)
        *r->busy = c.time;
    reply->contention = c.wait;
    reply->cycles = c.time - r->now - c.wait;
}

static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t home)
{
    hypernode_net *net = state;
    uint32_t own = hypernode_of(net, processor);
    course c = {net, unit_of(net, line), now, 0};
    carry(&c, own);
    if (home != own)
        ride(&c, own, home, net->long_packet);
    serve(&c, home, net->memory);
}

static uint32_t nodes(const void *state)
{
    return ((const hypernode_net *)state)->hypernodes;
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    return hypernode_of(state, processor);
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const hypernode_net *net = state;
    for (uint32_t ring = 0; ring < net->rings; ring++)
        for (uint32_t h = 0; h < net->hypernodes && net->hypernodes > 1; h++)
            sg_usage_tell(&net->link[ring * net->hypernodes + h], 1, 1, SG_USAGE_LINK, visit, context,
                          "ring %u link %u>%u", ring, h, (h + 1) % net->hypernodes);
    for (uint32_t h = 0; h < net->hypernodes; h++)
        for (uint32_t unit = 0; unit < net->rings; unit++) {
            size_t at = (size_t)h * net->rings + unit;
            sg_usage_tell(&net->port[at], 1, 1, SG_USAGE_LINK, visit, context, "crossbar %u.%u", h, unit);
            sg_usage_tell(&net->module[at], 1, 1, SG_USAGE_MODULE, visit, context, "memory %u.%u", h, unit);
        }
}

const sg_net_ops sg_net_hypernode = {"hypernode", parameters, create,  destroy,   transact,
                                     write_back,  nodes,      node_of, statistics};

/* Two-dimensional mesh of tiles, each with one processor, its caches and a part of the directory; memory
 * controllers at the west and east edges (many-core processors).
 *
 * Tile t is in column t % width, row t / width. Messages travel along the row first, then along the column
 * (XY routing). Each hop costs the router and link latency, and the message's flits occupy the link, as
 * they do the sending tile's port. Messages within a tile take no time.
 *
 * A line's directory entry is in tile line % tiles; the line itself is in the memory of its page's
 * controller, interleaved over the banks. Even controllers are at the west edge, odd ones at the east
 * edge, evenly spread over the rows.
 *
 * A miss asks the directory, which asks the owner, or memory, for the line; the line goes straight to the
 * requesting processor. A dirty line that others read also goes to memory, unless its owner keeps it
 * (MOESI). The directory sends invalidations one after the other; acknowledgements go to the writer. */
#include "sg_net.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "sg_divisor.h"
#include "sg_huge.h"

enum { EAST, WEST, SOUTH, NORTH, PORT, WAYS };

/* Position of a tile. */
typedef struct spot {
    uint32_t x, y;
} spot;

typedef struct mesh_net {
    uint32_t width, height, tiles, controllers, banks;
    sg_divisor by_tiles, by_banks;
    uint64_t hop; /* router and link */
    uint64_t short_flits, long_flits;
    uint64_t directory, memory, bank_busy, snoop;
    sg_calendar *links;        /* [tile][WAYS]: its outgoing links, and its port into the network */
    sg_calendar *directory_of; /* [tile] */
    sg_calendar *bank;         /* [controller][banks] */
    spot *spot;                /* [tile] */
    size_t bytes;
    int remote; /* has a message of this transaction left its tile? */
} mesh_net;

static const sg_net_parameter parameters[] = {SG_MESH_PARAMETERS};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    mesh_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    uint64_t flit = sg_config_u64(config, "flit_bytes"), header = sg_config_u64(config, "header_bytes");
    net->width = (uint32_t)sg_config_u64(config, "width");
    net->height = (uint32_t)sg_config_u64(config, "height");
    net->tiles = net->width * net->height;
    net->controllers = (uint32_t)sg_config_u64(config, "controllers");
    net->banks = (uint32_t)sg_config_u64(config, "banks");
    net->by_tiles = sg_divisor_of(net->tiles);
    net->by_banks = sg_divisor_of(net->banks);
    net->hop = sg_config_u64(config, "router_cycles") + sg_config_u64(config, "link_cycles");
    net->short_flits = (header + flit - 1) / flit;
    net->long_flits = (header + config->coherence_line_bytes + flit - 1) / flit;
    net->directory = sg_config_u64(config, "directory_cycles");
    net->memory = sg_config_u64(config, "memory_cycles");
    net->bank_busy = sg_config_u64(config, "bank_busy_cycles");
    net->snoop = sg_config_u64(config, "snoop_cycles");
    size_t links = (size_t)net->tiles * WAYS;
    size_t banks = (size_t)net->controllers * net->banks;
    net->bytes = (links + net->tiles + banks) * sizeof(sg_calendar) + net->tiles * sizeof(spot);
    if (net->tiles < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.width: expected room for %u processors, got %u x %u tiles",
                 config->max_processors, net->width, net->height);
    else if (net->controllers > 2 * net->height)
        snprintf(error, error_size,
                 "machine.network.controllers: expected at most two a row, got %u on %u rows",
                 net->controllers, net->height);
    else if (!(net->links = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else {
        net->directory_of = net->links + links;
        net->bank = net->directory_of + net->tiles;
        net->spot = (spot *)(net->bank + banks);
        for (uint32_t t = 0; t < net->tiles; t++)
            net->spot[t] = (spot){t % net->width, t / net->width};
        return net;
    }
    free(net);
    return NULL;
}

static void destroy(void *state)
{
    mesh_net *net = state;
    sg_unmap(net->links, net->bytes);
    free(net);
}

/* The tile of a memory controller. */
static uint32_t tile_of(const mesh_net *net, uint32_t controller)
{
    uint32_t east = controller & 1, side = (net->controllers + 1 - east) / 2;
    uint32_t row = (2 * (controller / 2) + 1) * net->height / (2 * side);
    return row * net->width + (east ? net->width - 1 : 0);
}

static inline uint64_t take(sg_calendar *resource, uint64_t time, uint64_t length, uint64_t *wait)
{
    uint64_t start = sg_calendar_reserve(resource, time, length);
    *wait += start - time;
    return start;
}

/* Traverses `hops` links, the next always `step` calendars further; returns the arrival of the head. */
static inline uint64_t pass(sg_calendar *link, uint32_t hops, ptrdiff_t step, uint64_t hop, uint64_t time,
                            uint64_t flits, uint64_t *wait)
{
    for (; hops != 0; hops--, link += step)
        time = take(link, time, flits, wait) + hop;
    return time;
}

/* Sends a message; returns when its last flit has arrived. */
static uint64_t send(mesh_net *net, uint32_t from, uint32_t to, uint64_t time, uint64_t flits, uint64_t *wait)
{
    if (from == to)
        return time;
    net->remote = 1;
    sg_calendar *tile = &net->links[(size_t)from * WAYS];
    const spot *a = &net->spot[from], *b = &net->spot[to];
    ptrdiff_t row = (ptrdiff_t)net->width * WAYS;
    uint64_t hop = net->hop, waited = 0;
    time = take(&tile[PORT], time, flits, &waited);
    if (a->x < b->x)
        time = pass(&tile[EAST], b->x - a->x, WAYS, hop, time, flits, &waited);
    else
        time = pass(&tile[WEST], a->x - b->x, -WAYS, hop, time, flits, &waited);
    tile += ((ptrdiff_t)b->x - (ptrdiff_t)a->x) * WAYS;
    if (a->y < b->y)
        time = pass(&tile[SOUTH], b->y - a->y, row, hop, time, flits, &waited);
    else
        time = pass(&tile[NORTH], a->y - b->y, -row, hop, time, flits, &waited);
    *wait += waited;
    return time + flits;
}

/* A bank reads or writes a line; returns when that is done. */
static uint64_t access_memory(mesh_net *net, uint32_t controller, uint64_t line, uint64_t time,
                              uint64_t *wait)
{
    uint64_t row = sg_quotient(line, &net->by_tiles);
    sg_calendar *bank = &net->bank[(size_t)controller * net->banks + sg_remainder(row, &net->by_banks)];
    return take(bank, time, net->bank_busy, wait) + net->memory;
}

/* Arrival of the data of a fetch at the requester; the directory has been asked at `time`. */
static uint64_t fetch(mesh_net *net, const sg_request *r, uint32_t home, uint64_t time, uint64_t *wait)
{
    uint32_t memory = tile_of(net, r->home);
    if (r->from == SG_FROM_CACHE) {
        uint64_t nobody_waits = 0;
        time = send(net, home, r->supplier, time, net->short_flits, wait) + net->snoop;
        if (r->dirty && !r->keeps && r->kind == SG_FETCH_READ) {
            uint64_t there = send(net, r->supplier, memory, time, net->long_flits, &nobody_waits);
            access_memory(net, r->home, r->line, there, &nobody_waits);
        }
        return send(net, r->supplier, r->processor, time, net->long_flits, wait);
    }
    time = send(net, home, memory, time, net->short_flits, wait);
    time = access_memory(net, r->home, r->line, time, wait);
    return send(net, memory, r->processor, time, net->long_flits, wait);
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    mesh_net *net = state;
    uint32_t home = (uint32_t)sg_remainder(r->line, &net->by_tiles), own = r->processor;
    uint64_t wait = 0;
    net->remote = 0;
    uint64_t time = send(net, own, home, r->now, net->short_flits, &wait);
    time = sg_wait_line(r, time, &wait);
    time = take(&net->directory_of[home], time, net->directory, &wait) + net->directory;
    uint64_t end_wait = wait, end;
    if (r->kind == SG_UPGRADE)
        end = send(net, home, own, time, net->short_flits, &end_wait);
    else
        end = fetch(net, r, home, time, &end_wait);
    for (uint32_t q = 0; sg_next_target(r, &q); q++) {
        uint64_t branch_wait = wait;
        uint64_t gone = send(net, home, q, time, net->short_flits, &branch_wait) + net->snoop;
        gone = send(net, q, own, gone, net->short_flits, &branch_wait);
        if (gone > end) {
            end = gone;
            end_wait = branch_wait;
        }
    }
    if (r->kind != SG_FETCH_READ || r->from == SG_FROM_CACHE || r->invalidations > 0)
        *r->busy = end;
    reply->remote = net->remote;
    reply->contention = end_wait;
    reply->cycles = end - r->now - end_wait;
}

static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t home)
{
    mesh_net *net = state;
    uint64_t wait = 0, time = send(net, processor, tile_of(net, home), now, net->long_flits, &wait);
    access_memory(net, home, line, time, &wait);
}

static uint32_t nodes(const void *state)
{
    return ((const mesh_net *)state)->controllers;
}

static uint32_t steps(const mesh_net *net, uint32_t a, uint32_t b)
{
    uint32_t ax = a % net->width, bx = b % net->width, ay = a / net->width, by = b / net->width;
    return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    const mesh_net *net = state;
    uint32_t best = 0;
    for (uint32_t i = 1; i < net->controllers; i++)
        if (steps(net, processor, tile_of(net, i)) < steps(net, processor, tile_of(net, best)))
            best = i;
    return best;
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const mesh_net *net = state;
    for (uint32_t t = 0; t < net->tiles; t++) {
        const sg_calendar *links = &net->links[(size_t)t * WAYS];
        uint32_t x = t % net->width, y = t / net->width;
        if (x + 1 < net->width)
            sg_usage_tell(&links[EAST], 1, 1, SG_USAGE_LINK, visit, context, "link %u>%u", t, t + 1);
        if (x > 0)
            sg_usage_tell(&links[WEST], 1, 1, SG_USAGE_LINK, visit, context, "link %u>%u", t, t - 1);
        if (y + 1 < net->height)
            sg_usage_tell(&links[SOUTH], 1, 1, SG_USAGE_LINK, visit, context, "link %u>%u", t,
                          t + net->width);
        if (y > 0)
            sg_usage_tell(&links[NORTH], 1, 1, SG_USAGE_LINK, visit, context, "link %u>%u", t,
                          t - net->width);
        sg_usage_tell(&links[PORT], 1, 1, SG_USAGE_LINK, visit, context, "port %u", t);
        sg_usage_tell(&net->directory_of[t], 1, 1, SG_USAGE_MODULE, visit, context, "directory %u", t);
    }
    for (uint32_t i = 0; i < net->controllers; i++)
        sg_usage_tell(&net->bank[(size_t)i * net->banks], net->banks, 1, SG_USAGE_MODULE, visit, context,
                      "memory %u", i);
}

const sg_net_ops sg_net_mesh = {"mesh",     parameters, create,  destroy,   transact,
                                write_back, nodes,      node_of, statistics};

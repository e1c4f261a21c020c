/* Sockets with their own memory, joined by links (current servers).
 *
 * Links join every pair of sockets, or form a ring, or join sockets whose numbers differ in one binary
 * digit (a hypercube). A message between sockets without a link passes through others: the shorter way
 * round a ring (upwards on a tie), the lowest differing digit first in a hypercube. Each hop takes a
 * link's latency and occupies the link. Every socket has memory channels with interleaved lines, and each
 * channel has banks. A transfer occupies its bank and its channel, and a line that crosses a link occupies
 * that direction of it, according to their bandwidths. Occupancy is counted in 1/1000 cycle, since a line
 * takes a fraction of one. The directory is at the home; a socket's snoop filter finds copies in its own
 * caches without asking home.
 *
 * A socket may have several memory nodes: each has its share of the processors (consecutive numbers) and
 * of the channels, and a home is one of them; memory of another node of the socket is farther away. Lines
 * that a node's processors fetch and write back occupy the node's exit (mesh, or the link of a die) if
 * that is limited. A written line occupies its channel longer than a read one, as the machine says.
 *
 * A line comes from a cache of the same socket if one has it, else from a cache of another socket that owns
 * it or keeps it in its shared cache, else from the memory of its home. Invalidations go to all sockets
 * with copies at once; the farthest decides. A line that changes its owner is served to nobody until it
 * has arrived. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_calendar.h"
#include "sg_divisor.h"
#include "sg_huge.h"

typedef struct numa_net {
    uint32_t sockets, cores, topology;
    uint32_t parts, channels, banks; /* memory nodes per socket, channels per node, banks per channel */
    uint32_t group;                  /* processors that share a last-level cache */
    sg_divisor by_cores, by_node_cores, by_parts, by_channels, by_banks, by_group;
    uint64_t memory, node, snoop, link;
    uint64_t transfer, group_transfer,
        remote_transfer; /* from a cache of the socket, the group, another socket */
    uint64_t channel_busy, channel_write, bank_busy, link_busy, link_short, mesh_busy; /* millicycles */
    sg_calendar *channel; /* [sockets][parts][channels] */
    sg_calendar *bank;    /* [sockets][parts][channels][banks] */
    sg_calendar *links;   /* [from][to] */
    sg_calendar *mesh;    /* [sockets][parts] */
    size_t bytes;
} numa_net;

enum { FULL, RING, HYPERCUBE };

static const sg_net_parameter parameters[] = {SG_NUMA_PARAMETERS};

/* An optional parameter and its default. */
static uint64_t later(const sg_config *config, const char *name, uint64_t otherwise)
{
    uint64_t given = sg_config_u64(config, name);
    return given != 0 ? given : otherwise;
}

static void read_values(numa_net *net, const sg_config *config)
{
    net->sockets = (uint32_t)sg_config_u64(config, "sockets");
    net->cores = (uint32_t)sg_config_u64(config, "socket_processors");
    net->parts = (uint32_t)later(config, "memory_nodes", 1);
    net->channels = (uint32_t)sg_config_u64(config, "channels") / net->parts;
    net->banks = (uint32_t)sg_config_u64(config, "banks");
    net->by_cores = sg_divisor_of(net->cores);
    net->group = config->level[config->levels - 1].shared_by;
    net->by_group = sg_divisor_of(net->group);
    net->by_parts = sg_divisor_of(net->parts);
    net->by_channels = sg_divisor_of(net->channels > 0 ? net->channels : 1);
    net->by_banks = sg_divisor_of(net->banks);
    net->topology = (uint32_t)sg_config_u64(config, "topology");
    net->memory = sg_config_u64(config, "memory_cycles");
    net->node = sg_config_u64(config, "node_cycles");
    net->transfer = sg_config_u64(config, "transfer_cycles");
    net->group_transfer = later(config, "group_transfer_cycles", net->transfer);
    net->remote_transfer = later(config, "remote_transfer_cycles", net->transfer);
    net->snoop = sg_config_u64(config, "snoop_cycles");
    net->link = sg_config_u64(config, "link_cycles");
    net->channel_busy = sg_config_u64(config, "channel_line_millicycles");
    net->channel_write = later(config, "channel_write_millicycles", net->channel_busy);
    net->mesh_busy = sg_config_u64(config, "mesh_line_millicycles");
    net->bank_busy = sg_config_u64(config, "bank_millicycles");
    net->link_busy = sg_config_u64(config, "link_line_millicycles");
    net->link_short = sg_config_u64(config, "link_control_millicycles");
}

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    numa_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    read_values(net, config);
    size_t nodes = (size_t)net->sockets * net->parts, channels = nodes * net->channels;
    net->bytes =
        (channels * (1 + net->banks) + (size_t)net->sockets * net->sockets + nodes) * sizeof(sg_calendar);
    const sg_cache_level *last = &config->level[config->levels - 1];
    if (net->sockets * net->cores < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.sockets: expected room for %u processors, got %u sockets of %u",
                 config->max_processors, net->sockets, net->cores);
    else if (last->shared_by > net->cores || net->cores % last->shared_by != 0)
        snprintf(error, error_size,
                 "machine.level.%u.shared_by: expected a divisor of the %u processors of a socket",
                 config->levels - 1, net->cores);
    else if (net->channels * net->parts != sg_config_u64(config, "channels") || net->cores % net->parts != 0)
        snprintf(
            error, error_size,
            "machine.network.memory_nodes: expected a divisor of the %u processors and of the channels of a "
            "socket, got %u",
            net->cores, net->parts);
    else if (net->topology == HYPERCUBE && (net->sockets & (net->sockets - 1)) != 0)
        snprintf(error, error_size, "machine.network.sockets: expected a power of two in a hypercube, got %u",
                 net->sockets);
    else if (!(net->channel = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else {
        net->bank = net->channel + channels;
        net->links = net->bank + channels * net->banks;
        net->mesh = net->links + (size_t)net->sockets * net->sockets;
        net->by_node_cores = sg_divisor_of(net->cores / net->parts);
        return net;
    }
    free(net);
    return NULL;
}

static void destroy(void *state)
{
    numa_net *net = state;
    sg_unmap(net->channel, net->bytes);
    free(net);
}

static inline uint32_t socket_of(const numa_net *net, uint32_t processor)
{
    return (uint32_t)sg_quotient(processor, &net->by_cores);
}

/* The memory node of a processor. */
static inline uint32_t home_of(const numa_net *net, uint32_t processor)
{
    return (uint32_t)sg_quotient(processor, &net->by_node_cores);
}

static inline uint32_t socket_of_home(const numa_net *net, uint32_t home)
{
    return (uint32_t)sg_quotient(home, &net->by_parts);
}

/* Reserves `millicycles` of a resource at `time`; returns the whole cycles of waiting. */
static inline uint64_t occupy(sg_calendar *calendar, uint64_t time, uint64_t millicycles)
{
    uint64_t start = sg_calendar_reserve(calendar, time * 1000, millicycles);
    return start == time * 1000 ? 0 : (start - time * 1000 + 999) / 1000;
}

/* The next socket on the path from one socket to another. */
static uint32_t next_socket(const numa_net *net, uint32_t from, uint32_t to)
{
    if (net->topology == FULL)
        return to;
    if (net->topology == HYPERCUBE)
        return from ^ ((from ^ to) & -(from ^ to));
    uint32_t up = (to + net->sockets - from) % net->sockets;
    return (from + (2 * up <= net->sockets ? 1 : net->sockets - 1)) % net->sockets;
}

/* Sends one message between sockets; returns its arrival. */
static uint64_t cross(numa_net *net, uint32_t from, uint32_t to, uint64_t time, uint64_t millicycles,
                      uint64_t *wait)
{
    while (from != to) {
        uint32_t next = next_socket(net, from, to);
        uint64_t waited = occupy(&net->links[(size_t)from * net->sockets + next], time, millicycles);
        *wait += waited;
        time += waited + net->link;
        from = next;
    }
    return time;
}

/* Is a processor of `socket` in the bitmap? */
static inline int has_copies(const numa_net *net, const sg_request *r, const uint64_t *bits, uint32_t socket)
{
    return sg_any_bit(bits, r->words, socket * net->cores, (socket + 1) * net->cores);
}

/* Occupies bank and channel for a line read or written; returns the cycles of waiting. */
static uint64_t take_channel(numa_net *net, uint32_t home, uint64_t line, uint64_t time, uint64_t millicycles)
{
    uint64_t row = sg_quotient(line, &net->by_channels);
    size_t channel = (size_t)home * net->channels + (line - row * net->channels);
    size_t bank = channel * net->banks + sg_remainder(row, &net->by_banks);
    uint64_t waited = occupy(&net->bank[bank], time, net->bank_busy);
    return waited + occupy(&net->channel[channel], time + waited, millicycles);
}

/* Arrival of a line from the memory of `home`, requested by a processor of node `node`. */
static uint64_t from_memory(numa_net *net, uint32_t home, uint32_t node, uint64_t line, uint64_t time,
                            uint64_t *wait, int *remote)
{
    uint64_t waited = take_channel(net, home, line, time, net->channel_busy);
    *wait += waited;
    int far = home != node && socket_of_home(net, home) == socket_of_home(net, node);
    *remote |= far;
    return time + waited + net->memory + (far ? net->node : 0);
}

/* A memory node's exit: returns the cycles of waiting. */
static inline uint64_t pass_mesh(numa_net *net, uint32_t node, uint64_t time)
{
    return net->mesh_busy == 0 ? 0 : occupy(&net->mesh[node], time, net->mesh_busy);
}

/* Would reading the line wait longer than the memory's latency? */
static int is_busy(const numa_net *net, uint32_t home, uint64_t line, uint64_t time)
{
    const sg_calendar *channel =
        &net->channel[(size_t)home * net->channels + sg_remainder(line, &net->by_channels)];
    return channel->busy[0].end > (time + net->memory) * 1000;
}

/* From a processor's miss to the data in a cache of the same socket. */
static uint64_t own_transfer(const numa_net *net, const sg_request *r)
{
    uint32_t first = (uint32_t)sg_quotient(r->processor, &net->by_group) * net->group;
    int near = r->from == SG_FROM_CACHE ? r->supplier - first < net->group
                                        : sg_any_bit(r->holders, r->words, first, first + net->group);
    return near ? net->group_transfer : net->transfer;
}

/* Arrival of the data of a fetch. */
static uint64_t fetch(numa_net *net, const sg_request *r, uint32_t own, uint64_t time, uint64_t *wait,
                      sg_reply *reply)
{
    uint32_t source = socket_of_home(net, r->home), node = home_of(net, r->processor);
    int cache = 1;
    if (r->from == SG_FROM_HOME && !has_copies(net, r, r->holders, own))
        cache = 0;
    else if (r->from != SG_FROM_CACHE && has_copies(net, r, r->holders, own))
        source = own;
    else
        source = socket_of(net, r->supplier);
    if (source != own)
        time = cross(net, own, source, time, net->link_short, wait);
    int claims = !cache && (r->claim == SG_CLAIM_ONLY ||
                            (r->claim == SG_CLAIM_BUSY && is_busy(net, r->home, r->line, time)));
    uint64_t waited = claims ? 0 : pass_mesh(net, node, time);
    reply->spared = cache || claims;
    *wait += waited;
    time += waited;
    if (claims)
        time += net->snoop;
    else if (!cache)
        time = from_memory(net, r->home, node, r->line, time, wait, &reply->remote);
    else
        time += source != own ? net->remote_transfer : own_transfer(net, r);
    if (source != own) {
        time = cross(net, source, own, time, claims ? net->link_short : net->link_busy, wait);
        reply->remote = 1;
    }
    return time;
}

/* How long caches of `socket` take to invalidate their copies: another group, or another socket, takes longer
 * than the requester's own group by the difference in transfer time. */
static uint64_t give_up(const numa_net *net, const sg_request *r, uint32_t own, uint32_t socket)
{
    uint32_t first = (uint32_t)sg_quotient(r->processor, &net->by_group) * net->group;
    uint32_t begin = socket * net->cores, end = begin + net->cores;
    uint64_t way = net->group_transfer;
    if (socket != own)
        way = net->remote_transfer;
    else if (sg_any_bit(r->targets, r->words, begin, first) ||
             sg_any_bit(r->targets, r->words, first + net->group, end))
        way = net->transfer;
    return net->snoop + (way > net->group_transfer ? way - net->group_transfer : 0);
}

/* When the last copy elsewhere is known to be invalid. */
static uint64_t invalidate(numa_net *net, const sg_request *r, uint32_t own, uint64_t start, uint64_t *wait,
                           int *remote)
{
    uint64_t last = start, last_wait = 0;
    for (uint32_t socket = 0; socket < net->sockets; socket++) {
        int ask =
            r->kind == SG_UPGRADE && socket == socket_of_home(net, r->home); /* the directory must agree */
        int told = r->invalidations != 0 && has_copies(net, r, r->targets, socket);
        if (!ask && !told)
            continue;
        uint64_t branch_wait = 0, time = start;
        if (socket != own) {
            time = cross(net, own, socket, time, net->link_short, &branch_wait);
            *remote = 1;
        }
        time += told ? give_up(net, r, own, socket) : net->snoop;
        if (socket != own)
            time = cross(net, socket, own, time, net->link_short, &branch_wait);
        if (time > last) {
            last = time;
            last_wait = branch_wait;
        }
    }
    *wait = last_wait;
    return last;
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    numa_net *net = state;
    uint32_t own = socket_of(net, r->processor);
    uint64_t line_wait = 0, wait = 0, start = sg_wait_line(r, r->now, &line_wait), end = start;
    reply->remote = 0;
    if (r->kind != SG_UPGRADE && r->from != SG_FROM_OWN_GROUP)
        end = fetch(net, r, own, start, &wait, reply);
    if (r->kind != SG_FETCH_READ || r->invalidations > 0) {
        uint64_t other_wait, gone = invalidate(net, r, own, start, &other_wait, &reply->remote);
        if (gone > end) {
            end = gone;
            wait = other_wait;
        }
        *r->busy = end;
    }
    wait += line_wait;
    reply->contention = wait;
    reply->cycles = end - r->now - wait;
}

static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t home)
{
    numa_net *net = state;
    uint32_t own = socket_of(net, processor);
    uint64_t wait = 0;
    now += pass_mesh(net, home_of(net, processor), now);
    now = cross(net, own, socket_of_home(net, home), now, net->link_busy, &wait);
    take_channel(net, home, line, now, net->channel_write);
}

static uint32_t nodes(const void *state)
{
    const numa_net *net = state;
    return net->sockets * net->parts;
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    return home_of(state, processor);
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const numa_net *net = state;
    for (uint32_t from = 0; from < net->sockets; from++)
        for (uint32_t to = 0; to < net->sockets; to++)
            if (from != to && next_socket(net, from, to) == to)
                sg_usage_tell(&net->links[(size_t)from * net->sockets + to], 1, 1000, SG_USAGE_LINK, visit,
                              context, "link %u>%u", from, to);
    uint32_t nodes = net->sockets * net->parts;
    for (uint32_t node = 0; net->mesh_busy > 0 && node < nodes; node++)
        sg_usage_tell(&net->mesh[node], 1, 1000, SG_USAGE_LINK, visit, context, "mesh %u", node);
    for (uint32_t channel = 0; channel < nodes * net->channels; channel++) {
        sg_usage_tell(&net->channel[channel], 1, 1000, SG_USAGE_MODULE, visit, context, "memory %u.%u",
                      channel / net->channels, channel % net->channels);
        if (net->bank_busy > 0)
            sg_usage_tell(&net->bank[(size_t)channel * net->banks], net->banks, 1000, SG_USAGE_MODULE, visit,
                          context, "banks %u.%u", channel / net->channels, channel % net->channels);
    }
}

const sg_net_ops sg_net_numa = {"numa",     parameters, create,  destroy,   transact,
                                write_back, nodes,      node_of, statistics};

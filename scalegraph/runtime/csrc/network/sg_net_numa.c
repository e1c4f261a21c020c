/* Sockets with their own memory, joined by links (present servers).
 *
 * Links join every pair of sockets, or the sockets in a ring, or those whose numbers differ in one binary
 * digit (a hypercube); a message between sockets that no link joins passes through others, the shorter way
 * round a ring (upwards where both are equal), the lowest differing digit first in a hypercube, and takes a
 * link's time and occupies the link at each hop.
 *
 * Every socket has memory channels, lines interleaved over them, and each channel has banks; a transfer
 * occupies its bank and its channel, and a line
 * that crosses a link occupies that direction of it, at their bandwidths. Occupancy is counted in 1/1000
 * cycle, since a line takes a fraction of one. The directory is at the home; a snoop filter of the
 * socket finds copies in its own caches without asking home.
 *
 * A line comes from a cache of the own socket if one has it, else from a cache of another socket that owns
 * it or keeps it in its shared cache, else from the memory of its home. Invalidations go to all sockets with
 * copies at once; the farthest decides. A line that changes its owner is served to nobody until it has
 * arrived. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_cache.h"
#include "sg_calendar.h"
#include "sg_divisor.h"

typedef struct numa_net {
    uint32_t sockets, cores, channels, banks, topology;
    sg_divisor by_cores, by_channels, by_banks;
    uint64_t memory, transfer, snoop, link;
    uint64_t channel_busy, bank_busy, link_busy, link_short; /* millicycles */
    sg_calendar *channel;                                    /* [sockets][channels] */
    sg_calendar *bank;                                       /* [sockets][channels][banks] */
    sg_calendar *links;                                      /* [from][to] */
    size_t bytes;
} numa_net;

enum { FULL, RING, HYPERCUBE };

static const sg_net_parameter parameters[] = {SG_NUMA_PARAMETERS};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    numa_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    net->sockets = (uint32_t)sg_config_u64(config, "sockets");
    net->cores = (uint32_t)sg_config_u64(config, "socket_processors");
    net->channels = (uint32_t)sg_config_u64(config, "channels");
    net->banks = (uint32_t)sg_config_u64(config, "banks");
    net->by_cores = sg_divisor_of(net->cores);
    net->by_channels = sg_divisor_of(net->channels);
    net->by_banks = sg_divisor_of(net->banks);
    net->topology = (uint32_t)sg_config_u64(config, "topology");
    net->memory = sg_config_u64(config, "memory_cycles");
    net->transfer = sg_config_u64(config, "transfer_cycles");
    net->snoop = sg_config_u64(config, "snoop_cycles");
    net->link = sg_config_u64(config, "link_cycles");
    net->channel_busy = sg_config_u64(config, "channel_line_millicycles");
    net->bank_busy = sg_config_u64(config, "bank_millicycles");
    net->link_busy = sg_config_u64(config, "link_line_millicycles");
    net->link_short = sg_config_u64(config, "link_control_millicycles");
    size_t channels = (size_t)net->sockets * net->channels;
    net->bytes = (channels * (1 + net->banks) + (size_t)net->sockets * net->sockets) * sizeof(sg_calendar);
    const sg_cache_level *last = &config->level[config->levels - 1];
    if (net->sockets * net->cores < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.sockets: expected room for %u processors, got %u sockets of %u",
                 config->max_processors, net->sockets, net->cores);
    else if (last->shared_by > net->cores || net->cores % last->shared_by != 0)
        snprintf(error, error_size,
                 "machine.level.%u.shared_by: expected a divisor of the %u processors of a socket",
                 config->levels - 1, net->cores);
    else if (net->topology == HYPERCUBE && (net->sockets & (net->sockets - 1)) != 0)
        snprintf(error, error_size, "machine.network.sockets: expected a power of two in a hypercube, got %u",
                 net->sockets);
    else if (!(net->channel = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else {
        net->bank = net->channel + channels;
        net->links = net->bank + channels * net->banks;
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

/* Reserves `millicycles` of a resource at `time`; returns the whole cycles to wait. */
static inline uint64_t occupy(sg_calendar *calendar, uint64_t time, uint64_t millicycles)
{
    uint64_t start = sg_calendar_reserve(calendar, time * 1000, millicycles);
    return start == time * 1000 ? 0 : (start - time * 1000 + 999) / 1000;
}

/* The socket behind the next link on the way from one socket to another one. */
static uint32_t next_socket(const numa_net *net, uint32_t from, uint32_t to)
{
    if (net->topology == FULL)
        return to;
    if (net->topology == HYPERCUBE)
        return from ^ ((from ^ to) & -(from ^ to));
    uint32_t up = (to + net->sockets - from) % net->sockets;
    return (from + (2 * up <= net->sockets ? 1 : net->sockets - 1)) % net->sockets;
}

/* One message from one socket to another; returns the time of arrival. */
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

/* Is one of the processors of `socket` in the bitmap? */
static inline int has_copies(const numa_net *net, const sg_request *r, const uint64_t *bits, uint32_t socket)
{
    return sg_any_bit(bits, r->words, socket * net->cores, (socket + 1) * net->cores);
}

static uint64_t from_memory(numa_net *net, uint32_t socket, uint64_t line, uint64_t time, uint64_t *wait)
{
    uint64_t row = sg_quotient(line, &net->by_channels);
    size_t channel = (size_t)socket * net->channels + (line - row * net->channels);
    size_t bank = channel * net->banks + sg_remainder(row, &net->by_banks);
    uint64_t waited = occupy(&net->bank[bank], time, net->bank_busy);
    waited += occupy(&net->channel[channel], time + waited, net->channel_busy);
    *wait += waited;
    return time + waited + net->memory;
}

/* When the data of a fetch is here. */
static uint64_t fetch(numa_net *net, const sg_request *r, uint32_t own, uint64_t time, uint64_t *wait,
                      int *remote)
{
    uint32_t home = r->home, source = home;
    int cache = 1;
    if (r->from == SG_FROM_HOME && !has_copies(net, r, r->holders, own))
        cache = 0;
    else if (r->from != SG_FROM_CACHE && has_copies(net, r, r->holders, own))
        source = own;
    else
        source = socket_of(net, r->supplier);
    if (source != own)
        time = cross(net, own, source, time, net->link_short, wait);
    time = cache ? time + net->transfer : from_memory(net, source, r->line, time, wait);
    if (source != own) {
        time = cross(net, source, own, time, net->link_busy, wait);
        *remote = 1;
    }
    return time;
}

/* When the last copy elsewhere is known to be gone. */
static uint64_t invalidate(numa_net *net, const sg_request *r, uint32_t own, uint64_t start, uint64_t *wait,
                           int *remote)
{
    uint64_t last = start, last_wait = 0;
    for (uint32_t socket = 0; socket < net->sockets; socket++) {
        int ask = r->kind == SG_UPGRADE && socket == r->home; /* the directory must agree */
        if (!ask && (r->invalidations == 0 || !has_copies(net, r, r->targets, socket)))
            continue;
        uint64_t branch_wait = 0, time = start;
        if (socket != own) {
            time = cross(net, own, socket, time, net->link_short, &branch_wait);
            *remote = 1;
        }
        time += net->snoop;
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
        end = fetch(net, r, own, start, &wait, &reply->remote);
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
    now = cross(net, own, home, now, net->link_busy, &wait);
    from_memory(net, home, line, now, &wait);
}

static uint32_t nodes(const void *state)
{
    return ((const numa_net *)state)->sockets;
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    return socket_of(state, processor);
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const numa_net *net = state;
    for (uint32_t from = 0; from < net->sockets; from++)
        for (uint32_t to = 0; to < net->sockets; to++)
            if (from != to && next_socket(net, from, to) == to)
                sg_usage_tell(&net->links[(size_t)from * net->sockets + to], 1, 1000, SG_USAGE_LINK, visit,
                              context, "link %u>%u", from, to);
    for (uint32_t channel = 0; channel < net->sockets * net->channels; channel++) {
        sg_usage_tell(&net->channel[channel], 1, 1000, SG_USAGE_MODULE, visit, context, "memory %u.%u",
                      channel / net->channels, channel % net->channels);
        if (net->bank_busy > 0)
            sg_usage_tell(&net->bank[(size_t)channel * net->banks], net->banks, 1000, SG_USAGE_MODULE, visit,
                          context, "banks %u.%u", channel / net->channels, channel % net->channels);
    }
}

const sg_net_ops sg_net_numa = {"numa",     parameters, create,  destroy,   transact,
                                write_back, nodes,      node_of, statistics};

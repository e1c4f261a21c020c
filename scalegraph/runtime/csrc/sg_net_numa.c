/* Sockets with their own memory, joined by a link between each pair (present servers).
 *
 * Every socket has memory channels, lines interleaved over them; a transfer occupies its channel, and a line
 * that crosses a link occupies that direction of it, at their bandwidths. Occupancy is counted in 1/1000
 * cycle, since a line takes a fraction of one. The directory stands at the home; a snoop filter of the
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

typedef struct numa_net {
    uint32_t sockets, cores, channels;
    int interleave;
    uint64_t memory, transfer, snoop, link;
    uint64_t channel_busy, link_busy, link_short; /* millicycles */
    sg_calendar *channel;                         /* [sockets][channels] */
    sg_calendar *links;                           /* [from][to] */
    size_t bytes;
} numa_net;

static const sg_net_parameter parameters[] = {
    {"sockets", 1, 64},
    {"socket_processors", 1, 4096},
    {"channels", 1, 1024},           /* of one socket's memory */
    {"memory_cycles", 0, 1000000},   /* from the miss of the last cache to data of the own memory */
    {"transfer_cycles", 0, 1000000}, /* ditto from another cache of the own socket */
    {"snoop_cycles", 0, 1000000},    /* to invalidate copies within a socket */
    {"link_cycles", 0, 1000000},     /* one way between two sockets */
    {"channel_line_millicycles", 0, 1000000000}, /* a channel is busy with one line */
    {"link_line_millicycles", 0, 1000000000},    /* a link is busy with a message with a line */
    {"link_control_millicycles", 0, 1000000000}, /* and with one without */
    {NULL, 0, 0},
};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    numa_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    net->sockets = (uint32_t)sg_config_u64(config, "sockets");
    net->cores = (uint32_t)sg_config_u64(config, "socket_processors");
    net->channels = (uint32_t)sg_config_u64(config, "channels");
    net->interleave = config->placement == SG_PLACE_INTERLEAVE;
    net->memory = sg_config_u64(config, "memory_cycles");
    net->transfer = sg_config_u64(config, "transfer_cycles");
    net->snoop = sg_config_u64(config, "snoop_cycles");
    net->link = sg_config_u64(config, "link_cycles");
    net->channel_busy = sg_config_u64(config, "channel_line_millicycles");
    net->link_busy = sg_config_u64(config, "link_line_millicycles");
    net->link_short = sg_config_u64(config, "link_control_millicycles");
    size_t channels = (size_t)net->sockets * net->channels;
    net->bytes = (channels + (size_t)net->sockets * net->sockets) * sizeof(sg_calendar);
    const sg_cache_level *last = &config->level[config->levels - 1];
    if (net->sockets * net->cores < config->max_processors)
        snprintf(error, error_size,
                 "machine.network.sockets: expected room for %u processors, got %u sockets of %u",
                 config->max_processors, net->sockets, net->cores);
    else if (last->shared_by > net->cores || net->cores % last->shared_by != 0)
        snprintf(error, error_size,
                 "machine.level.%u.shared_by: expected a divisor of the %u processors of a socket",
                 config->levels - 1, net->cores);
    else if (!(net->channel = sg_map(net->bytes)))
        snprintf(error, error_size, "the host has no memory for the network");
    else {
        net->links = net->channel + channels;
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

/* Reserves `millicycles` of a resource at `time`; returns the whole cycles to wait. */
static uint64_t occupy(sg_calendar *calendar, uint64_t time, uint64_t millicycles)
{
    uint64_t start = sg_calendar_reserve(calendar, time * 1000, millicycles);
    return (start - time * 1000 + 999) / 1000;
}

/* One message over the link from one socket to another; returns the time of arrival. */
static uint64_t cross(numa_net *net, uint32_t from, uint32_t to, uint64_t time, uint64_t millicycles,
                      uint64_t *wait)
{
    uint64_t waited = occupy(&net->links[(size_t)from * net->sockets + to], time, millicycles);
    *wait += waited;
    return time + waited + net->link;
}

static uint32_t home_socket(const numa_net *net, uint32_t home)
{
    return net->interleave ? home % net->sockets : home / net->cores;
}

/* Are there copies in the private caches of `socket`? */
static int has_copies(const numa_net *net, const sg_request *r, uint32_t socket)
{
    uint32_t end = (socket + 1) * net->cores;
    if (end > r->words * 64)
        end = r->words * 64;
    for (uint32_t p = socket * net->cores; p < end; p++) {
        if ((p & 63) == 0 && end - p >= 64) {
            if (r->sharers[p >> 6])
                return 1;
            p += 63;
        } else if (sg_bit(r->sharers, p)) {
            return 1;
        }
    }
    return 0;
}

static uint64_t from_memory(numa_net *net, uint32_t socket, uint64_t line, uint64_t time, uint64_t *wait)
{
    sg_calendar *channel = &net->channel[(size_t)socket * net->channels + line % net->channels];
    uint64_t waited = occupy(channel, time, net->channel_busy);
    *wait += waited;
    return time + waited + net->memory;
}

/* When the data of a fetch is here. */
static uint64_t fetch(numa_net *net, const sg_request *r, uint32_t own, uint64_t time, uint64_t *wait,
                      int *remote)
{
    uint32_t home = home_socket(net, r->home), source = home;
    int cache = 1;
    if (r->from == SG_FROM_HOME && !has_copies(net, r, own))
        cache = 0;
    else if (r->from != SG_FROM_CACHE && has_copies(net, r, own))
        source = own;
    else
        source = r->supplier / net->cores;
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
    uint32_t home = home_socket(net, r->home);
    uint64_t last = start, last_wait = 0;
    for (uint32_t socket = 0; socket < net->sockets; socket++) {
        int ask = r->kind == SG_UPGRADE && socket == home; /* the directory must agree */
        if (!ask && !has_copies(net, r, socket))
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
    uint32_t own = r->processor / net->cores;
    uint64_t line_wait = 0, wait = 0, start = sg_wait_line(r, r->now, &line_wait), end = start;
    reply->remote = 0;
    if (r->kind != SG_UPGRADE && r->from != SG_FROM_OWN_GROUP)
        end = fetch(net, r, own, start, &wait, &reply->remote);
    if (r->kind != SG_FETCH_READ) {
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

static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t page_home)
{
    numa_net *net = state;
    uint32_t own = processor / net->cores, home = home_socket(net, page_home);
    uint64_t wait = 0;
    if (home != own)
        now = cross(net, own, home, now, net->link_busy, &wait);
    from_memory(net, home, line, now, &wait);
}

const sg_net_ops sg_net_numa = {"numa", parameters, create, destroy, transact, write_back};

/* The memory of one node without an internal network: modules with interleaved lines, and caches that
 * communicate with no delay but their own. Nothing is remote.
 *
 * A miss takes `memory_cycles`, of which a module is busy for `memory_busy_cycles`; a line from another
 * cache of the node takes `transfer_cycles`; invalidations take `snoop_cycles`, all at the same time. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_divisor.h"

typedef struct local_net {
    uint32_t modules;
    sg_divisor by_modules;
    uint64_t memory, busy, transfer, snoop;
    sg_calendar module[]; /* [modules] */
} local_net;

static const sg_net_parameter parameters[] = {SG_LOCAL_PARAMETERS};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    uint32_t modules = (uint32_t)sg_config_u64(config, "modules");
    local_net *net = calloc(1, sizeof *net + modules * sizeof(sg_calendar));
    if (!net) {
        snprintf(error, error_size, "the host has no memory for the network");
        return NULL;
    }
    net->modules = modules;
    net->by_modules = sg_divisor_of(modules);
    net->memory = sg_config_u64(config, "memory_cycles");
    net->busy = sg_config_u64(config, "memory_busy_cycles");
    net->transfer = sg_config_u64(config, "transfer_cycles");
    net->snoop = sg_config_u64(config, "snoop_cycles");
    return net;
}

static uint64_t take(local_net *net, uint64_t line, uint64_t time, uint64_t *wait)
{
    uint64_t start = sg_calendar_reserve(&net->module[sg_remainder(line, &net->by_modules)], time, net->busy);
    *wait += start - time;
    return start;
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    local_net *net = state;
    uint64_t line_wait = 0, wait = 0, nobody_waits = 0;
    uint64_t start = sg_wait_line(r, r->now, &line_wait), end = start;
    if (r->kind != SG_UPGRADE && r->from == SG_FROM_HOME)
        end = take(net, r->line, start, &wait) + net->memory;
    else if (r->kind != SG_UPGRADE && r->from != SG_FROM_OWN_GROUP)
        end = start + net->transfer;
    if (r->from == SG_FROM_CACHE && r->dirty && !r->keeps && r->kind == SG_FETCH_READ)
        take(net, r->line, end, &nobody_waits);
    int tells =
        r->kind == SG_UPGRADE || r->invalidations > 0 || (r->kind == SG_FETCH_WRITE && r->groups != 0);
    if (tells && start + net->snoop > end) {
        end = start + net->snoop;
        wait = 0; /* for the module: the data arrived earlier */
    }
    if (r->kind != SG_FETCH_READ || r->from == SG_FROM_CACHE)
        *r->busy = end;
    reply->remote = 0;
    reply->contention = line_wait + wait;
    reply->cycles = end - r->now - reply->contention;
}

static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t home)
{
    uint64_t nobody_waits = 0;
    (void)processor, (void)home;
    take(state, line, now, &nobody_waits);
}

static uint32_t nodes(const void *state)
{
    (void)state;
    return 1;
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    (void)state, (void)processor;
    return 0;
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const local_net *net = state;
    for (uint32_t i = 0; i < net->modules; i++)
        sg_usage_tell(&net->module[i], 1, 1, SG_USAGE_MODULE, visit, context, "memory %u", i);
}

const sg_net_ops sg_net_local = {"local",    parameters, create,  free,      transact,
                                 write_back, nodes,      node_of, statistics};

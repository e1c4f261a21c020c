/* A single snooping bus (bus-based multiprocessors).
 *
 * Every coherence transaction arbitrates for the bus, sends its address and waits for the snoop responses
 * of all caches. Copies are invalidated as the address passes, so invalidating thirty costs as much as
 * one. Data come from a memory module, or from the cache with the dirty copy; memory picks up that line as
 * it passes (unless the cache keeps it, with MOESI).
 *
 * On an atomic bus a transaction holds the bus until its data have been transferred. A split-transaction
 * bus has an address part and a data part, both free while a module looks up a line; its modules are busy
 * independently, with lines interleaved over them.
 *
 * Time is counted in 1/1000 processor cycle, since a bus cycle need not be a whole number of cycles; a
 * transaction's total is rounded to whole cycles. Simplified: no limit on outstanding transactions of a
 * split bus, and a request does not wait for the next edge of the bus clock. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_divisor.h"
#include "sg_huge.h"

typedef struct bus_net {
    uint32_t split, modules;
    sg_divisor by_modules;
    uint64_t arbitration, address, snoop, data; /* millicycles */
    uint64_t memory, memory_busy, supply;
    sg_calendar *bus; /* [0] addresses, or everything; [1] data of a split bus */
    sg_calendar *module;
    size_t bytes;
} bus_net;

static const sg_net_parameter parameters[] = {SG_BUS_PARAMETERS};

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    uint64_t room = sg_config_u64(config, "bus_processors");
    if (room < config->max_processors) {
        snprintf(error, error_size,
                 "machine.network.bus_processors: expected room for %u processors, got %llu",
                 config->max_processors, (unsigned long long)room);
        return NULL;
    }
    bus_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    net->split = (uint32_t)sg_config_u64(config, "split");
    net->modules = (uint32_t)sg_config_u64(config, "modules");
    net->by_modules = sg_divisor_of(net->modules);
    net->arbitration = sg_config_u64(config, "arbitration_millicycles");
    net->address = sg_config_u64(config, "address_millicycles");
    net->snoop = sg_config_u64(config, "snoop_millicycles");
    net->data = sg_config_u64(config, "data_millicycles");
    net->memory = sg_config_u64(config, "memory_millicycles");
    net->memory_busy = sg_config_u64(config, "memory_busy_millicycles");
    net->supply = sg_config_u64(config, "supply_millicycles");
    net->bytes = (2 + (size_t)net->modules) * sizeof(sg_calendar);
    net->bus = sg_map(net->bytes);
    if (!net->bus) {
        snprintf(error, error_size, "the host has no memory for the network");
        free(net);
        return NULL;
    }
    net->module = net->bus + 2;
    return net;
}

static void destroy(void *state)
{
    bus_net *net = state;
    sg_unmap(net->bus, net->bytes);
    free(net);
}

/* Reserves a resource; returns the start. */
static uint64_t take(sg_calendar *resource, uint64_t time, uint64_t length, uint64_t *wait)
{
    uint64_t start = sg_calendar_reserve(resource, time, length);
    *wait += start - time;
    return start;
}

static sg_calendar *module_of(const bus_net *net, uint64_t line)
{
    return &net->module[sg_remainder(line, &net->by_modules)];
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A transaction that holds the bus; the modules are free whenever the bus is. */
static uint64_t atomic_transaction(bus_net *net, const sg_request *r, uint64_t time, uint64_t *wait)
{
    uint64_t length = net->address + net->snoop;
    if (r->kind != SG_UPGRADE) {
        int cache = r->from == SG_FROM_CACHE && r->dirty;
        length = cache ? length + net->supply : later(length, net->address + net->memory);
        length += net->data;
    }
    return take(&net->bus[0], time, length, wait) + length;
}

static uint64_t split_transaction(bus_net *net, const sg_request *r, uint64_t time, uint64_t *wait)
{
    uint64_t sent = take(&net->bus[0], time, net->address, wait) + net->address;
    uint64_t ready = sent + net->snoop;
    if (r->kind == SG_UPGRADE)
        return ready;
    if (r->from == SG_FROM_CACHE && r->dirty) {
        ready += net->supply;
    } else {
        /* Only the time by which contention makes the module later than the snoop responses counts as
         * waiting. */
        uint64_t unloaded = later(ready, sent + net->memory), none = 0;
        ready = later(ready, take(module_of(net, r->line), sent, net->memory_busy, &none) + net->memory);
        *wait += ready - unloaded;
    }
    uint64_t end = take(&net->bus[1], ready, net->data, wait) + net->data, nobody_waits = 0;
    if (r->from == SG_FROM_CACHE && r->dirty && !r->keeps && r->kind == SG_FETCH_READ)
        take(module_of(net, r->line), end, net->memory_busy, &nobody_waits);
    return end;
}

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    bus_net *net = state;
    uint64_t line_wait = 0, wait = 0, start = sg_wait_line(r, r->now, &line_wait);
    uint64_t time = start * 1000 + net->arbitration;
    time = net->split ? split_transaction(net, r, time, &wait) : atomic_transaction(net, r, time, &wait);
    uint64_t end = (time + 999) / 1000;
    if (r->kind != SG_FETCH_READ || r->from == SG_FROM_CACHE)
        *r->busy = end;
    reply->remote = 1;
    reply->contention = line_wait + wait / 1000;
    reply->cycles = end - r->now - reply->contention;
}

static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t home)
{
    bus_net *net = state;
    uint64_t wait = 0, time = now * 1000 + net->arbitration;
    (void)processor;
    (void)home;
    if (!net->split) {
        take(&net->bus[0], time, net->address + later(net->data, net->memory_busy), &wait);
        return;
    }
    time = take(&net->bus[0], time, net->address, &wait) + net->address;
    time = take(&net->bus[1], time, net->data, &wait) + net->data;
    take(module_of(net, line), time, net->memory_busy, &wait);
}

/* All memory is equally far. */
static uint32_t nodes(const void *state)
{
    (void)state;
    return 1;
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    (void)state;
    (void)processor;
    return 0;
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const bus_net *net = state;
    sg_usage_tell(&net->bus[0], 1, 1000, SG_USAGE_LINK, visit, context, "%s",
                  net->split ? "address bus" : "bus");
    if (!net->split)
        return; /* an atomic bus never waits for its modules */
    sg_usage_tell(&net->bus[1], 1, 1000, SG_USAGE_LINK, visit, context, "data bus");
    for (uint32_t i = 0; i < net->modules; i++)
        sg_usage_tell(&net->module[i], 1, 1000, SG_USAGE_MODULE, visit, context, "memory %u", i);
}

const sg_net_ops sg_net_bus = {"bus",      parameters, create,  destroy,   transact,
                               write_back, nodes,      node_of, statistics};

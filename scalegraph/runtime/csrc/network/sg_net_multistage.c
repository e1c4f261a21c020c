/* Multistage interconnection network (omega) between processors and interleaved memory modules, with a
 * full-map directory at each line's home module (Cerberus, after the BBN TC2000).
 *
 * Two networks of log_k(ports) stages of k x k switches: one carries messages from processors to modules,
 * the other back. The first flit takes switch_cycles per stage, the rest follow in a pipeline; a switch's
 * output port is busy until all flits of a message have passed, and so is the port into the network. A
 * module serves one request at a time: memory_cycles with data, directory_cycles without.
 *
 * Read of a dirty line: home asks the owner, the owner sends the line home, home answers; an owner that
 * keeps the dirty line sends it through home, but not into its memory. Write: home sends an invalidation
 * to every sharer, one after the other through its port, and answers when all have acknowledged; until
 * then other requests for the line wait at home. Module m is next to processor m, but reaching it still
 * takes the network.
 *
 * With circuits, as in the TC2000's switch, a request opens a path to the module that stays open until the
 * reply has come back on it: no port on the path serves others meanwhile, whatever the module waits for. A
 * request that finds a port taken is rejected and retried every retry_cycles. Home's requests to caches
 * use circuits of their own. */
#include "sg_net.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_calendar.h"
#include "sg_divisor.h"
#include "sg_huge.h"

typedef struct multistage_net {
    uint32_t radix, stages, ports;
    sg_divisor by_ports;
    uint64_t switch_cycles, memory, directory, snoop;
    uint64_t retry;                   /* between two attempts to open a circuit; 0: packet switching */
    uint64_t short_flits, long_flits; /* of a message without and with a line */
    sg_calendar *forth, *back;        /* [stages + 1][ports]: 0 = port into the network */
    sg_calendar *module;
    /* [port][stages]: the line number after a stage is the sum of these two. */
    uint32_t *line_of_source, *line_of_destination;
    size_t bytes;
} multistage_net;

static const sg_net_parameter parameters[] = {SG_MULTISTAGE_PARAMETERS};

/* In an omega network, after stage i, a message's line number consists of the last digits of the source
 * followed by the first i digits of the destination. */
static void find_lines(multistage_net *net)
{
    for (uint32_t port = 0; port < net->ports; port++) {
        uint32_t *source = net->line_of_source + (size_t)port * net->stages;
        uint32_t *destination = net->line_of_destination + (size_t)port * net->stages;
        uint32_t behind = net->ports, chosen = 1; /* ports still reachable after a stage; those before them */
        for (uint32_t stage = 0; stage < net->stages; stage++) {
            behind /= net->radix;
            chosen *= net->radix;
            source[stage] = port % behind * chosen;
            destination[stage] = port / behind;
        }
    }
}

static void *create(const sg_config *config, char *error, unsigned error_size)
{
    multistage_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    uint64_t least = sg_config_u64(config, "least_ports");
    uint64_t flit = sg_config_u64(config, "flit_bytes"), header = sg_config_u64(config, "header_bytes");
    if (config->processors > least)
        least = config->processors;
    net->radix = (uint32_t)sg_config_u64(config, "radix");
    for (net->ports = 1; net->ports < least; net->stages++)
        net->ports *= net->radix;
    net->by_ports = sg_divisor_of(net->ports);
    net->switch_cycles = sg_config_u64(config, "switch_cycles");
    net->memory = sg_config_u64(config, "memory_cycles");
    net->directory = sg_config_u64(config, "directory_cycles");
    net->snoop = sg_config_u64(config, "snoop_cycles");
    net->retry = sg_config_u64(config, "retry_cycles");
    net->short_flits = (header + flit - 1) / flit;
    net->long_flits = (header + config->coherence_line_bytes + flit - 1) / flit;
    size_t path = (size_t)(net->stages + 1) * net->ports;
    size_t lines = (size_t)net->stages * net->ports;
    net->bytes = (2 * path + net->ports) * sizeof(sg_calendar) + 2 * lines * sizeof(uint32_t);
    net->forth = sg_map(net->bytes);
    if (!net->forth) {
        snprintf(error, error_size, "the host has no memory for the network");
        free(net);
        return NULL;
    }
    net->back = net->forth + path;
    net->module = net->back + path;
    net->line_of_source = (uint32_t *)(net->module + net->ports);
    net->line_of_destination = net->line_of_source + lines;
    find_lines(net);
    return net;
}

static void destroy(void *state)
{
    multistage_net *net = state;
    sg_unmap(net->forth, net->bytes);
    free(net);
}

/* Sends `flits` from port `from` to port `to` through one of the two networks at `time`; returns when the
 * last flit has arrived. */
static uint64_t send(multistage_net *net, sg_calendar *network, uint32_t from, uint32_t to, uint64_t time,
                     uint64_t flits, uint64_t *wait)
{
    uint64_t start = sg_calendar_reserve(&network[from], time, flits);
    const uint32_t *source = net->line_of_source + (size_t)from * net->stages;
    const uint32_t *destination = net->line_of_destination + (size_t)to * net->stages;
    uint64_t waited = start - time, ports = net->ports, switched = net->switch_cycles;
    time = start;
    for (const uint32_t *end = source + net->stages; source != end; source++, destination++) {
        network += ports;
        time += switched;
        start = sg_calendar_reserve(&network[*source + *destination], time, flits);
        waited += start - time;
        time = start;
    }
    *wait += waited;
    return time + flits;
}

static uint64_t serve(multistage_net *net, uint32_t module, uint64_t time, uint64_t cycles, uint64_t *wait)
{
    uint64_t start = sg_calendar_reserve(&net->module[module], time, cycles);
    *wait += start - time;
    return start + cycles;
}

static uint32_t home_module(const multistage_net *net, uint64_t line)
{
    return (uint32_t)sg_remainder(line, &net->by_ports);
}

/* The home asks every sharer to drop its copy; returns when the last acknowledgement has arrived. */
static uint64_t invalidate(multistage_net *net, const sg_request *r, uint32_t home, uint64_t time,
                           uint64_t *wait)
{
    uint64_t last = time, last_wait = *wait;
    for (uint32_t q = 0; sg_next_target(r, &q); q++) {
        uint64_t branch_wait = *wait;
        uint64_t arrival = send(net, net->back, home, q, time, net->short_flits, &branch_wait) + net->snoop;
        arrival = send(net, net->forth, q, home, arrival, net->short_flits, &branch_wait);
        if (arrival > last) {
            last = arrival;
            last_wait = branch_wait;
        }
    }
    *wait = last_wait;
    return last;
}

/* ---- circuits ---- */

#define MAX_PORTS 18u /* per path: 16 stages of 2 x 2 switches reach 65,536 ports */
#define MAX_PLANS 16u

typedef struct circuit {
    uint32_t ports;
    sg_calendar *port[MAX_PORTS];
} circuit;

static circuit path_of(const multistage_net *net, sg_calendar *network, uint32_t from, uint32_t to)
{
    circuit c = {.ports = net->stages + 1, .port = {&network[from]}};
    const uint32_t *source = net->line_of_source + (size_t)from * net->stages;
    const uint32_t *destination = net->line_of_destination + (size_t)to * net->stages;
    for (uint32_t stage = 0; stage < net->stages; stage++)
        c.port[stage + 1] = &network[(stage + 1ull) * net->ports + source[stage] + destination[stage]];
    return c;
}

/* When a request first made at `time` finds all ports of its path free for `length` cycles. */
static uint64_t accepted(const multistage_net *net, const circuit *c, uint64_t time, uint64_t length)
{
    while (1) {
        uint64_t free = time;
        for (uint32_t i = 0; i < c->ports; i++) {
            uint32_t place;
            uint64_t found = sg_calendar_find(c->port[i], time, length, &place);
            free = found > free ? found : free;
        }
        if (free == time)
            return time;
        time += (free - time + net->retry - 1) / net->retry * net->retry;
    }
}

static void take(const circuit *c, uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < c->ports; i++)
        sg_calendar_reserve(c->port[i], start, end - start);
}

/* The course of a request on its circuit: planned, or (`real`) carried out and entered in the calendars. */
typedef struct course {
    multistage_net *net;
    int real;
    uint64_t time, wait;
} course;

static void at_module(course *c, uint32_t module, uint64_t cycles)
{
    uint32_t place;
    uint64_t start = sg_calendar_find(&c->net->module[module], c->time, cycles, &place);
    if (c->real)
        sg_calendar_take(&c->net->module[module], start, cycles, place, start - c->time);
    c->wait += start - c->time;
    c->time = start + cycles;
}

/* Home asks the cache of processor q, on a circuit of the other network, and waits for the answer. */
static void ask(course *c, uint32_t home, uint32_t q, uint64_t answer)
{
    const multistage_net *net = c->net;
    uint64_t length = 2 * net->stages * net->switch_cycles + net->short_flits + net->snoop + answer;
    circuit path = path_of(net, net->back, home, q);
    uint64_t start = accepted(net, &path, c->time, length);
    if (c->real)
        take(&path, start, start + length);
    c->wait += start - c->time;
    c->time = start + length;
}

/* From opening the circuit until the last flit of the reply is back. */
static void follow(course *c, const sg_request *r, uint32_t home)
{
    const multistage_net *net = c->net;
    uint64_t one_way = net->stages * net->switch_cycles;
    c->time = sg_wait_line(r, c->time + one_way + net->short_flits, &c->wait);
    if (r->from == SG_FROM_CACHE && r->kind != SG_UPGRADE) {
        at_module(c, home, net->directory);
        ask(c, home, r->supplier, r->dirty ? net->long_flits : net->short_flits);
        at_module(c, home, r->keeps ? net->directory : net->memory);
    } else {
        at_module(c, home, r->kind == SG_UPGRADE ? net->directory : net->memory);
    }
    for (uint32_t q = 0; sg_next_target(r, &q); q++)
        ask(c, home, q, net->short_flits);
    if (c->real && (r->kind != SG_FETCH_READ || r->from == SG_FROM_CACHE || r->invalidations > 0))
        *r->busy = c->time;
    c->time += one_way + (r->kind == SG_UPGRADE ? net->short_flits : net->long_flits);
}

/* A circuit that lasts longer than planned may collide with a later one: it is planned again with that
 * length, in the worst case behind all others. */
static void transact_on_circuit(multistage_net *net, const sg_request *r, sg_reply *reply)
{
    uint32_t home = home_module(net, r->line);
    circuit path = path_of(net, net->forth, r->processor, home);
    uint64_t start = r->now, length = 1;
    for (uint32_t plans = 0;; plans++) {
        start = accepted(net, &path, r->now, plans < MAX_PLANS ? length : UINT64_MAX / 4);
        course plan = {net, 0, start, 0};
        follow(&plan, r, home);
        if (plan.time - start <= length || plans == MAX_PLANS)
            break;
        length = plan.time - start;
    }
    course done = {net, 1, start, start - r->now};
    follow(&done, r, home);
    take(&path, start, done.time);
    reply->remote = 1;
    reply->contention = done.wait;
    reply->cycles = done.time - r->now - done.wait;
}

/* Nobody waits for the line being written to memory. */
static void write_back_on_circuit(multistage_net *net, uint64_t now, uint32_t processor, uint32_t home)
{
    circuit path = path_of(net, net->forth, processor, home);
    uint64_t length = net->stages * net->switch_cycles + net->long_flits + net->memory;
    uint64_t start = accepted(net, &path, now, length);
    course done = {net, 1, start + length - net->memory, 0};
    at_module(&done, home, net->memory);
    take(&path, start, start + length);
}

/* ---- operations for the memory system ---- */

static void transact(void *state, const sg_request *r, sg_reply *reply)
{
    multistage_net *net = state;
    if (net->retry > 0) {
        transact_on_circuit(net, r, reply);
        return;
    }
    uint32_t home = home_module(net, r->line);
    uint64_t wait = 0, flits = r->kind == SG_UPGRADE ? net->short_flits : net->long_flits;
    uint64_t time = send(net, net->forth, r->processor, home, r->now, net->short_flits, &wait);
    time = sg_wait_line(r, time, &wait);
    if (r->from == SG_FROM_CACHE && r->kind != SG_UPGRADE) {
        time = serve(net, home, time, net->directory, &wait);
        time = send(net, net->back, home, r->supplier, time, net->short_flits, &wait) + net->snoop;
        uint64_t answer = r->dirty ? net->long_flits : net->short_flits;
        time = send(net, net->forth, r->supplier, home, time, answer, &wait);
        time = serve(net, home, time, r->keeps ? net->directory : net->memory, &wait);
    } else {
        time = serve(net, home, time, r->kind == SG_UPGRADE ? net->directory : net->memory, &wait);
    }
    time = invalidate(net, r, home, time, &wait);
    if (r->kind != SG_FETCH_READ || r->from == SG_FROM_CACHE || r->invalidations > 0)
        *r->busy = time;
    time = send(net, net->back, home, r->processor, time, flits, &wait);
    reply->remote = 1;
    reply->contention = wait;
    reply->cycles = time - r->now - wait;
}

static void write_back(void *state, uint64_t now, uint32_t processor, uint64_t line, uint32_t page_home)
{
    multistage_net *net = state;
    uint32_t home = home_module(net, line);
    uint64_t wait = 0;
    (void)page_home;
    if (net->retry > 0) {
        write_back_on_circuit(net, now, processor, home);
        return;
    }
    uint64_t time = send(net, net->forth, processor, home, now, net->long_flits, &wait);
    serve(net, home, time, net->memory, &wait);
}

/* Lines are interleaved over all modules, whatever their page. */
static uint32_t nodes(const void *state)
{
    return ((const multistage_net *)state)->ports;
}

static uint32_t node_of(const void *state, uint32_t processor)
{
    return processor % ((const multistage_net *)state)->ports;
}

static void statistics(const void *state, sg_usage_visit *visit, void *context)
{
    const multistage_net *net = state;
    static const char *const way[] = {"forth", "back"};
    for (int back = 0; back < 2; back++)
        for (uint32_t stage = 0; stage <= net->stages; stage++)
            for (uint32_t port = 0; port < net->ports; port++)
                sg_usage_tell((back ? net->back : net->forth) + (size_t)stage * net->ports + port, 1, 1,
                              SG_USAGE_LINK, visit, context, "%s %u.%u", way[back], stage, port);
    for (uint32_t port = 0; port < net->ports; port++)
        sg_usage_tell(&net->module[port], 1, 1, SG_USAGE_MODULE, visit, context, "memory %u", port);
}

const sg_net_ops sg_net_multistage = {"multistage", parameters, create,  destroy,   transact,
                                      write_back,   nodes,      node_of, statistics};

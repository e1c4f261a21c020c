/* Dragonfly: groups of fully connected routers, and a link between every two groups.
 *
 * Router r of a group has the group's global links from number r * global_links on; the link to the group
 * d places further round is number d - 1. `minimal`: to the router with the link, across it, to the
 * receiver's router. `valiant`: first to another group, chosen at random but reproducibly, so that one
 * link between two groups does not carry all of their traffic (Valiant and Brebner 1981, Kim and others
 * 2008). */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

enum routing { MINIMAL, VALIANT }; /* as scalegraph.machine.interconnects.dragonfly names them */

typedef struct dragonfly {
    enum routing routing;
    uint32_t groups, routers, nodes,
        global; /* per group: routers; per router: nodes and links to other groups */
    uint32_t local_first,
        global_first; /* first link numbers; before them: a link to and one from each node */
    uint64_t random;
    sg_link between; /* between groups */
} dragonfly;

static const sg_net_parameter parameters[] = {SG_WIRE_DRAGONFLY_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    dragonfly *d = malloc(sizeof *d);
    if (!d)
        return NULL;
    d->routing = (enum routing)sg_config_wire(config, "routing");
    d->groups = (uint32_t)sg_config_wire(config, "groups");
    d->routers = (uint32_t)sg_config_wire(config, "group_routers");
    d->nodes = (uint32_t)sg_config_wire(config, "router_nodes");
    d->global = (uint32_t)sg_config_wire(config, "global_links");
    d->between = (sg_link){.byte = sg_config_wire(config, "global_byte_microcycles"),
                           .hop = sg_config_wire(config, "global_hop_millicycles")};
    d->random = 0x9e3779b97f4a7c15ull;
    *nodes = (uint64_t)d->groups * d->routers * d->nodes;
    d->local_first = 2 * (uint32_t)*nodes;
    d->global_first = d->local_first + d->groups * d->routers * d->routers;
    *links = d->global_first + (uint64_t)d->groups * d->groups;
    return d;
}

static void within(const dragonfly *d, uint32_t group, uint32_t from, uint32_t to, sg_route *route)
{
    if (from != to)
        sg_route_add(route, (uint64_t)d->local_first + (group * d->routers + from) * d->routers + to);
}

/* The router of `group` with the link to `other`. */
static uint32_t gateway(const dragonfly *d, uint32_t group, uint32_t other)
{
    return (other + d->groups - group - 1) % d->groups / d->global;
}

/* From router `router` of `group` to `other`; returns the router at which the message enters. */
static uint32_t cross(const dragonfly *d, uint32_t group, uint32_t router, uint32_t other, sg_route *route)
{
    within(d, group, router, gateway(d, group, other), route);
    sg_route_add(route, (uint64_t)d->global_first + (uint64_t)group * d->groups + other);
    return gateway(d, other, group);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    dragonfly *d = shape;
    uint32_t router = from / d->nodes % d->routers, group = from / d->nodes / d->routers;
    uint32_t last = to / d->nodes % d->routers, other = to / d->nodes / d->routers;
    (void)wire, (void)now;
    sg_route_add(route, 2ull * from);
    if (group != other && d->routing == VALIANT && d->groups > 2) {
        uint32_t low = group < other ? group : other, high = group < other ? other : group;
        uint32_t by = (uint32_t)(next_random(&d->random) % (d->groups - 2));
        by += by >= low;
        by += by >= high;
        router = cross(d, group, router, by, route);
        group = by;
    }
    if (group != other)
        router = cross(d, group, router, other, route);
    within(d, other, router, last, route);
    sg_route_add(route, 2ull * to + 1);
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    const dragonfly *d = shape;
    if (link < d->local_first) {
        snprintf(text, size, "%s node %u", link % 2 ? "to" : "from", link / 2);
    } else if (link < d->global_first) {
        link -= d->local_first;
        uint32_t router = link / d->routers;
        snprintf(text, size, "router %u.%u>%u", router / d->routers, router % d->routers, link % d->routers);
    } else {
        link -= d->global_first;
        snprintf(text, size, "group %u>%u", link / d->groups, link % d->groups);
    }
}

static void describe(const void *shape, uint32_t link, sg_link *is)
{
    const dragonfly *d = shape;
    if (link >= d->global_first)
        *is = d->between;
}

const sg_topology sg_wire_dragonfly = {"dragonfly", parameters, create, route, name_link, describe};

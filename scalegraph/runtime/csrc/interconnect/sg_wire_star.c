/* Star of switches: nodes on the ports of edge switches, which links join to a central switch. If there are
 * several such links, the receiver's number decides. With a single edge switch there is no central one. */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct star {
    uint32_t each, switches, uplinks; /* nodes per switch, switches, links from a switch to the centre */
    uint32_t nodes;
    sg_link uplink;
} star;

static const sg_net_parameter parameters[] = {SG_WIRE_STAR_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    star *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    s->each = (uint32_t)sg_config_wire(config, "switch_nodes");
    s->switches = (uint32_t)sg_config_wire(config, "switches");
    s->uplinks = (uint32_t)sg_config_wire(config, "uplinks");
    s->nodes = s->each * s->switches;
    s->uplink = (sg_link){.byte = sg_config_wire(config, "uplink_byte_microcycles"),
                          .hop = sg_config_wire(config, "hop_millicycles")};
    *nodes = s->nodes;
    *links = 2 * ((uint64_t)s->nodes + (uint64_t)s->switches * s->uplinks);
    return s;
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    const star *s = shape;
    uint32_t a = from / s->each, b = to / s->each, which = to % s->uplinks, first = 2 * s->nodes;
    (void)wire, (void)now;
    sg_route_add(route, 2ull * from);
    if (a != b) {
        sg_route_add(route, first + 2ull * (a * s->uplinks + which));
        sg_route_add(route, first + 2ull * (b * s->uplinks + which) + 1);
    }
    sg_route_add(route, 2ull * to + 1);
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    const star *s = shape;
    const char *way = link % 2 ? "to" : "from";
    uint32_t number = link / 2;
    if (number < s->nodes)
        snprintf(text, size, "%s node %u", way, number);
    else
        snprintf(text, size, "%s switch %u.%u", way, (number - s->nodes) / s->uplinks,
                 (number - s->nodes) % s->uplinks);
}

static void describe(const void *shape, uint32_t link, sg_link *is)
{
    const star *s = shape;
    if (link >= 2 * s->nodes)
        *is = s->uplink;
}

const sg_topology sg_wire_star = {"star", parameters, create, route, name_link, describe};

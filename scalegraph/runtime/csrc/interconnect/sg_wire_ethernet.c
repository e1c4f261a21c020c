/* Shared Ethernet: one cable for all nodes, one frame at a time (carrier sense, collision detection).
 *
 * A message that finds the cable busy has rivals when it becomes free: each of its frames then costs the
 * mean number of slots lost to collisions, (1 - A) / A with A = (1 - 1/Q)^(Q - 1) for Q stations that want
 * to send: one slot for two (Metcalfe and Boggs 1976). More than two at a time are treated as pairs. */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct ethernet {
    uint64_t slot; /* in thousandths of a cycle */
} ethernet;

static const sg_net_parameter parameters[] = {SG_WIRE_ETHERNET_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    ethernet *e = malloc(sizeof *e);
    if (!e)
        return NULL;
    e->slot = sg_config_wire(config, "slot_millicycles");
    *nodes = sg_config_wire(config, "stations");
    *links = 1;
    return e;
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    (void)shape, (void)wire, (void)from, (void)to, (void)now;
    sg_route_add(route, 0);
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    (void)shape, (void)link;
    snprintf(text, size, "cable");
}

static void describe(const void *shape, uint32_t link, sg_link *is)
{
    (void)link;
    is->collision = ((const ethernet *)shape)->slot;
}

const sg_topology sg_wire_ethernet = {"ethernet", parameters, create, route, name_link, describe};

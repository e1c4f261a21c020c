/* Crossbar: one switch with a port per node; messages wait for each other only at the receiver's port. */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

static const sg_net_parameter parameters[] = {SG_WIRE_CROSSBAR_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    *nodes = *links = sg_config_wire(config, "ports");
    return malloc(1); /* no state */
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    (void)shape, (void)wire, (void)from, (void)now;
    sg_route_add(route, to);
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    (void)shape;
    snprintf(text, size, "port %u", link);
}

const sg_topology sg_wire_crossbar = {"crossbar", parameters, create, route, name_link, NULL};

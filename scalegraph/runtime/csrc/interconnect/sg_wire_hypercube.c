/* Hypercube: a link in each direction between every two nodes whose numbers differ in one binary digit.
 *
 * e-cube routing: differing digits are corrected from the lowest up, which prevents deadlock. Link node *
 * dimension + digit leaves `node`. */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

static const sg_net_parameter parameters[] = {SG_WIRE_HYPERCUBE_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    uint32_t *dimension = malloc(sizeof *dimension);
    if (!dimension)
        return NULL;
    *dimension = (uint32_t)sg_config_wire(config, "dimension");
    *nodes = 1ull << *dimension;
    *links = *nodes * *dimension;
    return dimension;
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    uint32_t dimension = *(const uint32_t *)shape;
    (void)wire, (void)now;
    while (from != to) {
        uint32_t digit = (uint32_t)__builtin_ctz(from ^ to);
        sg_route_add(route, (uint64_t)from * dimension + digit);
        from ^= 1u << digit;
    }
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    uint32_t dimension = *(const uint32_t *)shape, node = link / dimension;
    snprintf(text, size, "link %u>%u", node, node ^ 1u << link % dimension);
}

const sg_topology sg_wire_hypercube = {"hypercube", parameters, create, route, name_link, NULL};

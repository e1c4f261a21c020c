/* X-net and global router of a SIMD machine: processing elements in a closed grid with wires to eight
 * neighbours, and besides a router with one channel for each square cluster of them, for what is farther than
 * `reach` steps. */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

enum { WAYS = 8 };

typedef struct xnet {
    uint32_t rows, columns, reach, cluster;
    uint32_t clusters_a_row, router_first;
    sg_link router;
} xnet;

static const sg_net_parameter parameters[] = {SG_WIRE_XNET_PARAMETERS};
static const char *const ways[WAYS] = {"e", "se", "s", "sw", "w", "nw", "n", "ne"};
/* By (step down + 1) * 3 + step right + 1. */
static const uint8_t way_of[] = {5, 6, 7, 4, 0, 0, 3, 2, 1};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    xnet *x = malloc(sizeof *x);
    if (!x)
        return NULL;
    x->rows = (uint32_t)sg_config_wire(config, "rows");
    x->columns = (uint32_t)sg_config_wire(config, "columns");
    x->reach = (uint32_t)sg_config_wire(config, "reach");
    x->cluster = (uint32_t)sg_config_wire(config, "cluster_side");
    x->router = (sg_link){.byte = sg_config_wire(config, "router_byte_microcycles"),
                          .hop = sg_config_wire(config, "router_millicycles")};
    *nodes = (uint64_t)x->rows * x->columns;
    x->clusters_a_row = (x->columns + x->cluster - 1) / x->cluster;
    x->router_first = (uint32_t)*nodes * WAYS;
    *links = x->router_first + 2ull * x->clusters_a_row * ((x->rows + x->cluster - 1) / x->cluster);
    return x;
}

/* The shorter way round from `a` to `b`, with its sign. */
static int32_t distance(uint32_t a, uint32_t b, uint32_t size)
{
    uint32_t up = (b + size - a) % size;
    return 2 * up > size ? (int32_t)up - (int32_t)size : (int32_t)up;
}

static int32_t sign(int32_t x)
{
    return (x > 0) - (x < 0);
}

static uint32_t cluster_of(const xnet *x, uint32_t element)
{
    return element / x->columns / x->cluster * x->clusters_a_row + element % x->columns / x->cluster;
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    const xnet *x = shape;
    uint32_t row = from / x->columns, column = from % x->columns;
    int32_t down = distance(row, to / x->columns, x->rows),
            right = distance(column, to % x->columns, x->columns);
    uint32_t steps = (uint32_t)(abs(down) > abs(right) ? abs(down) : abs(right));
    (void)wire, (void)now;
    if (steps > x->reach) {
        sg_route_add(route, x->router_first + 2ull * cluster_of(x, from));
        sg_route_add(route, x->router_first + 2ull * cluster_of(x, to) + 1);
        return;
    }
    for (; steps > 0; steps--) {
        int32_t y = sign(down), z = sign(right);
        sg_route_add(route, ((uint64_t)row * x->columns + column) * WAYS + way_of[(y + 1) * 3 + z + 1]);
        row = (row + x->rows + (uint32_t)y) % x->rows;
        column = (column + x->columns + (uint32_t)z) % x->columns;
        down -= y;
        right -= z;
    }
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    const xnet *x = shape;
    if (link >= x->router_first)
        snprintf(text, size, "router %s cluster %u", (link - x->router_first) % 2 ? "to" : "from",
                 (link - x->router_first) / 2);
    else
        snprintf(text, size, "xnet %u,%u %s", link / WAYS / x->columns, link / WAYS % x->columns,
                 ways[link % WAYS]);
}

static void describe(const void *shape, uint32_t link, sg_link *is)
{
    const xnet *x = shape;
    if (link >= x->router_first)
        *is = x->router;
}

const sg_topology sg_wire_xnet = {"xnet", parameters, create, route, name_link, describe};

/* X-net and global router of a SIMD machine: processing elements in a closed grid, wired to eight neighbours,
 * and a router with one channel per square cluster of elements, for distances of more than `reach` steps. */
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
/* Indexed by (step down + 1) * 3 + step right + 1. */
static const uint8_t way_of[] = {5, 6, 7, 4, 0, 0, 3, 2, 1};

/* A grid of exactly `elements`, as square as possible, with at least as many columns as rows. */
static void shape_for(xnet *x, uint32_t elements)
{
    x->rows = 1;
    for (uint32_t rows = 2; rows * rows <= elements; rows++)
        if (elements % rows == 0)
            x->rows = rows;
    x->columns = elements / x->rows;
}

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    xnet *x = malloc(sizeof *x);
    if (!x)
        return NULL;
    x->rows = (uint32_t)sg_config_wire(config, "rows");
    x->columns = (uint32_t)sg_config_wire(config, "columns");
    if (x->rows == 0 || x->columns == 0)
        shape_for(x, config->processors);
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

typedef struct vector {
    int32_t down, right;
} vector;

static vector between(const xnet *x, uint32_t from, uint32_t to)
{
    return (vector){distance(from / x->columns, to / x->columns, x->rows),
                    distance(from % x->columns, to % x->columns, x->columns)};
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void router(const void *shape, uint32_t from, uint32_t to, sg_route *route)
{
    const xnet *x = shape;
    sg_route_add(route, x->router_first + 2ull * cluster_of(x, from));
    sg_route_add(route, x->router_first + 2ull * cluster_of(x, to) + 1);
}

/* Diagonally as far as possible, then straight on. */
static bool shift(const void *shape, uint32_t from, uint32_t to, sg_shift *s)
{
    const xnet *x = shape;
    vector v = between(x, from, to);
    uint32_t down = (uint32_t)abs(v.down), right = (uint32_t)abs(v.right), most = larger(down, right);
    s->way = (uint64_t)(uint32_t)v.down << 32 | (uint32_t)v.right;
    s->steps[0] = down + right - most;
    s->steps[1] = most - s->steps[0];
    return most <= x->reach;
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    const xnet *x = shape;
    uint32_t row = from / x->columns, column = from % x->columns;
    vector v = between(x, from, to);
    uint32_t steps = larger((uint32_t)abs(v.down), (uint32_t)abs(v.right));
    (void)wire, (void)now;
    if (steps > x->reach) {
        router(shape, from, to, route);
        return;
    }
    for (; steps > 0; steps--) {
        int32_t y = sign(v.down), z = sign(v.right);
        sg_route_add(route, ((uint64_t)row * x->columns + column) * WAYS + way_of[(y + 1) * 3 + z + 1]);
        row = (row + x->rows + (uint32_t)y) % x->rows;
        column = (column + x->columns + (uint32_t)z) % x->columns;
        v.down -= y;
        v.right -= z;
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
const sg_shifts sg_wire_xnet_shifts = {shift, router};

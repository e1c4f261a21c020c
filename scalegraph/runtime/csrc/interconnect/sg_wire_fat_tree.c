/* Fat tree: a group at level l has arity^l nodes and several links up to the next level, and as many down.
 * Each of the first `tapered_levels` levels halves the bandwidth passed upwards.
 *
 * A message goes up to the lowest group that contains both nodes, then down. Choice of link: `static`: by
 * the receiver's number, so all messages to a node take the same path; `adaptive`: upwards the first free
 * one. The switch where a message turns determines the path down. */
#include "sg_wire.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_LEVELS = 14 };
enum routing { STATIC, ADAPTIVE }; /* as scalegraph.machine.interconnects.fat_tree names them */

typedef struct fat_tree {
    enum routing routing;
    uint32_t levels;
    uint32_t group[MOST_LEVELS + 1]; /* nodes per group at each level; 1: the nodes themselves */
    uint32_t width[MOST_LEVELS + 1]; /* uplinks of such a group */
    uint32_t
        first[MOST_LEVELS + 1]; /* number of the first of them; the downlinks follow at distance `half` */
    uint32_t half;
} fat_tree;

static const sg_net_parameter parameters[] = {SG_WIRE_FAT_TREE_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    fat_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    uint32_t arity = (uint32_t)sg_config_wire(config, "arity");
    uint32_t tapered = (uint32_t)sg_config_wire(config, "tapered_levels"), size = 1, width = 1;
    tree->levels = (uint32_t)sg_config_wire(config, "levels");
    tree->routing = (enum routing)sg_config_wire(config, "routing");
    *nodes = 1;
    for (uint32_t l = 0; l < tree->levels; l++)
        *nodes *= arity;
    for (uint32_t l = 0; l < tree->levels; l++) {
        tree->group[l] = size;
        tree->width[l] = width;
        tree->first[l] = tree->half;
        tree->half += (uint32_t)*nodes / size * width;
        size *= arity;
        width = width * arity / (l < tapered ? 2 : 1);
        width = width > 0 ? width : 1;
    }
    *links = 2ull * tree->half;
    return tree;
}

static uint32_t choose_up(const fat_tree *tree, const sg_wire *wire, uint32_t level, uint32_t from,
                          uint32_t to, uint64_t now)
{
    uint32_t width = tree->width[level], first = tree->first[level] + from / tree->group[level] * width;
    uint32_t best = to % width;
    for (uint32_t i = 0; tree->routing == ADAPTIVE && i < width; i++)
        if (sg_wire_ready(wire, first + i, now) < sg_wire_ready(wire, first + best, now))
            best = i;
    return best;
}

static void route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now, sg_route *route)
{
    const fat_tree *tree = shape;
    uint32_t top = 0, turn = to;
    for (; top < tree->levels && (top == 0 || from / tree->group[top] != to / tree->group[top]); top++) {
        uint32_t up = choose_up(tree, wire, top, from, to, now);
        if (tree->routing == ADAPTIVE)
            turn = up;
        sg_route_add(route, (uint64_t)tree->first[top] + from / tree->group[top] * tree->width[top] + up);
    }
    while (top-- > 0)
        sg_route_add(route, (uint64_t)tree->half + tree->first[top] +
                                to / tree->group[top] * tree->width[top] + turn % tree->width[top]);
}

static void name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    const fat_tree *tree = shape;
    uint32_t up = link < tree->half, level = tree->levels - 1;
    link = up ? link : link - tree->half;
    while (link < tree->first[level])
        level--;
    link -= tree->first[level];
    snprintf(text, size, "%s level %u group %u.%u", up ? "up" : "down", level, link / tree->width[level],
             link % tree->width[level]);
}

const sg_topology sg_wire_fat_tree = {"fat_tree", parameters, create, route, name_link, NULL};

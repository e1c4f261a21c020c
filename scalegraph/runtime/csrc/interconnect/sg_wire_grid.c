/* Dimension-order routing in meshes and tori; see sg_wire_grid.h. */
#include "sg_wire_grid.h"

#include <stdio.h>
#include <stdlib.h>

sg_grid *sg_grid_create(const sg_config *config, bool closed, uint64_t *nodes, uint64_t *links)
{
    static const char *const names[] = {"columns", "rows", "layers"};
    sg_grid *grid = malloc(sizeof *grid);
    if (!grid)
        return NULL;
    *nodes = 1;
    for (unsigned d = 0; d < SG_GRID_DIMENSIONS; d++)
        *nodes *= grid->size[d] = (uint32_t)sg_config_wire(config, names[d]);
    *links = *nodes * SG_GRID_WAYS;
    grid->closed = closed;
    return grid;
}

/* The node at the other end of the link that leaves `node` in dimension `d`; `step`: difference between
 * neighbours' numbers. */
static uint32_t neighbour(const sg_grid *grid, uint32_t node, unsigned d, uint32_t step, bool down)
{
    uint32_t size = grid->size[d], at = node / step % size;
    uint32_t next = down ? (at + size - 1) % size : (at + 1) % size;
    return node + (next - at) * step;
}

void sg_grid_route(void *shape, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now,
                   sg_route *route)
{
    const sg_grid *grid = shape;
    uint32_t step = 1;
    (void)wire, (void)now;
    for (unsigned d = 0; d < SG_GRID_DIMENSIONS; step *= grid->size[d], d++) {
        uint32_t size = grid->size[d], a = from / step % size, b = to / step % size;
        uint32_t up = (b + size - a) % size;
        bool down = grid->closed ? 2 * up > size : b < a;
        for (; a != b; a = from / step % size) {
            sg_route_add(route, (uint64_t)from * SG_GRID_WAYS + 2 * d + down);
            from = neighbour(grid, from, d, step, down);
        }
    }
}

void sg_grid_name_link(const void *shape, uint32_t link, char *text, unsigned size)
{
    const sg_grid *grid = shape;
    uint32_t node = link / SG_GRID_WAYS, step = 1;
    unsigned d = link % SG_GRID_WAYS / 2;
    for (unsigned i = 0; i < d; i++)
        step *= grid->size[i];
    snprintf(text, size, "link %u>%u", node, neighbour(grid, node, d, step, link % 2));
}

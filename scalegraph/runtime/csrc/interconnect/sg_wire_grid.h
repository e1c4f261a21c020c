/* Meshes and tori of up to three dimensions: nodes in rows, planes and layers. */
#ifndef SG_WIRE_GRID_H
#define SG_WIRE_GRID_H

#include "sg_wire.h"

enum { SG_GRID_DIMENSIONS = 3, SG_GRID_WAYS = 2 * SG_GRID_DIMENSIONS };

typedef struct sg_grid {
    uint32_t size[SG_GRID_DIMENSIONS]; /* columns, rows, layers */
    bool closed;                       /* torus: the last is joined to the first */
} sg_grid;

sg_grid *sg_grid_create(const sg_config *config, bool closed, uint64_t *nodes, uint64_t *links);
/* Routes along the row, then the column, then the layers; in a torus the shorter way, upwards on a tie. Link
 * node * SG_GRID_WAYS + 2 * dimension + (downwards) leaves `node`. */
void sg_grid_route(void *grid, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now,
                   sg_route *route);
void sg_grid_name_link(const void *grid, uint32_t link, char *text, unsigned size);

#endif

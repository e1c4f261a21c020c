/* Torus of two or three dimensions: a mesh with joined edges. */
#include "sg_wire_grid.h"

static const sg_net_parameter parameters[] = {SG_WIRE_TORUS_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    return sg_grid_create(config, true, nodes, links);
}

const sg_topology sg_wire_torus = {"torus", parameters, create, sg_grid_route, sg_grid_name_link, NULL};

/* Mesh of two or three dimensions; nodes at the edges have fewer links. */
#include "sg_wire_grid.h"

static const sg_net_parameter parameters[] = {SG_WIRE_MESH_PARAMETERS};

static void *create(const sg_config *config, uint64_t *nodes, uint64_t *links)
{
    return sg_grid_create(config, false, nodes, links);
}

const sg_topology sg_wire_mesh = {"mesh", parameters, create, sg_grid_route, sg_grid_name_link, NULL};

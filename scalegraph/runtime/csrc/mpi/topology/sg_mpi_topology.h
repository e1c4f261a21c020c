/* Virtual topologies of communicators. */
#ifndef SG_MPI_TOPOLOGY_H
#define SG_MPI_TOPOLOGY_H

#include "sg_mpi_comm.h"

typedef struct sg_topology {
    int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    /* Cartesian. */
    int dimensions;
    int *sizes, *periods, *coordinates;
    /* Graph: all nodes. */
    int nodes, edge_count;
    int *index, *edges;
    /* Distributed graph: this process only. */
    int in_degree, out_degree;
    bool weighted;
    int *sources, *source_weights, *destinations, *destination_weights;
} sg_topology;

void sg_topology_free(sg_topology *t);
sg_topology *sg_topology_copy(const sg_topology *t);
/* Lists the neighbours this process receives from and sends to; MPI_PROC_NULL beyond an edge. Both lists are
 * to be freed. */
void sg_topology_neighbours(const sg_comm *c, int *in_degree, int **sources, int *out_degree,
                            int **destinations);
/* Rank at these coordinates of a Cartesian topology; MPI_PROC_NULL beyond an edge. */
int sg_cart_rank(const sg_topology *t, const int coordinates[]);
void sg_cart_coordinates(const sg_topology *t, int rank, int coordinates[]);

#endif

/* Graph topologies: each process knows the whole graph. */
#include "sg_mpi_comm_create.h"
#include "sg_mpi_topology.h"

static int graph_of(MPI_Comm comm, sg_comm **c)
{
    *c = sg_comm_of(comm);
    if (*c == NULL)
        return sg_comm_missing(comm);
    if ((*c)->topology == NULL || (*c)->topology->kind != MPI_GRAPH)
        return sg_mpi_error(*c, MPI_ERR_TOPOLOGY, "the communicator has no graph topology");
    return MPI_SUCCESS;
}

/* Is this a valid graph of processes of `c`? */
static int check_graph(sg_comm *c, int nodes, const int index[], const int edges[])
{
    if (nodes < 0 || nodes > c->size)
        return sg_mpi_error(c, MPI_ERR_ARG, "a graph of %d processes cannot be made of %d", nodes, c->size);
    for (int i = 0; i < nodes; i++)
        if (index[i] < (i > 0 ? index[i - 1] : 0))
            return sg_mpi_error(c, MPI_ERR_ARG,
                                "the index of node %d is %d, less than that of the node before", i, index[i]);
    for (int i = 0; nodes > 0 && i < index[nodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nodes)
            return sg_mpi_error(c, MPI_ERR_ARG, "edge %d leads to %d, which is not one of the %d nodes", i,
                                edges[i], nodes);
    return MPI_SUCCESS;
}

SG_API int PMPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                             MPI_Comm *result)
{
    (void)reorder;
    SG_ENTER("Graph_create");
    SG_NEEDS(result)
    *result = MPI_COMM_NULL;
    if (nodes > 0)
        SG_NEEDS(index, edges)
    sg_comm *c = sg_comm_of(comm), *made;
    if (c == NULL)
        return sg_comm_missing(comm);
    int error = check_graph(c, nodes, index, edges);
    if (error == MPI_SUCCESS)
        error = sg_collective_check(c, -1, -1);
    if (error == MPI_SUCCESS)
        error = sg_comm_split(c, c->rank < nodes ? 0 : MPI_UNDEFINED, c->rank, &made);
    if (error != MPI_SUCCESS)
        return error;
    *result = MPI_COMM_NULL;
    if (made == NULL)
        return MPI_SUCCESS;
    sg_topology *t = made->topology = sg_mpi_new(sizeof *t);
    t->kind = MPI_GRAPH;
    t->nodes = nodes;
    t->edge_count = index[nodes - 1];
    t->index = sg_mpi_copy(index, (size_t)nodes * sizeof *index);
    t->edges = sg_mpi_copy(edges, (size_t)t->edge_count * sizeof *edges);
    *result = sg_comm_handle(made);
    return MPI_SUCCESS;
}

SG_API int PMPI_Graphdims_get(MPI_Comm comm, int *nodes, int *edges)
{
    SG_ENTER("Graphdims_get");
    SG_NEEDS(nodes, edges)
    sg_comm *c;
    int error = graph_of(comm, &c);
    if (error == MPI_SUCCESS) {
        *nodes = c->topology->nodes;
        *edges = c->topology->edge_count;
    }
    return error;
}

SG_API int PMPI_Graph_get(MPI_Comm comm, int index_room, int edge_room, int index[], int edges[])
{
    SG_ENTER("Graph_get");
    if (index_room > 0)
        SG_NEEDS(index)
    if (edge_room > 0)
        SG_NEEDS(edges)
    sg_comm *c;
    int error = graph_of(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    const sg_topology *t = c->topology;
    for (int i = 0; i < t->nodes && i < index_room; i++)
        index[i] = t->index[i];
    for (int i = 0; i < t->edge_count && i < edge_room; i++)
        edges[i] = t->edges[i];
    return MPI_SUCCESS;
}

/* The edges of node `rank`. */
static int edges_of(sg_comm *c, int rank, const int **first, int *count)
{
    const sg_topology *t = c->topology;
    if (rank < 0 || rank >= t->nodes)
        return sg_mpi_error(c, MPI_ERR_RANK, "rank %d is not one of the %d nodes of the graph", rank,
                            t->nodes);
    int begin = rank > 0 ? t->index[rank - 1] : 0;
    *first = t->edges + begin;
    *count = t->index[rank] - begin;
    return MPI_SUCCESS;
}

SG_API int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *count)
{
    SG_ENTER("Graph_neighbors_count");
    SG_NEEDS(count)
    sg_comm *c;
    const int *edges;
    int error = graph_of(comm, &c);
    return error == MPI_SUCCESS ? edges_of(c, rank, &edges, count) : error;
}

SG_API int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int room, int neighbours[])
{
    SG_ENTER("Graph_neighbors");
    if (room > 0)
        SG_NEEDS(neighbours)
    sg_comm *c;
    const int *edges;
    int count, error = graph_of(comm, &c);
    if (error == MPI_SUCCESS)
        error = edges_of(c, rank, &edges, &count);
    for (int i = 0; error == MPI_SUCCESS && i < count && i < room; i++)
        neighbours[i] = edges[i];
    return error;
}

/* Processes keep their ranks; those outside the topology get none. */
SG_API int PMPI_Graph_map(MPI_Comm comm, int nodes, const int index[], const int edges[], int *rank)
{
    SG_ENTER("Graph_map");
    SG_NEEDS(rank)
    if (nodes > 0)
        SG_NEEDS(index, edges)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    *rank = c->rank < nodes ? c->rank : MPI_UNDEFINED;
    return check_graph(c, nodes, index, edges);
}

SG_API int PMPI_Cart_map(MPI_Comm comm, int n, const int sizes[], const int periods[], int *rank)
{
    (void)periods;
    SG_ENTER("Cart_map");
    SG_NEEDS(rank)
    if (n > 0)
        SG_NEEDS(sizes)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        all *= sizes[i] > 0 ? sizes[i] : 0;
    if (n < 0 || all == 0 || all > c->size)
        return sg_mpi_error(c, MPI_ERR_DIMS, "a grid of %lld processes cannot be made of %d", (long long)all,
                            c->size);
    *rank = c->rank < all ? c->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

SG_MPI_NAME(Graph_create)
SG_MPI_NAME(Graphdims_get)
SG_MPI_NAME(Graph_get)
SG_MPI_NAME(Graph_neighbors_count)
SG_MPI_NAME(Graph_neighbors)
SG_MPI_NAME(Graph_map)
SG_MPI_NAME(Cart_map)

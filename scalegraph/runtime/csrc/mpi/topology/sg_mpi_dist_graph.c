/* Distributed graph topologies: each process knows its own neighbours. */
#include "sg_mpi_comm_create.h"
#include "sg_mpi_topology.h"

static int dist_graph_of(MPI_Comm comm, sg_comm **c)
{
    *c = sg_comm_of(comm);
    if (*c == NULL)
        return sg_comm_missing(comm);
    if ((*c)->topology == NULL || (*c)->topology->kind != MPI_DIST_GRAPH)
        return sg_mpi_error(*c, MPI_ERR_TOPOLOGY, "the communicator has no distributed graph topology");
    return MPI_SUCCESS;
}

static int check_ranks(sg_comm *c, int count, const int ranks[])
{
    if (count < 0)
        return sg_mpi_error(c, MPI_ERR_ARG, "%d is not a number of neighbours", count);
    for (int i = 0; i < count; i++)
        if (ranks[i] < 0 || ranks[i] >= c->size)
            return sg_mpi_error(c, MPI_ERR_RANK, "rank %d is not one of the %d ranks of the communicator",
                                ranks[i], c->size);
    return MPI_SUCCESS;
}

static int *copied(const int *list, int count)
{
    return sg_mpi_copy(list, (size_t)count * sizeof *list);
}

/* A weight, from a list that may be missing. */
static int weight_of(const int weights[], int64_t i)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY ? weights[i] : 1;
}

static int *weights_of(const int weights[], int count)
{
    int *list = sg_mpi_new((size_t)count * sizeof *list);
    for (int i = 0; i < count; i++)
        list[i] = weight_of(weights, i);
    return list;
}

/* Duplicates the communicator and attaches the topology. */
static int make(sg_comm *c, sg_topology *t, MPI_Comm *result)
{
    sg_comm *made;
    int error = sg_comm_split(c, 0, c->rank, &made);
    if (error != MPI_SUCCESS) {
        sg_topology_free(t);
        return error;
    }
    t->kind = MPI_DIST_GRAPH;
    made->topology = t;
    *result = sg_comm_handle(made);
    return MPI_SUCCESS;
}

SG_API int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int in_degree, const int sources[],
                                           const int source_weights[], int out_degree,
                                           const int destinations[], const int destination_weights[],
                                           MPI_Info info, int reorder, MPI_Comm *result)
{
    (void)reorder;
    SG_ENTER("Dist_graph_create_adjacent");
    SG_NEEDS(result)
    *result = MPI_COMM_NULL;
    if (in_degree > 0)
        SG_NEEDS(sources, source_weights)
    if (out_degree > 0)
        SG_NEEDS(destinations, destination_weights)
    SG_INFO(info)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int error = check_ranks(c, in_degree, sources);
    if (error == MPI_SUCCESS)
        error = check_ranks(c, out_degree, destinations);
    if (error == MPI_SUCCESS)
        error = sg_collective_check(c, -1, -1);
    if (error != MPI_SUCCESS)
        return error;
    sg_topology *t = sg_mpi_new(sizeof *t);
    t->in_degree = in_degree;
    t->out_degree = out_degree;
    t->weighted = source_weights != MPI_UNWEIGHTED;
    t->sources = copied(sources, in_degree);
    t->destinations = copied(destinations, out_degree);
    t->source_weights = weights_of(source_weights, in_degree);
    t->destination_weights = weights_of(destination_weights, out_degree);
    return make(c, t, result);
}

typedef struct edge {
    int from, to, weight, weighted;
} edge;

/* All edges given by the processes, in order of processes; *count: their number. To be freed. */
static edge *all_edges(sg_comm *c, const edge *own, int64_t own_count, int64_t *count, int *error)
{
    int64_t *counts = sg_mpi_new((size_t)c->size * sizeof *counts), before = 0;
    *error = sg_comm_collect(c, &own_count, sizeof own_count, counts);
    *count = 0;
    for (int i = 0; i < c->size; i++) {
        before += i < c->rank ? counts[i] : 0;
        *count += counts[i];
    }
    edge *all = sg_mpi_new((size_t)*count * sizeof *all);
    if (*error == MPI_SUCCESS) {
        sg_schedule *s = sg_schedule_new(c);
        int64_t *bytes = sg_schedule_memory(s, (int64_t)sizeof *bytes * (c->size + 1));
        for (int i = 0; i < c->size; i++)
            bytes[i] = counts[i] * (int64_t)sizeof *all;
        for (int64_t i = 0; i < own_count; i++)
            all[before + i] = own[i];
        sg_algorithm_allgather(s, (char *)all, bytes);
        *error = sg_schedule_run(s);
    }
    sg_mpi_free(counts);
    return all;
}

/* Finds this process's neighbours among all edges. */
static sg_topology *neighbours(const sg_comm *c, const edge *all, int64_t count)
{
    sg_topology *t = sg_mpi_new(sizeof *t);
    for (int64_t i = 0; i < count; i++) {
        t->in_degree += all[i].to == c->rank;
        t->out_degree += all[i].from == c->rank;
        t->weighted = t->weighted || all[i].weighted;
    }
    t->sources = sg_mpi_new((size_t)t->in_degree * sizeof *t->sources);
    t->source_weights = sg_mpi_new((size_t)t->in_degree * sizeof *t->sources);
    t->destinations = sg_mpi_new((size_t)t->out_degree * sizeof *t->sources);
    t->destination_weights = sg_mpi_new((size_t)t->out_degree * sizeof *t->sources);
    int in = 0, out = 0;
    for (int64_t i = 0; i < count; i++) {
        if (all[i].to == c->rank) {
            t->sources[in] = all[i].from;
            t->source_weights[in++] = all[i].weight;
        }
        if (all[i].from == c->rank) {
            t->destinations[out] = all[i].to;
            t->destination_weights[out++] = all[i].weight;
        }
    }
    return t;
}

SG_API int PMPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                  const int destinations[], const int weights[], MPI_Info info, int reorder,
                                  MPI_Comm *result)
{
    (void)reorder;
    SG_ENTER("Dist_graph_create");
    SG_NEEDS(result)
    *result = MPI_COMM_NULL;
    if (n > 0)
        SG_NEEDS(sources, degrees, destinations, weights)
    SG_INFO(info)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int error = check_ranks(c, n, sources);
    int64_t own_count = 0, count, at = 0;
    for (int i = 0; error == MPI_SUCCESS && i < n; i++)
        error = check_ranks(c, degrees[i], destinations + own_count), own_count += degrees[i];
    if (error == MPI_SUCCESS)
        error = sg_collective_check(c, -1, -1);
    if (error != MPI_SUCCESS)
        return error;
    /* one extra edge, without processes, tells the others whether there are weights even if there are no
     * edges */
    edge *own = sg_mpi_new((size_t)(own_count + 1) * sizeof *own);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, at++)
            own[at] = (edge){sources[i], destinations[at], weight_of(weights, at), weights != MPI_UNWEIGHTED};
    own[at] = (edge){-1, -1, 0, weights != MPI_UNWEIGHTED};
    edge *all = all_edges(c, own, own_count + 1, &count, &error);
    if (error == MPI_SUCCESS)
        error = make(c, neighbours(c, all, count), result);
    sg_mpi_free(own);
    sg_mpi_free(all);
    return error;
}

SG_API int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *in_degree, int *out_degree, int *weighted)
{
    SG_ENTER("Dist_graph_neighbors_count");
    SG_NEEDS(in_degree, out_degree, weighted)
    sg_comm *c;
    int error = dist_graph_of(comm, &c);
    if (error == MPI_SUCCESS) {
        *in_degree = c->topology->in_degree;
        *out_degree = c->topology->out_degree;
        *weighted = c->topology->weighted;
    }
    return error;
}

static void fill(int room, int count, const int *ranks, const int *weights, int to[], int to_weights[])
{
    for (int i = 0; i < count && i < room; i++) {
        to[i] = ranks[i];
        if (to_weights != MPI_UNWEIGHTED && to_weights != MPI_WEIGHTS_EMPTY)
            to_weights[i] = weights[i];
    }
}

SG_API int PMPI_Dist_graph_neighbors(MPI_Comm comm, int in_room, int sources[], int source_weights[],
                                     int out_room, int destinations[], int destination_weights[])
{
    SG_ENTER("Dist_graph_neighbors");
    if (in_room > 0)
        SG_NEEDS(sources)
    if (out_room > 0)
        SG_NEEDS(destinations)
    sg_comm *c;
    int error = dist_graph_of(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    const sg_topology *t = c->topology;
    fill(in_room, t->in_degree, t->sources, t->source_weights, sources, source_weights);
    fill(out_room, t->out_degree, t->destinations, t->destination_weights, destinations, destination_weights);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Dist_graph_create_adjacent)
SG_MPI_NAME(Dist_graph_create)
SG_MPI_NAME(Dist_graph_neighbors_count)
SG_MPI_NAME(Dist_graph_neighbors)

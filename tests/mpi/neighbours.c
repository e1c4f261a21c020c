/* Topologies and neighbourhood collectives; the ranks print, one after the other, what they received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char line[1 << 16];

static void say(const char *what, const int *list, int count)
{
    size_t at = strlen(line);
    at += (size_t)sprintf(line + at, " %s:", what);
    for (int i = 0; i < count; i++)
        at += (size_t)sprintf(line + at, " %d", list[i]);
}

static void flush(const char *title)
{
    for (int r = 0; r < size; r++) {
        char got[sizeof line];
        if (r == rank && rank != 0)
            MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
        if (rank == 0 && r > 0)
            MPI_Recv(got, sizeof got, MPI_CHAR, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0)
            printf("%s %d%s\n", title, r, r > 0 ? got : line);
    }
    line[0] = 0;
}

static void exchange(MPI_Comm comm, int in, int out)
{
    int *sent = malloc((size_t)(out + 1) * 3 * sizeof *sent),
        *got = malloc((size_t)(in + 1) * 3 * sizeof *got);
    int *counts = malloc((size_t)(in + out + 1) * sizeof *counts),
        *places = malloc((size_t)(in + out + 1) * sizeof *places);
    MPI_Aint *offsets = malloc((size_t)(in + out + 1) * sizeof *offsets);
    MPI_Datatype *types = malloc((size_t)(in + out + 1) * sizeof(MPI_Datatype));
    MPI_Request request;
    for (int i = 0; i < out * 3; i++)
        sent[i] = rank * 100 + i;
    memset(got, 0xff, (size_t)(in + 1) * 3 * sizeof *got);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm);
    say("gather", got, in);
    MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, comm);
    say("all", got, 2 * in);
    for (int i = 0; i < in + out; i++) {
        counts[i] = 1;
        places[i] = 2 * i;
        offsets[i] = (MPI_Aint)sizeof(int) * 2 * i;
        types[i] = MPI_INT;
    }
    memset(got, 0xff, (size_t)(in + 1) * 3 * sizeof *got);
    MPI_Ineighbor_allgatherv(&rank, 1, MPI_INT, got, counts, places, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("v", got, 2 * in);
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
    say("allv", got, 2 * in);
    MPI_Ineighbor_alltoallw(sent, counts, offsets, types, got, counts, offsets, types, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("allw", got, 2 * in);
    MPI_Ineighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ineighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, got, counts, places, MPI_INT, comm);
    MPI_Neighbor_alltoallw(sent, counts, offsets, types, got, counts, offsets, types, comm);
    say("last", got, 2 * in);
    free(sent), free(got), free(counts), free(places), free(offsets), free(types);
}

static void cartesian(int periodic)
{
    int sizes[2] = {0, 0}, periods[2] = {periodic, 0}, new_rank, kind;
    MPI_Comm comm;
    MPI_Dims_create(size, 2, sizes);
    MPI_Cart_map(MPI_COMM_WORLD, 2, sizes, periods, &new_rank);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &comm);
    MPI_Topo_test(comm, &kind);
    exchange(comm, 4, 4);
    say("map", &new_rank, 1);
    say("kind", &(int){kind == MPI_CART}, 1);
    MPI_Comm_free(&comm);
    flush(periodic ? "torus" : "grid");
}

/* A star: all ranks are neighbours of rank 0 only. */
static void star(void)
{
    int index[64], edges[128], nodes, count, list[64], new_rank;
    MPI_Comm comm, copy;
    for (int i = 0, at = 0; i < size; i++) {
        for (int j = 1; i == 0 && j < size; j++)
            edges[at++] = j;
        if (i > 0)
            edges[at++] = 0;
        index[i] = at;
    }
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &new_rank);
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    MPI_Comm_dup(comm, &copy);
    MPI_Graphdims_get(copy, &nodes, &count);
    say("dims", (int[]){nodes, count, new_rank}, 3);
    MPI_Graph_get(copy, size, count, index, edges);
    say("edges", edges, count);
    MPI_Graph_neighbors_count(copy, rank, &count);
    MPI_Graph_neighbors(copy, rank, count, list);
    say("neighbours", list, count);
    exchange(copy, count, count);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
    flush("star");
}

/* Edges to the next two ranks, declared by each source or all by rank 0. */
static void distributed(int by_root)
{
    int from[2] = {(rank + size - 1) % size, (rank + size - 2) % size},
        to[2] = {(rank + 1) % size, (rank + 2) % size};
    int weights[2] = {rank, rank + 10}, in, out, weighted, sources[4], in_weights[4], destinations[4],
        out_weights[4];
    int all_from[64], degrees[64], all_to[128];
    MPI_Comm comm;
    for (int i = 0; i < size; i++) {
        all_from[i] = i;
        degrees[i] = 2;
        all_to[2 * i] = (i + 1) % size;
        all_to[2 * i + 1] = (i + 2) % size;
    }
    if (by_root)
        MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, all_from, degrees, all_to, MPI_UNWEIGHTED,
                              MPI_INFO_NULL, 0, &comm);
    else
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0,
                                       &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    say("count", (int[]){in, out, weighted}, 3);
    if (by_root) {
        int sum = 0;
        MPI_Dist_graph_neighbors(comm, 4, sources, MPI_UNWEIGHTED, 4, destinations, MPI_UNWEIGHTED);
        for (int i = 0; i < in; i++)
            sum += (sources[i] + 1) * (sources[i] + 1);
        say("sources", &sum, 1);
    } else {
        MPI_Dist_graph_neighbors(comm, 4, sources, in_weights, 4, destinations, out_weights);
        say("sources", sources, in);
        say("weights", in_weights, in);
        say("destinations", destinations, out);
        say("weights", out_weights, out);
        exchange(comm, in, out);
    }
    MPI_Comm_free(&comm);
    flush(by_root ? "by root" : "adjacent");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cartesian(0);
    cartesian(1);
    star();
    distributed(0);
    distributed(1);
    MPI_Finalize();
    return 0;
}

/* Neighbourhood collectives: one message to and from each neighbour in a topology, all at once. */
#include "sg_mpi_calls.h"
#include "sg_mpi_topology.h"

/* One side: location of each neighbour's block. `types` NULL: all are `type`, and displacements (int) count
 * its extents; otherwise `offsets` count bytes. `counts` NULL: all have `count` items, contiguous; `same`:
 * all share one block; `general`: lists are passed, which processes without neighbours may omit. */
typedef struct side {
    const void *buffer;
    int count;
    const int *counts, *places;
    MPI_Datatype type;
    const MPI_Datatype *types;
    const MPI_Aint *offsets;
    bool same, general;
} side;

static int blocks_of(MPI_Comm comm, int degree, const int *ranks, const side *from, sg_mpi_block *blocks)
{
    if (degree > 0 && from->general && from->places == NULL)
        SG_NEEDS(from->counts, from->offsets, from->types)
    if (degree > 0 && from->general)
        SG_NEEDS(from->counts)
    for (int i = 0; i < degree; i++) {
        sg_mpi_block *b = &blocks[i];
        b->peer = ranks[i];
        b->count = from->counts != NULL ? from->counts[i] : from->count;
        const char *buffer = (const char *)from->buffer + (from->offsets != NULL ? from->offsets[i] : 0);
        MPI_Datatype type = from->types != NULL ? from->types[i] : from->type;
        int error = sg_collective_type(comm, buffer, type, b->peer != MPI_PROC_NULL ? b->count : 0, &b->type);
        if (error != MPI_SUCCESS)
            return error;
        if (from->offsets != NULL)
            b->at = (char *)(uintptr_t)from->buffer + from->offsets[i];
        else
            b->at = sg_item(from->buffer,
                            from->same             ? 0
                            : from->places != NULL ? from->places[i]
                                                   : i * b->count,
                            b->type);
    }
    return MPI_SUCCESS;
}

/* In a grid, what a process sends in one direction its neighbour receives from the opposite direction, even
 * if both are the same process. Messages between two processes arrive in order, so the two receives of each
 * dimension are swapped. */
static void turn(const sg_comm *c, sg_mpi_block *in, int degree)
{
    for (int i = 0; c->topology->kind == MPI_CART && i < degree; i += 2) {
        sg_mpi_block first = in[i];
        in[i] = in[i + 1];
        in[i + 1] = first;
    }
}

static int exchange(sg_schedule **s, const side *out, const side *in, MPI_Comm comm)
{
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    if (c->topology == NULL)
        return sg_mpi_error(c, MPI_ERR_TOPOLOGY, "the communicator has no topology");
    int in_degree, out_degree, *sources, *destinations;
    sg_topology_neighbours(c, &in_degree, &sources, &out_degree, &destinations);
    sg_mpi_block *from = sg_mpi_new((size_t)out_degree * sizeof *from);
    sg_mpi_block *to = sg_mpi_new((size_t)in_degree * sizeof *to);
    int error = blocks_of(comm, out_degree, destinations, out, from);
    if (error == MPI_SUCCESS)
        error = blocks_of(comm, in_degree, sources, in, to);
    if (error == MPI_SUCCESS)
        error = sg_collective_begin(comm, SG_NO_ROOT, -1, s);
    turn(c, to, in_degree);
    if (error == MPI_SUCCESS)
        sg_exchange(*s, from, out_degree, to, in_degree);
    sg_mpi_free(from);
    sg_mpi_free(to);
    sg_mpi_free(sources);
    sg_mpi_free(destinations);
    return error;
}

static int allgather(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                     int in_count, MPI_Datatype in_type, MPI_Comm comm)
{
    return exchange(s, &(side){.buffer = out, .count = out_count, .type = out_type, .same = true},
                    &(side){.buffer = in, .count = in_count, .type = in_type}, comm);
}
SG_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, allgather,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                      MPI_Datatype in_type, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, in_count, in_type, comm))

static int allgatherv(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                      const int counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm)
{
    return exchange(
        s, &(side){.buffer = out, .count = out_count, .type = out_type, .same = true},
        &(side){.buffer = in, .counts = counts, .places = places, .type = in_type, .general = true}, comm);
}
SG_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, allgatherv,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, const int counts[],
                      const int places[], MPI_Datatype in_type, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, counts, places, in_type, comm))

static int alltoall(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                    int in_count, MPI_Datatype in_type, MPI_Comm comm)
{
    return exchange(s, &(side){.buffer = out, .count = out_count, .type = out_type},
                    &(side){.buffer = in, .count = in_count, .type = in_type}, comm);
}
SG_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, alltoall,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                      MPI_Datatype in_type, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, in_count, in_type, comm))

static int alltoallv(sg_schedule **s, const void *out, const int out_counts[], const int out_places[],
                     MPI_Datatype out_type, void *in, const int in_counts[], const int in_places[],
                     MPI_Datatype in_type, MPI_Comm comm)
{
    return exchange(
        s,
        &(side){.buffer = out, .counts = out_counts, .places = out_places, .type = out_type, .general = true},
        &(side){.buffer = in, .counts = in_counts, .places = in_places, .type = in_type, .general = true},
        comm);
}
SG_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, alltoallv,
              SG_LIST(const void *out, const int out_counts[], const int out_places[], MPI_Datatype out_type,
                      void *in, const int in_counts[], const int in_places[], MPI_Datatype in_type,
                      MPI_Comm comm),
              SG_LIST(out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm))

static int alltoallw(sg_schedule **s, const void *out, const int out_counts[], const MPI_Aint out_offsets[],
                     const MPI_Datatype out_types[], void *in, const int in_counts[],
                     const MPI_Aint in_offsets[], const MPI_Datatype in_types[], MPI_Comm comm)
{
    return exchange(
        s,
        &(side){
            .buffer = out, .counts = out_counts, .offsets = out_offsets, .types = out_types, .general = true},
        &(side){.buffer = in, .counts = in_counts, .offsets = in_offsets, .types = in_types, .general = true},
        comm);
}
SG_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, alltoallw,
              SG_LIST(const void *out, const int out_counts[], const MPI_Aint out_offsets[],
                      const MPI_Datatype out_types[], void *in, const int in_counts[],
                      const MPI_Aint in_offsets[], const MPI_Datatype in_types[], MPI_Comm comm),
              SG_LIST(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm))

/* Cartesian topologies. */
#include "sg_mpi_comm_create.h"
#include "sg_mpi_topology.h"

/* Gets the communicator of a handle; an error if it has no Cartesian topology. */
static int cart_of(MPI_Comm comm, sg_comm **c)
{
    *c = sg_comm_of(comm);
    if (*c == NULL)
        return sg_comm_missing(comm);
    if ((*c)->topology == NULL || (*c)->topology->kind != MPI_CART)
        return sg_mpi_error(*c, MPI_ERR_TOPOLOGY, "the communicator has no Cartesian topology");
    return MPI_SUCCESS;
}

static sg_topology *grid(int n, const int sizes[], const int periods[], int rank)
{
    sg_topology *t = sg_mpi_new(sizeof *t);
    t->kind = MPI_CART;
    t->dimensions = n;
    t->sizes = sg_mpi_copy(sizes, (size_t)n * sizeof *sizes);
    t->periods = sg_mpi_copy(periods, (size_t)n * sizeof *periods);
    t->coordinates = sg_mpi_new((size_t)n * sizeof *sizes);
    sg_cart_coordinates(t, rank, t->coordinates);
    return t;
}

SG_API int PMPI_Cart_create(MPI_Comm comm, int n, const int sizes[], const int periods[], int reorder,
                            MPI_Comm *result)
{
    (void)reorder;
    SG_ENTER("Cart_create");
    SG_NEEDS(result)
    if (n > 0)
        SG_NEEDS(sizes, periods)
    sg_comm *c = sg_comm_of(comm), *made;
    if (c == NULL)
        return sg_comm_missing(comm);
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        all *= sizes[i] > 0 ? sizes[i] : 0;
    *result = MPI_COMM_NULL;
    if (n < 0 || all == 0 || all > c->size)
        return sg_mpi_error(c, MPI_ERR_DIMS, "a grid of %lld processes cannot be made of %d", (long long)all,
                            c->size);
    int error = sg_collective_check(c, -1, -1);
    if (error == MPI_SUCCESS)
        error = sg_comm_split(c, c->rank < all ? 0 : MPI_UNDEFINED, c->rank, &made);
    if (error != MPI_SUCCESS)
        return error;
    if (made != NULL)
        made->topology = grid(n, sizes, periods, made->rank);
    *result = made != NULL ? sg_comm_handle(made) : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *result)
{
    SG_ENTER("Cart_sub");
    SG_NEEDS(result)
    sg_comm *c, *made;
    int error = cart_of(comm, &c), color = 0, key = 0, n = 0;
    if (error != MPI_SUCCESS)
        return error;
    const sg_topology *t = c->topology;
    if (t->dimensions > 0)
        SG_NEEDS(remain)
    error = sg_collective_check(c, -1, -1);
    if (error != MPI_SUCCESS)
        return error;
    int *sizes = sg_mpi_new((size_t)t->dimensions * sizeof *sizes);
    int *periods = sg_mpi_new((size_t)t->dimensions * sizeof *periods);
    for (int i = 0; i < t->dimensions; i++) {
        int *of = remain[i] ? &key : &color;
        *of = *of * t->sizes[i] + t->coordinates[i];
        if (!remain[i])
            continue;
        sizes[n] = t->sizes[i];
        periods[n++] = t->periods[i];
    }
    error = sg_comm_split(c, color, key, &made);
    if (error == MPI_SUCCESS) {
        made->topology = grid(n, sizes, periods, made->rank);
        *result = sg_comm_handle(made);
    }
    sg_mpi_free(sizes);
    sg_mpi_free(periods);
    return error;
}

SG_API int PMPI_Cart_coords(MPI_Comm comm, int rank, int room, int coordinates[])
{
    SG_ENTER("Cart_coords");
    if (room > 0)
        SG_NEEDS(coordinates)
    sg_comm *c;
    int error = cart_of(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    if (rank < 0 || rank >= c->size)
        return sg_mpi_error(c, MPI_ERR_RANK, "rank %d is not one of the %d ranks of the communicator", rank,
                            c->size);
    if (room < c->topology->dimensions)
        return sg_mpi_error(c, MPI_ERR_ARG, "there is room for %d coordinates of %d", room,
                            c->topology->dimensions);
    sg_cart_coordinates(c->topology, rank, coordinates);
    return MPI_SUCCESS;
}

SG_API int PMPI_Cart_rank(MPI_Comm comm, const int coordinates[], int *rank)
{
    SG_ENTER("Cart_rank");
    SG_NEEDS(rank)
    sg_comm *c;
    int error = cart_of(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    if (c->topology->dimensions > 0)
        SG_NEEDS(coordinates)
    *rank = sg_cart_rank(c->topology, coordinates);
    if (*rank == MPI_PROC_NULL)
        return sg_mpi_error(c, MPI_ERR_ARG, "the coordinates are outside of the grid");
    return MPI_SUCCESS;
}

SG_API int PMPI_Cartdim_get(MPI_Comm comm, int *n)
{
    SG_ENTER("Cartdim_get");
    SG_NEEDS(n)
    sg_comm *c;
    int error = cart_of(comm, &c);
    if (error == MPI_SUCCESS)
        *n = c->topology->dimensions;
    return error;
}

SG_API int PMPI_Cart_get(MPI_Comm comm, int room, int sizes[], int periods[], int coordinates[])
{
    SG_ENTER("Cart_get");
    if (room > 0)
        SG_NEEDS(sizes, periods, coordinates)
    sg_comm *c;
    int error = cart_of(comm, &c);
    for (int i = 0; error == MPI_SUCCESS && i < c->topology->dimensions && i < room; i++) {
        sizes[i] = c->topology->sizes[i];
        periods[i] = c->topology->periods[i];
        coordinates[i] = c->topology->coordinates[i];
    }
    return error;
}

SG_API int PMPI_Cart_shift(MPI_Comm comm, int dimension, int distance, int *source, int *destination)
{
    SG_ENTER("Cart_shift");
    SG_NEEDS(source, destination)
    sg_comm *c;
    int error = cart_of(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    const sg_topology *t = c->topology;
    if (dimension < 0 || dimension >= t->dimensions)
        return sg_mpi_error(c, MPI_ERR_DIMS, "dimension %d is not one of the %d", dimension, t->dimensions);
    int at = t->coordinates[dimension];
    t->coordinates[dimension] = at - distance;
    *source = sg_cart_rank(t, t->coordinates);
    t->coordinates[dimension] = at + distance;
    *destination = sg_cart_rank(t, t->coordinates);
    t->coordinates[dimension] = at;
    return MPI_SUCCESS;
}

SG_API int PMPI_Topo_test(MPI_Comm comm, int *kind)
{
    SG_ENTER("Topo_test");
    SG_NEEDS(kind)
    const sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    *kind = c->topology != NULL ? c->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

SG_MPI_NAME(Cart_create)
SG_MPI_NAME(Cart_sub)
SG_MPI_NAME(Cart_coords)
SG_MPI_NAME(Cart_rank)
SG_MPI_NAME(Cartdim_get)
SG_MPI_NAME(Cart_get)
SG_MPI_NAME(Cart_shift)
SG_MPI_NAME(Topo_test)

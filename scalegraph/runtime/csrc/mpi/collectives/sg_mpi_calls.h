/* How collective functions are defined: a builder turns the arguments into a schedule; the blocking function
 * runs it, the nonblocking one returns a request for it. */
#ifndef SG_MPI_CALLS_H
#define SG_MPI_CALLS_H

#include <limits.h>

#include "sg_mpi_collective.h"
#include "sg_mpi_request.h"

#define SG_LIST(...) __VA_ARGS__
#define SG_COLLECTIVE(name, begins, build, parameters, arguments)                                            \
    SG_API int PMPI_##name(parameters)                                                                       \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        sg_schedule *s = NULL;                                                                               \
        int error = build(&s, arguments);                                                                    \
        return error != MPI_SUCCESS ? error : sg_schedule_run(s);                                            \
    }                                                                                                        \
    SG_MPI_NAME(name)                                                                                        \
    SG_API int PMPI_##begins(parameters, MPI_Request *request)                                               \
    {                                                                                                        \
        SG_ENTER(#begins);                                                                                   \
        SG_NEEDS(request)                                                                                    \
        sg_schedule *s = NULL;                                                                               \
        int error = build(&s, arguments);                                                                    \
        if (error == MPI_SUCCESS)                                                                            \
            *request = sg_request_of_schedule(s);                                                            \
        return error;                                                                                        \
    }                                                                                                        \
    SG_MPI_NAME(begins)

/* ---- sg_mpi_collective.c ---- */

#define SG_NO_ROOT INT_MIN /* the call has no root; not -1, which a program may pass by mistake */

/* Begins a collective operation: checks the communicator, the root, and that the other ranks do the same. */
int sg_collective_begin(MPI_Comm comm, int root, int64_t bytes, sg_schedule **s);
/* The same for `count` items, which all ranks must pass; `op`: of a reduction, otherwise NULL. */
int sg_collective_begin_typed(MPI_Comm comm, int root, int64_t count, sg_type *type, const sg_mpi_op *op,
                              sg_schedule **s);
/* The same for a list of counts, one per rank and equal on all ranks; NULL: all ranks have the same count. */
int sg_collective_begin_list(MPI_Comm comm, int64_t count, const int counts[], sg_type *type,
                             const sg_mpi_op *op, sg_schedule **s);
/* ---- sg_mpi_buffers.c ---- */

/* Gets the type of a handle for the operation, and checks the buffer for `count` items of it. */
int sg_collective_type(MPI_Comm comm, const void *buffer, MPI_Datatype handle, int64_t count, sg_type **type);
/* The same for blocks with these counts and displacements, one per rank of the communicator. */
int sg_collective_types(MPI_Comm comm, const void *buffer, MPI_Datatype handle, const int counts[],
                        const int places[], sg_type **type);
/* Checks that send and receive buffers do not overlap; a side whose type is NULL is not checked. */
int sg_collective_apart(sg_comm *c, const void *out, int64_t out_count, const sg_type *sent, const void *in,
                        int64_t in_count, const sg_type *got);
/* The same for receiving one block from each rank. */
int sg_blocks_apart(sg_comm *c, const void *out, int64_t out_count, const sg_type *sent, const void *in,
                    const int counts[], const int places[], const sg_type *got);
/* Checks that a rank sends itself as much as it expects from itself; if not, the schedule gets the error but
 * goes on. */
void sg_own_block(sg_schedule *s, int64_t sent_bytes, int64_t expected_bytes);
/* Checks the buffers of a reduction for these item counts; `root` as above. */
int sg_reduction_buffers(sg_comm *c, int root, const void *out, int64_t out_count, const void *in,
                         int64_t in_count, const sg_type *t);

/* ---- sg_mpi_collective.c ---- */

/* One block for each rank in a list, sent or received all at once. Displacements are in bytes. */
typedef struct sg_mpi_block {
    int peer; /* MPI_PROC_NULL: none */
    void *at;
    int64_t count;
    sg_type *type;
} sg_mpi_block;
void sg_exchange(sg_schedule *s, const sg_mpi_block *out, int out_count, const sg_mpi_block *in,
                 int in_count);
/* Address of item `index` of a buffer. */
static inline void *sg_item(const void *buffer, int64_t index, const sg_type *type)
{
    return (char *)(uintptr_t)buffer + index * sg_type_extent(type);
}
/* Data of items as contiguous bytes: in place if they are flat, otherwise packed. */
void *sg_packed(sg_schedule *s, const void *buffer, int64_t count, sg_type *type);

#endif

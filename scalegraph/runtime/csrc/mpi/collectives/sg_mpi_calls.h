/* How the functions of collective operations are made: a builder makes a schedule of the arguments; one
 * function runs it, another one returns a request for it. */
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

#define SG_NO_ROOT INT_MIN /* no argument of the program: -1 may be one, which is wrong */

/* Begins a collective operation: checks communicator, root and that the other ranks do the same. */
int sg_collective_begin(MPI_Comm comm, int root, int64_t bytes, sg_schedule **s);
/* The same for so many items, of which all ranks must have the same; `op`: of a reduction, else NULL. */
int sg_collective_begin_typed(MPI_Comm comm, int root, int64_t count, sg_type *type, const sg_mpi_op *op,
                              sg_schedule **s);
/* The same for a list of counts, one for each rank and equal on all of them; NULL: all have the same. */
int sg_collective_begin_list(MPI_Comm comm, int64_t count, const int counts[], sg_type *type,
                             const sg_mpi_op *op, sg_schedule **s);
/* ---- sg_mpi_buffers.c ---- */

/* Takes a type out of its handle for the operation, and checks the buffer with so many of its items. */
int sg_collective_type(MPI_Comm comm, const void *buffer, MPI_Datatype handle, int64_t count, sg_type **type);
/* The same for blocks of these counts at these places, one for each rank of the communicator. */
int sg_collective_types(MPI_Comm comm, const void *buffer, MPI_Datatype handle, const int counts[],
                        const int places[], sg_type **type);
/* Checks that what is sent and what is received do not overlap; nothing of a side whose type is NULL. */
int sg_collective_apart(sg_comm *c, const void *out, int64_t out_count, const sg_type *sent, const void *in,
                        int64_t in_count, const sg_type *got);
/* The same for blocks that are received, one of each rank. */
int sg_blocks_apart(sg_comm *c, const void *out, int64_t out_count, const sg_type *sent, const void *in,
                    const int counts[], const int places[], const sg_type *got);
/* What a rank sends itself must be what it expects of itself; else that is the error of the schedule, which
 * goes on all the same. */
void sg_own_block(sg_schedule *s, int64_t sent_bytes, int64_t expected_bytes);
/* Checks the buffers of a reduction, with so many items each; `root` as above. */
int sg_reduction_buffers(sg_comm *c, int root, const void *out, int64_t out_count, const void *in,
                         int64_t in_count, const sg_type *t);

/* ---- sg_mpi_collective.c ---- */

/* One block each to and from a list of ranks, all at once. Displacements are in bytes. */
typedef struct sg_mpi_block {
    int peer; /* MPI_PROC_NULL: none */
    void *at;
    int64_t count;
    sg_type *type;
} sg_mpi_block;
void sg_exchange(sg_schedule *s, const sg_mpi_block *out, int out_count, const sg_mpi_block *in,
                 int in_count);
/* Where item `index` of a buffer is. */
static inline void *sg_item(const void *buffer, int64_t index, const sg_type *type)
{
    return (char *)(uintptr_t)buffer + index * sg_type_extent(type);
}
/* Data of items as bytes of the schedule: in their own place if `flat` there, else packed. */
void *sg_packed(sg_schedule *s, const void *buffer, int64_t count, sg_type *type);

#endif

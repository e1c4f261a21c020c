/* How the functions of collective operations are made: a builder makes a schedule of the arguments; one
 * function runs it, another one returns a request for it. */
#ifndef SG_MPI_CALLS_H
#define SG_MPI_CALLS_H

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
        sg_schedule *s = NULL;                                                                               \
        int error = build(&s, arguments);                                                                    \
        if (error == MPI_SUCCESS)                                                                            \
            *request = sg_request_of_schedule(s);                                                            \
        return error;                                                                                        \
    }                                                                                                        \
    SG_MPI_NAME(begins)

/* ---- sg_mpi_collective.c ---- */

/* Begins a collective operation: checks communicator, root (-1: none) and that the other ranks do the same.
 */
int sg_collective_begin(MPI_Comm comm, int root, int64_t bytes, sg_schedule **s);
/* Takes a type out of its handle for the operation. */
int sg_collective_type(MPI_Comm comm, MPI_Datatype handle, int64_t count, sg_type **type);
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

/* Reduction operations. */
#ifndef SG_MPI_OP_H
#define SG_MPI_OP_H

#include "sg_mpi_type.h"

typedef struct sg_mpi_op {
    const char *name;            /* of a predefined operation */
    MPI_User_function *function; /* of a user-defined operation */
    bool commutes;
    uintptr_t handle;
    uint32_t references;
} sg_mpi_op;

/* The operation of a handle, or NULL. */
sg_mpi_op *sg_op_of(MPI_Op handle);
void sg_op_take(sg_mpi_op *op);
void sg_op_drop(sg_mpi_op *op);
/* to = from op to, item by item. Charged. */
void sg_op_apply(const sg_mpi_op *op, const void *from, void *to, int64_t count, sg_type *type);
/* The value class a predefined operation works on: that of the type, or of the type it duplicates. */
enum sg_class sg_type_class(const sg_type *t);
/* Checks that the operation can be applied to the type. */
int sg_op_argument(sg_comm *comm, MPI_Op handle, const sg_type *type, sg_mpi_op **op);

/* ---- sg_mpi_op_apply.c ---- */

/* Does a predefined operation (by its handle) accept values of a class? If `count` >= 0, it is also
 * applied. */
bool sg_op_values(uintptr_t op, enum sg_class class, const void *from, void *to, int64_t count);

#endif

/* Reduction operations as objects. */
#include "sg_mpi_op.h"
#include "sg_mpi_comm.h"

#define NAMED(operation) {#operation, NULL, true, (uintptr_t)operation, 1}

static sg_mpi_op predefined[] = {
    NAMED(MPI_SUM),    NAMED(MPI_MIN),    NAMED(MPI_MAX),     NAMED(MPI_PROD),  NAMED(MPI_BAND),
    NAMED(MPI_BOR),    NAMED(MPI_BXOR),   NAMED(MPI_LAND),    NAMED(MPI_LOR),   NAMED(MPI_LXOR),
    NAMED(MPI_MINLOC), NAMED(MPI_MAXLOC), NAMED(MPI_REPLACE), NAMED(MPI_NO_OP),
};

sg_mpi_op *sg_op_of(MPI_Op handle)
{
    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
        if (predefined[i].handle == (uintptr_t)handle)
            return &predefined[i];
    return sg_handle_get(SG_KIND_OP, (uintptr_t)handle);
}

void sg_op_take(sg_mpi_op *op)
{
    op->references += op->name == NULL;
}

void sg_op_drop(sg_mpi_op *op)
{
    if (op->name == NULL && --op->references == 0)
        sg_mpi_free(op);
}

enum sg_class sg_type_class(const sg_type *t)
{
    while (t->combiner == MPI_COMBINER_DUP)
        t = t->types[0];
    return t->class;
}

void sg_op_apply(const sg_mpi_op *op, const void *from, void *to, int64_t count, sg_type *type)
{
    enum sg_class class = sg_type_class(type);
    sg_mpi_charge_op((uint64_t)(count * type->elements),
                     class >= SG_CLASS_FLOAT && class <= SG_CLASS_COMPLEX_QUAD);
    if (op->handle == (uintptr_t)MPI_NO_OP)
        return;
    if (op->handle == (uintptr_t)MPI_REPLACE) {
        sg_type_copy(from, count, type, to, count, type);
        return;
    }
    if (op->name != NULL) {
        sg_op_values(op->handle, class, from, to, count);
        return;
    }
    int items = (int)count;
    MPI_Datatype handle = sg_type_handle(type);
    sg_type_take(type);
    op->function((void *)(uintptr_t)from, to, &items, &handle);
    sg_type_drop(type);
    if (!type->predefined)
        sg_handle_free((uintptr_t)handle);
}

int sg_op_argument(sg_comm *comm, MPI_Op handle, const sg_type *type, sg_mpi_op **op)
{
    *op = sg_op_of(handle);
    if (*op == NULL)
        return sg_mpi_error(comm, MPI_ERR_OP,
                            handle == MPI_OP_NULL ? "the operation is MPI_OP_NULL"
                                                  : "the operation does not exist (was it freed?)");
    bool any = (*op)->name == NULL || handle == MPI_REPLACE || handle == MPI_NO_OP;
    if (!any && !sg_op_values((*op)->handle, sg_type_class(type), NULL, NULL, 0))
        return sg_mpi_error(comm, MPI_ERR_OP, "%s does not work on the datatype %s", (*op)->name,
                            type->label != NULL ? type->label : "that the program made");
    return MPI_SUCCESS;
}

SG_API int PMPI_Op_create(MPI_User_function *function, int commutes, MPI_Op *handle)
{
    SG_ENTER("Op_create");
    SG_NEEDS(handle)
    sg_mpi_op *op = sg_mpi_new(sizeof *op);
    op->function = function;
    op->commutes = commutes != 0;
    op->references = 1;
    op->handle = sg_handle_new(SG_KIND_OP, op);
    *handle = (MPI_Op)op->handle;
    return MPI_SUCCESS;
}

SG_API int PMPI_Op_free(MPI_Op *handle)
{
    SG_ENTER("Op_free");
    SG_NEEDS(handle)
    sg_mpi_op *op = sg_handle_get(SG_KIND_OP, (uintptr_t)*handle);
    if (op == NULL)
        return sg_mpi_error(NULL, MPI_ERR_OP, "the operation is predefined or does not exist");
    sg_handle_free((uintptr_t)*handle);
    sg_op_drop(op);
    *handle = MPI_OP_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_Op_commutative(MPI_Op handle, int *commutes)
{
    SG_ENTER("Op_commutative");
    SG_NEEDS(commutes)
    const sg_mpi_op *op = sg_op_of(handle);
    if (op == NULL)
        return sg_mpi_error(NULL, MPI_ERR_OP, "the operation does not exist");
    *commutes = op->commutes;
    return MPI_SUCCESS;
}

SG_API int PMPI_Reduce_local(const void *from, void *to, int count, MPI_Datatype type, MPI_Op handle)
{
    SG_ENTER("Reduce_local");
    sg_type *t;
    sg_mpi_op *op;
    int error = sg_buffer_argument(NULL, from, type, count, &t);
    if (error == MPI_SUCCESS && count * t->size > 0)
        error = sg_buffer_given(NULL, to, t);
    if (error == MPI_SUCCESS && count * t->size > 0 && from == to)
        error = sg_mpi_error(NULL, MPI_ERR_BUFFER, "both buffers are the same");
    if (error == MPI_SUCCESS)
        error = sg_op_argument(NULL, handle, t, &op);
    if (error == MPI_SUCCESS)
        sg_op_apply(op, from, to, count, t);
    return error;
}

SG_MPI_NAME(Op_create)
SG_MPI_NAME(Op_free)
SG_MPI_NAME(Op_commutative)
SG_MPI_NAME(Reduce_local)

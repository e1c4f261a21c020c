/* User-defined error handlers, and those of communicators. */
#include "sg_mpi_comm.h"

void sg_handler_take(MPI_Errhandler handler)
{
    sg_handler *own = sg_handle_get(SG_KIND_HANDLER, (uintptr_t)handler);
    if (own != NULL)
        own->references++;
}

void sg_handler_drop(MPI_Errhandler handler)
{
    sg_handler *own = sg_handle_get(SG_KIND_HANDLER, (uintptr_t)handler);
    if (own == NULL || --own->references > 0)
        return;
    sg_mpi_free(own);
    sg_handle_free((uintptr_t)handler);
}

static int new_handler(enum sg_kind of, void *function, MPI_Errhandler *result)
{
    sg_handler *own = sg_mpi_new(sizeof *own);
    own->of = of;
    own->function = (void (*)(void *, int *, ...))(uintptr_t)function;
    own->references = 1;
    *result = (MPI_Errhandler)sg_handle_new(SG_KIND_HANDLER, own);
    return MPI_SUCCESS;
}

bool sg_handler_exists(MPI_Errhandler handler)
{
    return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT || handler == MPI_ERRORS_RETURN ||
           sg_handle_get(SG_KIND_HANDLER, (uintptr_t)handler) != NULL;
}

SG_API int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)
{
    SG_ENTER("Comm_create_errhandler");
    SG_NEEDS(handler)
    return new_handler(SG_KIND_COMM, (void *)(uintptr_t)function, handler);
}

SG_API int PMPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *handler)
{
    SG_ENTER("File_create_errhandler");
    SG_NEEDS(handler)
    return new_handler(SG_KIND_FILE, (void *)(uintptr_t)function, handler);
}

SG_API int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *function, MPI_Errhandler *handler)
{
    SG_ENTER("Win_create_errhandler");
    SG_NEEDS(handler)
    return new_handler(SG_KIND_WINDOW, (void *)(uintptr_t)function, handler);
}

SG_API int PMPI_Errhandler_free(MPI_Errhandler *handler)
{
    SG_ENTER("Errhandler_free");
    SG_NEEDS(handler)
    if (!sg_handler_exists(*handler))
        return sg_mpi_error(NULL, MPI_ERR_ERRHANDLER, "the error handler does not exist");
    sg_handler_drop(*handler);
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    SG_ENTER("Comm_set_errhandler");
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    if (!sg_handler_exists(handler))
        return sg_mpi_error(c, MPI_ERR_ERRHANDLER, "the error handler does not exist");
    sg_handler_take(handler);
    sg_handler_drop(c->handler);
    c->handler = handler;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
    SG_ENTER("Comm_get_errhandler");
    SG_NEEDS(handler)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    sg_handler_take(c->handler);
    *handler = c->handler;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_call_errhandler(MPI_Comm comm, int error)
{
    SG_ENTER("Comm_call_errhandler");
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    const char *text = sg_mpi_error_text(error);
    sg_mpi_raise(c, c->handler, error, text != NULL ? text : "unknown error");
    return MPI_SUCCESS;
}

SG_MPI_NAME(Comm_create_errhandler)
SG_MPI_NAME(File_create_errhandler)
SG_MPI_NAME(Win_create_errhandler)
SG_MPI_NAME(Errhandler_free)
SG_MPI_NAME(Comm_set_errhandler)
SG_MPI_NAME(Comm_get_errhandler)
SG_MPI_NAME(Comm_call_errhandler)

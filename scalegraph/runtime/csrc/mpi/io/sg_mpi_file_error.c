/* Errors of files and their error handlers; without a file, MPI_FILE_NULL's handler is used. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "sg_mpi_file.h"

enum { FAILED = -1 };

static MPI_Errhandler default_handler(void)
{
    MPI_Errhandler own = sg_mpi_self()->file_handler;
    return own != NULL ? own : MPI_ERRORS_RETURN;
}

int sg_file_error(sg_mpi_file *f, int error, const char *format, ...)
{
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    uintptr_t handle = f != NULL ? f->handle : (uintptr_t)MPI_FILE_NULL;
    int made = sg_mpi_raise_of(handle, f != NULL ? f->handler : default_handler(), error, sentence);
    sg_mpi_self()->file_error = made;
    return FAILED;
}

int sg_file_result(int error)
{
    return error == FAILED ? sg_mpi_self()->file_error : error;
}

int sg_file_missing(MPI_File handle)
{
    if (handle == MPI_FILE_NULL)
        return sg_file_error(NULL, MPI_ERR_FILE, "the file is MPI_FILE_NULL");
    return sg_file_error(NULL, MPI_ERR_FILE, "the file %#llx does not exist (was it closed?)",
                         (unsigned long long)(uintptr_t)handle);
}

static int class_of(int number)
{
    switch (number) {
    case EACCES:
    case EPERM:
        return MPI_ERR_ACCESS;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case ENAMETOOLONG:
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
        return MPI_ERR_BAD_FILE;
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case ENOSPC:
        return MPI_ERR_NO_SPACE;
    case EDQUOT:
        return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
        return MPI_ERR_FILE_IN_USE;
    default:
        return MPI_ERR_IO;
    }
}

int sg_file_failed(sg_mpi_file *f, const char *name, const char *what, int number)
{
    return sg_file_error(f, class_of(number), "the file '%s' cannot be %s: %s", name, what, strerror(number));
}

int sg_file_type(sg_mpi_file *f, MPI_Datatype handle, int64_t count, sg_type **type)
{
    *type = sg_type_of(handle);
    if (count < 0)
        return sg_file_error(f, MPI_ERR_COUNT, "the count is %lld", (long long)count);
    if (*type == NULL)
        return sg_file_error(f, MPI_ERR_TYPE,
                             handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                         : "the datatype does not exist (was it freed?)");
    if (!(*type)->committed)
        return sg_file_error(f, MPI_ERR_TYPE, "the datatype was not committed with MPI_Type_commit");
    return MPI_SUCCESS;
}

int sg_file_seekable(sg_mpi_file *f)
{
    if ((f->amode & MPI_MODE_SEQUENTIAL) == 0)
        return MPI_SUCCESS;
    return sg_file_error(f, MPI_ERR_UNSUPPORTED_OPERATION,
                         "the file '%s' was opened with MPI_MODE_SEQUENTIAL: only the shared pointer moves",
                         f->all->name);
}

int sg_file_writable(sg_mpi_file *f)
{
    if ((f->amode & MPI_MODE_RDONLY) == 0)
        return MPI_SUCCESS;
    return sg_file_error(f, MPI_ERR_READ_ONLY, "the file '%s' was opened with MPI_MODE_RDONLY", f->all->name);
}

/* ---- error handlers ---- */

SG_FILE_CALL(set_errhandler, (MPI_File file, MPI_Errhandler handler), (file, handler))
{
    struct sg_mpi *m = sg_mpi_self();
    sg_mpi_file *f = sg_file_of(file);
    if (f == NULL && file != MPI_FILE_NULL)
        return sg_file_missing(file);
    if (!sg_handler_exists(handler))
        return sg_file_error(f, MPI_ERR_ERRHANDLER, "the error handler does not exist");
    MPI_Errhandler *place = f != NULL ? &f->handler : &m->file_handler;
    sg_handler_take(handler);
    sg_handler_drop(*place);
    *place = handler;
    return MPI_SUCCESS;
}

SG_FILE_CALL(get_errhandler, (MPI_File file, MPI_Errhandler *handler), (file, handler))
{
    const sg_mpi_file *f = sg_file_of(file);
    if (f == NULL && file != MPI_FILE_NULL)
        return sg_file_missing(file);
    *handler = f != NULL ? f->handler : default_handler();
    sg_handler_take(*handler);
    return MPI_SUCCESS;
}

SG_FILE_CALL(call_errhandler, (MPI_File file, int error), (file, error))
{
    sg_mpi_file *f = sg_file_of(file);
    if (f == NULL && file != MPI_FILE_NULL)
        return sg_file_missing(file);
    const char *text = sg_mpi_error_text(error);
    sg_file_error(f, error, "%s", text != NULL ? text : "unknown error");
    return MPI_SUCCESS;
}

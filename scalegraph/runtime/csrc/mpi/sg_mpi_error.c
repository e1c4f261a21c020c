/* Errors: classes, user-defined codes, error handlers, and the message that ends a run. */
#include <stdarg.h>
#include <stdio.h>

#include "sg_mpi_comm.h"
#include "sg_rank.h"

#define TEXT(name, text) [MPI_##name] = "MPI_" #name ": " text

static const char *const texts[] = {
    [MPI_SUCCESS] = "MPI_SUCCESS: no error",
    TEXT(ERR_BUFFER, "invalid buffer"),
    TEXT(ERR_COUNT, "invalid count"),
    TEXT(ERR_TYPE, "invalid datatype"),
    TEXT(ERR_TAG, "invalid tag"),
    TEXT(ERR_COMM, "invalid communicator"),
    TEXT(ERR_RANK, "invalid rank"),
    TEXT(ERR_REQUEST, "invalid request"),
    TEXT(ERR_ROOT, "invalid root"),
    TEXT(ERR_GROUP, "invalid group"),
    TEXT(ERR_OP, "invalid operation"),
    TEXT(ERR_TOPOLOGY, "invalid topology"),
    TEXT(ERR_DIMS, "invalid dimensions"),
    TEXT(ERR_ARG, "invalid argument"),
    TEXT(ERR_UNKNOWN, "unknown error"),
    TEXT(ERR_TRUNCATE, "message truncated"),
    TEXT(ERR_OTHER, "other error"),
    TEXT(ERR_INTERN, "internal error"),
    TEXT(ERR_PENDING, "the request has not been completed"),
    TEXT(ERR_IN_STATUS, "the error is in the status"),
    TEXT(ERR_ACCESS, "permission denied"),
    TEXT(ERR_AMODE, "invalid access mode"),
    TEXT(ERR_BAD_FILE, "invalid file name"),
    TEXT(ERR_BASE, "invalid base"),
    TEXT(ERR_CONVERSION, "error in a conversion function"),
    TEXT(ERR_DISP, "invalid displacement"),
    TEXT(ERR_DUP_DATAREP, "the data representation exists already"),
    TEXT(ERR_FILE_EXISTS, "the file exists"),
    TEXT(ERR_FILE_IN_USE, "the file is in use"),
    TEXT(ERR_FILE, "invalid file"),
    TEXT(ERR_INFO_KEY, "invalid key of an info object"),
    TEXT(ERR_INFO_NOKEY, "no such key in the info object"),
    TEXT(ERR_INFO_VALUE, "invalid value of an info object"),
    TEXT(ERR_INFO, "invalid info object"),
    TEXT(ERR_IO, "input or output failed"),
    TEXT(ERR_KEYVAL, "invalid attribute key"),
    TEXT(ERR_LOCKTYPE, "invalid type of lock"),
    TEXT(ERR_NAME, "no such name"),
    TEXT(ERR_NO_MEM, "no memory"),
    TEXT(ERR_NOT_SAME, "arguments differ between processes"),
    TEXT(ERR_NO_SPACE, "no space in the file system"),
    TEXT(ERR_NO_SUCH_FILE, "no such file"),
    TEXT(ERR_PORT, "invalid port"),
    TEXT(ERR_QUOTA, "quota exceeded"),
    TEXT(ERR_READ_ONLY, "read-only file or file system"),
    TEXT(ERR_RMA_ATTACH, "memory cannot be attached"),
    TEXT(ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    TEXT(ERR_RMA_RANGE, "the target is not in the window"),
    TEXT(ERR_RMA_SHARED, "memory cannot be shared"),
    TEXT(ERR_RMA_SYNC, "wrong synchronisation of a window"),
    TEXT(ERR_SERVICE, "invalid service name"),
    TEXT(ERR_SIZE, "invalid size"),
    TEXT(ERR_SPAWN, "processes cannot be started"),
    TEXT(ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    TEXT(ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    TEXT(ERR_WIN, "invalid window"),
    TEXT(ERR_RMA_FLAVOR, "wrong flavour of window"),
    TEXT(ERR_PROC_ABORTED, "a process has aborted"),
    TEXT(ERR_VALUE_TOO_LARGE, "value too large"),
    TEXT(ERR_SESSION, "invalid session"),
    TEXT(ERR_ERRHANDLER, "invalid error handler"),
    TEXT(ERR_ABI, "wrong binary interface"),
};
enum { KNOWN = sizeof texts / sizeof texts[0] };

/* What MPI_Add_error_class or _code created; NULL: not a user-defined error. */
static sg_error_text *own_error(int error)
{
    struct sg_mpi *m = sg_mpi_self();
    int64_t at = (int64_t)error - MPI_ERR_LASTCODE - 1;
    return at >= 0 && at < m->error_count ? &m->errors[at] : NULL;
}

const char *sg_mpi_error_text(int error)
{
    const sg_error_text *own = own_error(error);
    if (own != NULL)
        return own->text != NULL ? own->text : "";
    return error >= 0 && error < KNOWN && texts[error] != NULL ? texts[error] : NULL;
}

int sg_mpi_class_of(int error)
{
    const sg_error_text *own = own_error(error);
    return own != NULL ? own->class_of : error;
}

/* ---- ending a run ---- */

static void end(const char *sentence) __attribute__((noreturn));
static void end(const char *sentence)
{
    const struct sg_mpi *m = sg_mpi_self();
    sg_settle();
    sg_stop(SG_STATUS_CRASHED, "rank %u: %s at 0x%llx: %s", sg_mpi_number(), m->call,
            (unsigned long long)(uintptr_t)m->site, sentence);
}

void sg_mpi_fatal(const char *format, ...)
{
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    end(sentence);
}

int sg_mpi_raise_of(uintptr_t object, MPI_Errhandler handler, int error, const char *sentence)
{
    if (handler == MPI_ERRORS_RETURN)
        return error;
    const sg_handler *own = sg_handle_get(SG_KIND_HANDLER, (uintptr_t)handler);
    if (own == NULL)
        end(sentence);
    own->function(&object, &error, sentence);
    return error;
}

int sg_mpi_raise(sg_comm *comm, MPI_Errhandler handler, int error, const char *sentence)
{
    MPI_Comm named = comm != NULL ? sg_comm_handle(comm) : MPI_COMM_WORLD;
    return sg_mpi_raise_of((uintptr_t)named, handler, error, sentence);
}

int sg_mpi_error(sg_comm *comm, int error, const char *format, ...)
{
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    const struct sg_mpi *m = sg_mpi_self();
    if (comm == NULL)
        comm = m->self != NULL ? m->world : NULL;
    return sg_mpi_raise(comm, comm != NULL ? comm->handler : MPI_ERRORS_ARE_FATAL, error, sentence);
}

bool sg_mpi_first_time(const void *one, const void *other)
{
    enum { NAMED = 16 }; /* more are not worth the space */
    static const void *known[NAMED][2] = {{NULL}};
    static uint32_t count = 0;
    sg_settle();
    for (uint32_t i = 0; i < count; i++)
        if (known[i][0] == one && known[i][1] == other)
            return false;
    if (count == NAMED)
        return false;
    known[count][0] = one;
    known[count++][1] = other;
    return true;
}

int sg_mpi_null(const char *names, int which)
{
    for (; which > 0; which--)
        names = strchr(names, ',') + 2;
    return sg_mpi_error(NULL, MPI_ERR_ARG, "the argument '%.*s' is a null pointer", (int)strcspn(names, ","),
                        names);
}

int sg_comm_missing(MPI_Comm handle)
{
    if (handle == MPI_COMM_NULL)
        return sg_mpi_error(NULL, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
    return sg_mpi_error(NULL, MPI_ERR_COMM, "the communicator %#llx does not exist (was it freed?)",
                        (unsigned long long)(uintptr_t)handle);
}

/* ---- codes ---- */

static int add_error(int class_of, int *error)
{
    struct sg_mpi *m = sg_mpi_self();
    m->errors = sg_mpi_resize(m->errors, (m->error_count + 1) * sizeof *m->errors);
    *error = MPI_ERR_LASTCODE + 1 + (int)m->error_count;
    m->errors[m->error_count++] = (sg_error_text){class_of < 0 ? *error : class_of, NULL};
    return MPI_SUCCESS;
}

SG_API int PMPI_Add_error_class(int *class_of)
{
    SG_ENTER("Add_error_class");
    SG_NEEDS(class_of)
    return add_error(-1, class_of);
}

SG_API int PMPI_Add_error_code(int class_of, int *error)
{
    SG_ENTER("Add_error_code");
    SG_NEEDS(error)
    if (sg_mpi_error_text(class_of) == NULL)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the error class %d does not exist", class_of);
    return add_error(class_of, error);
}

SG_API int PMPI_Add_error_string(int error, const char *text)
{
    SG_ENTER("Add_error_string");
    sg_error_text *own = own_error(error);
    if (own == NULL)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the error code %d is not one of the program's own", error);
    sg_mpi_free(own->text);
    own->text = sg_mpi_string(text);
    return MPI_SUCCESS;
}

SG_API int PMPI_Error_class(int error, int *class_of)
{
    sg_mpi_enter_always("MPI_Error_class", SG_CALLER);
    SG_NEEDS(class_of)
    if (sg_mpi_error_text(error) == NULL)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the error code %d does not exist", error);
    *class_of = sg_mpi_class_of(error);
    return MPI_SUCCESS;
}

SG_API int PMPI_Error_string(int error, char *text, int *length)
{
    sg_mpi_enter_always("MPI_Error_string", SG_CALLER);
    SG_NEEDS(text, length)
    const char *known = sg_mpi_error_text(error);
    if (known == NULL)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the error code %d does not exist", error);
    *length = snprintf(text, MPI_MAX_ERROR_STRING, "%s", known);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Add_error_class)
SG_MPI_NAME(Add_error_code)
SG_MPI_NAME(Add_error_string)
SG_MPI_NAME(Error_class)
SG_MPI_NAME(Error_string)

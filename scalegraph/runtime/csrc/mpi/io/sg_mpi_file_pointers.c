/* File pointers: individual and shared. */
#include "sg_mpi_file.h"

/* Position that `whence` refers to; -1 with *error set. */
static int64_t origin(sg_mpi_file *f, int whence, int64_t current, int *error)
{
    switch (whence) {
    case MPI_SEEK_SET:
        return 0;
    case MPI_SEEK_CUR:
        return current;
    case MPI_SEEK_END:
        sg_events_settle();
        return sg_file_etypes_before(&f->view, sg_file_size(f));
    default:
        *error =
            sg_file_error(f, MPI_ERR_ARG, "%d is not MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
        return -1;
    }
}

static int target(sg_mpi_file *f, MPI_Offset offset, int whence, int64_t current, int64_t *to)
{
    int error = MPI_SUCCESS;
    *to = origin(f, whence, current, &error);
    if (error != MPI_SUCCESS)
        return error;
    *to += offset;
    if (*to < 0)
        return sg_file_error(f, MPI_ERR_ARG, "the pointer would be at %lld", (long long)*to);
    return MPI_SUCCESS;
}

static int64_t own_position(const sg_mpi_file *f)
{
    return f->view.unit > 0 ? f->position / f->view.unit : 0;
}

SG_FILE_CALL(seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
{
    SG_FILE(f, file)
    int64_t to;
    int error = sg_file_seekable(f);
    if (error == MPI_SUCCESS)
        error = target(f, offset, whence, own_position(f), &to);
    if (error == MPI_SUCCESS)
        f->position = to * f->view.unit;
    return error;
}

SG_FILE_CALL(get_position, (MPI_File file, MPI_Offset *offset), (file, offset))
{
    SG_FILE(f, file)
    int error = sg_file_seekable(f);
    if (error == MPI_SUCCESS)
        *offset = own_position(f);
    return error;
}

SG_FILE_CALL(seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
{
    SG_FILE(f, file)
    int64_t to;
    int error = sg_file_seekable(f);
    if (error == MPI_SUCCESS)
        error = sg_file_agree(f, offset, "the offset");
    if (error == MPI_SUCCESS)
        error = sg_file_agree(f, whence, "the origin of the offset");
    if (error == MPI_SUCCESS)
        error = target(f, offset, whence, f->all->pointer, &to);
    if (error == MPI_SUCCESS)
        error = sg_file_meet(f); /* wait until all ranks have read the pointer */
    if (error == MPI_SUCCESS && f->comm->rank == 0)
        sg_file_pointer_set(f, to);
    return error != MPI_SUCCESS ? error : sg_file_meet(f);
}

SG_FILE_CALL(get_position_shared, (MPI_File file, MPI_Offset *offset), (file, offset))
{
    SG_FILE(f, file)
    int error = sg_file_seekable(f);
    if (error == MPI_SUCCESS)
        *offset = sg_file_pointer_move(f, 0);
    return error;
}

/* Queries and settings of a file: size, group, mode, hints, atomicity. */
#include <errno.h>
#include <fcntl.h>

#include "sg_mpi_file.h"

/* ---- size ---- */

SG_FILE_CALL(get_size, (MPI_File file, MPI_Offset *size), (file, size))
{
    SG_FILE(f, file)
    sg_events_settle();
    *size = sg_file_size(f);
    return MPI_SUCCESS;
}

/* The first rank does it when all have arrived; no rank goes on before. */
static int change_size(sg_mpi_file *f, MPI_Offset size, bool shrinks)
{
    int error = sg_file_writable(f);
    if (error == MPI_SUCCESS && size < 0)
        error = sg_file_error(f, MPI_ERR_ARG, "the size is %lld", (long long)size);
    if (error == MPI_SUCCESS)
        error = sg_file_agree(f, size, "the size");
    if (error != MPI_SUCCESS)
        return error;
    int number = 0;
    if (f->comm->rank == 0 && (shrinks || sg_file_size(f) < size) && ftruncate(f->all->host, size) != 0)
        number = errno;
    error = sg_file_meet(f);
    return number == 0 ? error : sg_file_failed(f, f->all->name, "given another size", number);
}

SG_FILE_CALL(set_size, (MPI_File file, MPI_Offset size), (file, size))
{
    SG_FILE(f, file)
    int error = sg_file_seekable(f);
    return error != MPI_SUCCESS ? error : change_size(f, size, true);
}

SG_FILE_CALL(preallocate, (MPI_File file, MPI_Offset size), (file, size))
{
    SG_FILE(f, file)
    return change_size(f, size, false);
}

/* ---- settings given when it was opened ---- */

SG_FILE_CALL(get_amode, (MPI_File file, int *amode), (file, amode))
{
    SG_FILE(f, file)
    *amode = f->amode;
    return MPI_SUCCESS;
}

SG_FILE_CALL(get_group, (MPI_File file, MPI_Group *group), (file, group))
{
    SG_FILE(f, file)
    *group = sg_group_new(sg_members_take(f->comm->members));
    return MPI_SUCCESS;
}

/* Hints are stored but have no effect. */
SG_FILE_CALL(set_info, (MPI_File file, MPI_Info info), (file, info))
{
    SG_FILE(f, file)
    sg_info_merge(&f->info, info);
    return sg_file_meet(f);
}

SG_FILE_CALL(get_info, (MPI_File file, MPI_Info *info), (file, info))
{
    SG_FILE(f, file)
    *info = sg_info_copy(f->info);
    return MPI_SUCCESS;
}

/* ---- consistency: all ranks see a transfer at once, in order of simulated time ---- */

SG_FILE_CALL(set_atomicity, (MPI_File file, int flag), (file, flag))
{
    SG_FILE(f, file)
    int error = sg_file_agree(f, flag != 0, "the flag");
    if (error == MPI_SUCCESS)
        f->atomic = flag != 0;
    return error;
}

SG_FILE_CALL(get_atomicity, (MPI_File file, int *flag), (file, flag))
{
    SG_FILE(f, file)
    *flag = f->atomic;
    return MPI_SUCCESS;
}

SG_FILE_CALL(sync, (MPI_File file), (file))
{
    SG_FILE(f, file)
    return sg_file_meet(f);
}

/* Common part of all calls that transfer data: checks, position, coordination with other ranks, and the
 * result. */
#include "sg_mpi_comm_create.h"
#include "sg_mpi_file.h"

/* ---- checks ---- */

static int check_way(sg_mpi_file *f, int how, MPI_Offset offset)
{
    if ((how & SG_FILE_AT) != 0 && offset < 0)
        return sg_file_error(f, MPI_ERR_ARG, "the offset is %lld", (long long)offset);
    if ((how & SG_FILE_WRITES) == 0 && (f->amode & MPI_MODE_WRONLY) != 0)
        return sg_file_error(f, MPI_ERR_ACCESS, "the file '%s' was opened with MPI_MODE_WRONLY",
                             f->all->name);
    if ((how & SG_FILE_TOGETHER) != 0 && f->split != NULL)
        return sg_file_error(f, MPI_ERR_IO, "%s is not ended yet", f->split);
    int error = (how & SG_FILE_WRITES) != 0 ? sg_file_writable(f) : MPI_SUCCESS;
    if (error == MPI_SUCCESS && (how & SG_FILE_SHARED) == 0)
        error = sg_file_seekable(f);
    return error;
}

enum { LOWEST = 4096 }; /* data never has a lower address */

/* `etypes`: number of etypes in the items. */
static int check_data(sg_mpi_file *f, const void *buffer, int count, MPI_Datatype type, sg_type **t,
                      int64_t *etypes)
{
    int error = sg_file_type(f, type, count, t);
    if (error != MPI_SUCCESS)
        return error;
    if (count > 0 && (*t)->size > 0 && (uintptr_t)buffer + (uintptr_t)(*t)->true_lb < LOWEST)
        return sg_file_error(f, MPI_ERR_BUFFER, "the buffer is NULL, but the count is not 0");
    int64_t bytes = sg_file_bytes(f, *t, count), unit = f->view.unit;
    if (unit > 0 && bytes % unit != 0)
        return sg_file_error(f, MPI_ERR_IO,
                             "%lld bytes of the file are not a multiple of the %lld bytes of the etype",
                             (long long)bytes, (long long)unit);
    if (bytes > 0 && f->view.data == 0 && (f->amode & MPI_MODE_RDONLY) == 0)
        return sg_file_error(f, MPI_ERR_IO, "the filetype of the view has no data, but %lld bytes are passed",
                             (long long)bytes);
    *etypes = unit > 0 ? bytes / unit : 0;
    return MPI_SUCCESS;
}

/* ---- collective transfers ---- */

/* Where each rank begins: the shared pointer, advanced by the data of the ranks before it. */
static int in_order(sg_mpi_file *f, int64_t etypes, int64_t *begin)
{
    int64_t *all = sg_mpi_new((size_t)f->comm->size * sizeof *all), before = 0, total = 0, from = 0;
    int error = sg_comm_collect(f->comm, &etypes, sizeof etypes, all);
    for (int i = 0; i < f->comm->size; i++) {
        before += i < f->comm->rank ? all[i] : 0;
        total += all[i];
    }
    sg_mpi_free(all);
    if (error == MPI_SUCCESS && f->comm->rank == 0)
        from = sg_file_pointer_move(f, total);
    if (error == MPI_SUCCESS)
        error = sg_comm_share(f->comm, &from, sizeof from, 0);
    *begin = from + before;
    return error;
}

/* The ranks exchange the ranges they access, as in a library that merges them (two-phase I/O). */
static sg_schedule *exchange_ranges(sg_mpi_file *f, int64_t at, int64_t bytes)
{
    typedef struct range {
        int64_t at, bytes;
    } range;
    sg_schedule *s = sg_schedule_new(f->comm);
    range *all = sg_schedule_memory(s, (int64_t)sizeof *all * f->comm->size);
    int64_t *sizes = sg_schedule_memory(s, (int64_t)sizeof *sizes * (f->comm->size + 1));
    for (int i = 0; i < f->comm->size; i++)
        sizes[i] = sizeof *all;
    all[f->comm->rank] = (range){at, bytes};
    sg_algorithm_allgather(s, (char *)all, sizes);
    return s;
}

/* ---- the call ---- */

static int begin_at(sg_mpi_file *f, int how, MPI_Offset offset, int64_t etypes, int64_t *at)
{
    int error = MPI_SUCCESS;
    int64_t unit = f->view.unit;
    if ((how & SG_FILE_TOGETHER) != 0)
        error = sg_collective_check(f->comm, -1, -1);
    if (error != MPI_SUCCESS)
        return error;
    if ((how & SG_FILE_SHARED) == 0)
        *at = (how & SG_FILE_AT) != 0 ? offset * unit : f->position;
    else if ((how & SG_FILE_TOGETHER) != 0)
        error = in_order(f, etypes, at);
    else
        *at = sg_file_pointer_move(f, etypes);
    if ((how & SG_FILE_SHARED) != 0)
        *at *= unit;
    return error;
}

int sg_file_move(MPI_File file, int how, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type,
                 MPI_Status *status, MPI_Request *request)
{
    SG_FILE(f, file)
    sg_type *t;
    int64_t at, moved = 0, passed = 0, etypes;
    int error = check_data(f, buffer, count, type, &t, &etypes);
    if (error == MPI_SUCCESS)
        error = check_way(f, how, offset);
    if (error == MPI_SUCCESS)
        error = begin_at(f, how, offset, etypes, &at);
    if (error != MPI_SUCCESS)
        return error;
    sg_schedule *s = NULL;
    if ((how & SG_FILE_TOGETHER) != 0 && (how & SG_FILE_SHARED) == 0)
        s = exchange_ranges(f, at, etypes * f->view.unit);
    if (s != NULL && request == NULL)
        error = sg_schedule_run(s);
    if (error != MPI_SUCCESS)
        return error;
    bool writes = (how & SG_FILE_WRITES) != 0;
    error = sg_file_transfer(f, at, (void *)(uintptr_t)buffer, count, t, writes, &moved, &passed);
    if ((how & (SG_FILE_AT | SG_FILE_SHARED)) == 0)
        f->position = at + passed;
    if (request != NULL)
        *request = sg_request_of_file(f->comm, moved, s);
    if ((how & SG_FILE_SPLIT) != 0) {
        f->split = sg_mpi_self()->call;
        status = &f->split_status;
    }
    sg_status_empty(status, MPI_ANY_SOURCE);
    sg_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved, false);
    return error;
}

int sg_file_end(MPI_File file, const char *began, MPI_Status *status)
{
    SG_FILE(f, file)
    if (f->split == NULL)
        return sg_file_error(f, MPI_ERR_IO, "no split collective operation has begun");
    if (strcmp(f->split, began) != 0)
        return sg_file_error(f, MPI_ERR_IO, "it does not end the operation that has begun: %s", f->split);
    f->split = NULL;
    sg_status_empty(status, MPI_ANY_SOURCE);
    sg_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, sg_status_bytes(&f->split_status), false);
    return MPI_SUCCESS;
}

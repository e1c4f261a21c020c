/* Opening and closing files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "sg_arch.h"
#include "sg_mpi_comm_create.h"
#include "sg_mpi_file.h"
#include "sg_observer.h"
#include "sg_sync.h"

void sg_files_name_left(const struct sg_mpi *m)
{
    const sg_mpi_file *first = NULL;
    uint32_t left = 0;
    for (uint32_t i = 1; i < m->place_count; i++) {
        if (m->places[i].object == NULL || m->places[i].kind != SG_KIND_FILE)
            continue;
        first = left++ == 0 ? m->places[i].object : first;
    }
    char text[300];
    if (left == 0)
        return;
    snprintf(text, sizeof text,
             "rank %u ends MPI with %u files that it has not closed, the first of %s at 0x%llx",
             sg_mpi_number(), left, first->call, (unsigned long long)(uintptr_t)first->site);
    sg_warn(text);
}

/* ---- opening ---- */

/* What each rank sends to the others. */
typedef struct part {
    int amode;
    uint32_t context;
} part;

/* What the first rank reports to the others. */
typedef struct opened {
    sg_file_all *all; /* NULL: opening failed */
    int number;       /* errno of the host */
} opened;

static int check_mode(int amode)
{
    int ways = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    if (ways == 0 || (ways & (ways - 1)) != 0)
        return sg_file_error(NULL, MPI_ERR_AMODE,
                             "the mode %d has not exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and "
                             "MPI_MODE_RDWR",
                             amode);
    if (ways == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
        return sg_file_error(NULL, MPI_ERR_AMODE,
                             "MPI_MODE_RDONLY goes with neither MPI_MODE_CREATE nor MPI_MODE_EXCL");
    if (ways == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
        return sg_file_error(NULL, MPI_ERR_AMODE, "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR");
    return MPI_SUCCESS;
}

/* In "ufs:name", MPICH's prefix names the file system. */
static const char *path_of(const char *name)
{
    static const char *const systems[] = {"ufs:", "nfs:", "xfs:", "pvfs2:", "lustre:", "gpfs:", "testfs:"};
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        if (strncmp(name, systems[i], strlen(systems[i])) == 0)
            return name + strlen(systems[i]);
    return name;
}

static opened open_host(const char *name, int amode)
{
    int flags = O_CLOEXEC | ((amode & MPI_MODE_RDONLY) != 0   ? O_RDONLY
                             : (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY
                                                              : O_RDWR);
    flags |= (amode & MPI_MODE_CREATE) != 0 ? O_CREAT : 0;
    flags |= (amode & MPI_MODE_EXCL) != 0 ? O_EXCL : 0;
    long host = sg_arch_syscall(SYS_openat, AT_FDCWD, (long)path_of(name), flags, 0666);
    if (host < 0)
        return (opened){NULL, (int)-host};
    sg_file_all *all = sg_mpi_new(sizeof *all);
    *all = (sg_file_all){.host = (int)host, .amode = amode, .name = sg_mpi_string(path_of(name))};
    all->line = sg_variables_of(1, SG_OWN_LOCK);
    all->pointed = sg_rank_self();
    return (opened){all, 0};
}

static sg_mpi_file *new_file(sg_comm *c, sg_file_all *all, int amode, uint32_t context, MPI_Info info)
{
    const struct sg_mpi *m = sg_mpi_self();
    sg_mpi_file *f = sg_mpi_new(sizeof *f);
    sg_ranks_serve();
    f->all = all;
    f->amode = amode;
    f->call = m->call;
    f->site = m->site;
    f->handler = m->file_handler != NULL ? m->file_handler : MPI_ERRORS_RETURN;
    sg_handler_take(f->handler);
    f->info = info == MPI_INFO_NULL ? info : sg_info_copy(info);
    f->comm = sg_comm_new(context, sg_members_take(c->members), NULL);
    f->comm->handler = MPI_ERRORS_ARE_FATAL;
    sg_observe_communicator(context, c->members->size, "file", f->site);
    sg_file_view_bytes(&f->view);
    f->handle = sg_handle_new(SG_KIND_FILE, f);
    all->references++;
    if ((amode & MPI_MODE_APPEND) != 0)
        f->position = all->pointer = sg_file_size(f);
    return f;
}

static int check_arguments(MPI_Comm comm, const char *name, int amode, MPI_Info info, sg_comm **c)
{
    *c = sg_comm_of(comm);
    if (*c == NULL || (*c)->remote != NULL)
        return sg_file_error(NULL, MPI_ERR_COMM,
                             comm == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL"
                             : *c == NULL          ? "the communicator does not exist (was it freed?)"
                                                   : "the communicator is an intercommunicator");
    if (name == NULL || *name == 0)
        return sg_file_error(NULL, MPI_ERR_BAD_FILE, "the name of the file is empty");
    if (info != MPI_INFO_NULL && sg_handle_get(SG_KIND_INFO, (uintptr_t)info) == NULL)
        return sg_file_error(NULL, MPI_ERR_INFO, "the info object does not exist");
    return check_mode(amode);
}

/* Checks that all ranks pass the same mode; *context: from the first rank. */
static int agree_on_mode(sg_comm *c, int amode, uint32_t *context)
{
    part own = {amode, sg_comm_context()}, *parts = sg_mpi_new((size_t)c->size * sizeof *parts);
    int error = sg_comm_collect(c, &own, sizeof own, parts), odd = -1;
    for (int i = 0; i < c->size && odd < 0; i++)
        odd = parts[i].amode != parts[0].amode ? i : -1;
    if (error == MPI_SUCCESS && odd >= 0)
        error = sg_file_error(NULL, MPI_ERR_NOT_SAME, "the mode is %d on rank 0, but %d on rank %d",
                              parts[0].amode, parts[odd].amode, odd);
    *context = parts[0].context;
    sg_mpi_free(parts);
    return error;
}

SG_FILE_CALL(open, (MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *file),
             (comm, name, amode, info, file))
{
    sg_comm *c;
    uint32_t context;
    opened result = {NULL, 0};
    *file = MPI_FILE_NULL;
    int error = check_arguments(comm, name, amode, info, &c);
    if (error == MPI_SUCCESS)
        error = sg_collective_check(c, -1, -1);
    if (error == MPI_SUCCESS)
        error = agree_on_mode(c, amode, &context);
    if (error != MPI_SUCCESS)
        return error;
    if (c->rank == 0) {
        sg_events_settle();
        result = open_host(name, amode);
    }
    error = sg_comm_share(c, &result, sizeof result, 0);
    if (error == MPI_SUCCESS && result.all == NULL)
        error = sg_file_failed(NULL, name, "opened", result.number);
    if (result.all == NULL)
        return error;
    sg_mpi_file *f = new_file(c, result.all, amode, context, info);
    *file = (MPI_File)f->handle;
    return sg_file_meet(f);
}

/* ---- closing ---- */

static void release(sg_mpi_file *f)
{
    if (--f->all->references == 0) {
        sg_arch_syscall(SYS_close, f->all->host, 0, 0, 0);
        sg_mpi_free(f->all->name);
        sg_mpi_free(f->all);
    }
    sg_file_view_drop(&f->view);
    sg_handler_drop(f->handler);
    sg_info_free(f->info);
    sg_handle_free(f->comm->handle);
    sg_comm_drop(f->comm);
    sg_handle_free(f->handle);
    sg_mpi_free(f);
}

SG_FILE_CALL(close, (MPI_File * file), (file))
{
    SG_FILE(f, *file)
    if (f->split != NULL)
        return sg_file_error(f, MPI_ERR_IO, "%s is not ended yet", f->split);
    int error = sg_file_meet(f);
    if (error == MPI_SUCCESS && (f->amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
        if (f->comm->rank == 0)
            sg_arch_unlink(f->all->name);
        error = sg_file_meet(f);
    }
    release(f);
    *file = MPI_FILE_NULL;
    return error;
}

SG_FILE_CALL(delete, (const char *name, MPI_Info info), (name, info))
{
    (void)info;
    if (name == NULL || *name == 0)
        return sg_file_error(NULL, MPI_ERR_BAD_FILE, "the name of the file is empty");
    sg_events_settle();
    long result = sg_arch_unlink(path_of(name));
    return result == 0 ? MPI_SUCCESS : sg_file_failed(NULL, path_of(name), "deleted", (int)-result);
}

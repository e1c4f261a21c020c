/* Beginning and end of MPI, what a rank asks about itself, and time. */
#include <errno.h>

#include "sg_mpi.h"
#include "sg_posix.h"

sg_mpi *sg_mpi_enter(const char *call, const void *site)
{
    sg_enter(site);
    sg_rank *rank = sg_rank_self();
    if (rank == NULL)
        sg_stop(SG_STATUS_UNSUPPORTED, "the program called %s at 0x%llx, but it was built without mpi.h",
                call, (unsigned long long)(uintptr_t)site);
    if (rank->mpi == NULL || !rank->mpi->initialized || rank->mpi->finalized)
        sg_stop(SG_STATUS_CRASHED, "rank %u called %s at 0x%llx %s", rank->number, call,
                (unsigned long long)(uintptr_t)site,
                rank->mpi != NULL && rank->mpi->finalized ? "after MPI_Finalize" : "before MPI_Init");
    rank->call = call;
    return rank->mpi;
}

static uint32_t *everybody = NULL; /* rank in MPI_COMM_WORLD -> the same */

static void open_mpi(int level)
{
    sg_rank *rank = sg_rank_self();
    if (everybody == NULL) {
        everybody = sg_new(sg->ranks * sizeof *everybody);
        for (uint32_t i = 0; i < sg->ranks; i++)
            everybody[i] = i;
    }
    rank->mpi = sg_new(sizeof *rank->mpi);
    *rank->mpi = (sg_mpi){
        .initialized = true,
        .thread_level = level,
        .comm_world = {0, (int)rank->number, (int)sg->ranks, everybody},
        .comm_self = {2, 0, 1, &everybody[rank->number]},
    };
}

static int begin(int level, const char *call, const void *site)
{
    sg_enter(site);
    sg_rank *rank = sg_rank_self();
    if (rank == NULL)
        sg_stop(SG_STATUS_UNSUPPORTED, "the program called %s at 0x%llx, but it was built without mpi.h",
                call, (unsigned long long)(uintptr_t)site);
    if (rank->mpi != NULL)
        sg_stop(SG_STATUS_CRASHED, "rank %u called %s at 0x%llx a second time", rank->number, call,
                (unsigned long long)(uintptr_t)site);
    rank->call = call;
    open_mpi(level);
    return PMPI_Barrier(MPI_COMM_WORLD);
}

SG_API int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return begin(MPI_THREAD_SINGLE, "MPI_Init", SG_CALLER);
}
SG_MPI_ALIAS(Init)

SG_API int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    *provided = required;
    return begin(required, "MPI_Init_thread", SG_CALLER);
}
SG_MPI_ALIAS(Init_thread)

SG_API int PMPI_Finalize(void)
{
    sg_mpi *mpi = sg_mpi_enter("MPI_Finalize", SG_CALLER);
    PMPI_Barrier(MPI_COMM_WORLD);
    mpi->finalized = true;
    sg_rank_self()->call = NULL;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Finalize)

SG_API int PMPI_Initialized(int *flag)
{
    const sg_rank *rank = sg_rank_self();
    *flag = rank != NULL && rank->mpi != NULL;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Initialized)

SG_API int PMPI_Finalized(int *flag)
{
    const sg_rank *rank = sg_rank_self();
    *flag = rank != NULL && rank->mpi != NULL && rank->mpi->finalized;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Finalized)

SG_API int PMPI_Query_thread(int *provided)
{
    *provided = sg_mpi_enter("MPI_Query_thread", SG_CALLER)->thread_level;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Query_thread)

SG_API int PMPI_Is_thread_main(int *flag)
{
    sg_mpi_enter("MPI_Is_thread_main", SG_CALLER);
    *flag = sg_self() == sg_rank_self()->main;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Is_thread_main)

SG_API int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    sg_mpi_enter("MPI_Abort", SG_CALLER);
    sg->exit_code = code;
    sg_stop(SG_STATUS_CRASHED, "rank %u called MPI_Abort with code %d at 0x%llx", sg_rank_self()->number,
            code, (unsigned long long)(uintptr_t)sg_now->site);
}
SG_MPI_ALIAS(Abort)

SG_API int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    sg_mpi_enter("MPI_Comm_rank", SG_CALLER);
    *rank = sg_comm_of(comm)->rank;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Comm_rank)

SG_API int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    sg_mpi_enter("MPI_Comm_size", SG_CALLER);
    *size = sg_comm_of(comm)->size;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Comm_size)

SG_API double PMPI_Wtime(void)
{
    if (!sg_enter(SG_CALLER))
        return 0.0;
    sg_observe_reads_clock(SG_CALLER);
    return (double)sg_now->clock / sg->config.clock_hz;
}
SG_MPI_ALIAS(Wtime)

SG_API double PMPI_Wtick(void)
{
    return 1.0 / sg->config.clock_hz;
}
SG_MPI_ALIAS(Wtick)

SG_API int PMPI_Get_processor_name(char *name, int *length)
{
    sg_mpi_enter("MPI_Get_processor_name", SG_CALLER);
    *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "processor%u", sg_now->id);
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Get_processor_name)

SG_API int PMPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Get_version)

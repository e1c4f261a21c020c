/* Start and end of MPI, time, and names. */
#include <stdio.h>
#include <stdlib.h>

#include "sg_mpi_calls.h"
#include "sg_mpi_file.h"
#include "sg_mpi_window.h"
#include "sg_posix.h"

static int meet(struct sg_mpi *m)
{
    sg_schedule *s = sg_schedule_new(m->world);
    sg_algorithm_barrier(s);
    return sg_schedule_run(s);
}

/* A rank has ended before MPI did: reports the first one. */
static void name_end(int status, const void *site)
{
    static bool named = false;
    sg_rank *rank = sg_rank_self();
    if (rank->mpi->finalised || named)
        return;
    char place[40] = "at the end of main", text[160];
    if (site != NULL)
        snprintf(place, sizeof place, "at 0x%llx", (unsigned long long)(uintptr_t)site);
    snprintf(text, sizeof text, "rank %u ended with exit code %d %s, without MPI_Finalize", rank->number,
             status, place);
    rank->end = sg_mpi_string(text);
    named = true;
    sg_warn(text);
}

/* Explains the first pending requests of a rank. */
static void explain_requests(const sg_rank *rank, char **text, size_t *size, uint32_t *shown)
{
    enum { SHOWN = 3 };
    const struct sg_mpi *m = rank->mpi;
    for (uint32_t i = 1; m != NULL && i < m->place_count && *shown < SHOWN; i++) {
        const sg_request *r = m->places[i].object;
        char partner[32] = "any rank", tag[32] = "";
        if (r == NULL || m->places[i].kind != SG_KIND_REQUEST || !r->active || r->receive == NULL ||
            r->kind != SG_REQUEST_RECEIVE || r->receive->completion.clock != SG_NEVER)
            continue;
        if (r->partner >= 0)
            snprintf(partner, sizeof partner, "rank %d", r->partner);
        if (r->tag >= 0)
            snprintf(tag, sizeof tag, " with tag %d", r->tag);
        int used = snprintf(*text, *size, "; nobody has sent what rank %u's %s at 0x%llx expects from %s%s",
                            rank->number, r->call, (unsigned long long)(uintptr_t)r->site, partner, tag);
        if (used < 0 || (size_t)used >= *size)
            return;
        *text += used;
        *size -= (size_t)used;
        ++*shown;
    }
}

/* For deadlocks and exceeded time limits: which ranks wait for whom. */
static void explain(char *text, size_t size)
{
    sg_messages_explain(text, size);
    size_t used = strlen(text);
    uint32_t shown = 0;
    text += used;
    size -= used;
    for (uint32_t i = 0; i < sg->ranks; i++)
        explain_requests(sg->all_ranks[i], &text, &size, &shown);
}

static int begin(int level, const char *call, const void *site)
{
    struct sg_mpi *m = sg_mpi_enter_always(call, site);
    if (m->initialised)
        sg_mpi_fatal("MPI was initialised already");
    m->initialised = true;
    sg_rank_self()->name_end = name_end;
    sg->explain_deadlock = explain;
    m->thread_level = level;
    sg_comm_open(m);
    return meet(m);
}

SG_API int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return begin(MPI_THREAD_SINGLE, "MPI_Init", SG_CALLER);
}

SG_API int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    *provided = required;
    return begin(required, "MPI_Init_thread", SG_CALLER);
}

/* Reports the first request that the program has not completed. */
static void name_leaks(const struct sg_mpi *m)
{
    uint32_t left = 0;
    const sg_request *first = NULL;
    for (uint32_t i = 1; i < m->place_count; i++) {
        const sg_request *r = m->places[i].object;
        if (r == NULL || m->places[i].kind != SG_KIND_REQUEST || !r->active)
            continue;
        left++;
        first = first == NULL ? r : first;
    }
    if (left == 0)
        return;
    char text[200];
    snprintf(text, sizeof text,
             "rank %u ends MPI with %u request%s that it has not completed, %s%s at 0x%llx", sg_mpi_number(),
             left, left == 1 ? "" : "s", left == 1 ? "of " : "the first of ", first->call,
             (unsigned long long)(uintptr_t)first->site);
    sg_settle();
    sg_warn(text);
}

/* Reports messages that nobody received: called when all ranks have arrived, by the first to go on. */
static void name_messages(void)
{
    static bool looked = false;
    char text[300];
    if (looked)
        return;
    looked = true;
    sg_messages_explain_left(text, sizeof text);
    if (text[0] != '\0')
        sg_warn(text);
}

SG_API int PMPI_Finalize(void)
{
    struct sg_mpi *m = SG_ENTER("Finalize");
    sg_attributes_delete(SG_KIND_COMM, m->self->handle, &m->self->attributes);
    name_leaks(m);
    sg_windows_name_left(m);
    sg_files_name_left(m);
    meet(m);
    name_messages();
    m->finalised = true;
    sg_self()->call = NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_Initialized(int *flag)
{
    const sg_rank *rank = sg_rank_self();
    *flag = rank != NULL && rank->mpi != NULL && rank->mpi->initialised;
    return MPI_SUCCESS;
}

SG_API int PMPI_Finalized(int *flag)
{
    const sg_rank *rank = sg_rank_self();
    *flag = rank != NULL && rank->mpi != NULL && rank->mpi->finalised;
    return MPI_SUCCESS;
}

SG_API int PMPI_Query_thread(int *provided)
{
    const struct sg_mpi *m = SG_ENTER("Query_thread");
    SG_NEEDS(provided)
    *provided = m->thread_level;
    return MPI_SUCCESS;
}

SG_API int PMPI_Is_thread_main(int *flag)
{
    SG_ENTER("Is_thread_main");
    SG_NEEDS(flag)
    *flag = sg_self() == sg_rank_self()->main;
    return MPI_SUCCESS;
}

SG_API int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    sg_mpi_enter_always("MPI_Abort", SG_CALLER);
    sg_settle();
    sg->exit_code = code;
    sg_stop(SG_STATUS_CRASHED, "rank %u called MPI_Abort with code %d at 0x%llx", sg_mpi_number(), code,
            (unsigned long long)(uintptr_t)sg_now->site);
}

SG_API int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}

/* ---- time ---- */

SG_API double PMPI_Wtime(void)
{
    if (!sg_enter(SG_CALLER))
        return 0.0;
    sg_observe_reads_clock(SG_CALLER);
    return (double)sg_clock_now(SG_CALLER) / sg->config.clock_hz;
}

SG_API double PMPI_Wtick(void)
{
    return 1.0 / sg->config.clock_hz;
}

/* ---- names and memory ---- */

SG_API int PMPI_Get_processor_name(char *name, int *length)
{
    SG_ENTER("Get_processor_name");
    SG_NEEDS(name, length)
    *length =
        snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%u", sg_now->id / sg_config_node_processors(&sg->config));
    return MPI_SUCCESS;
}

SG_API int PMPI_Get_version(int *version, int *subversion)
{
    sg_mpi_enter_always("MPI_Get_version", SG_CALLER);
    SG_NEEDS(version, subversion)
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

SG_API int PMPI_Get_library_version(char *version, int *length)
{
    sg_mpi_enter_always("MPI_Get_library_version", SG_CALLER);
    SG_NEEDS(version, length)
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "ScaleGraph (simulated), MPI %d.%d",
                       MPI_VERSION, MPI_SUBVERSION);
    return MPI_SUCCESS;
}

SG_API int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *address)
{
    SG_ENTER("Alloc_mem");
    SG_NEEDS(address)
    SG_INFO(info)
    void *memory = size >= 0 ? malloc((size_t)(size > 0 ? size : 1)) : NULL; /* in the program's own heap */
    if (memory == NULL)
        return sg_mpi_error(NULL, MPI_ERR_NO_MEM, "there is no memory of %lld bytes", (long long)size);
    *(void **)address = memory;
    return MPI_SUCCESS;
}

SG_API int PMPI_Free_mem(void *memory)
{
    SG_ENTER("Free_mem");
    free(memory);
    return MPI_SUCCESS;
}

SG_API int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    sg_mpi_enter_always("MPI_Get_address", SG_CALLER);
    SG_NEEDS(address)
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

SG_API MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint distance)
{
    return base + distance;
}

SG_API MPI_Aint PMPI_Aint_diff(MPI_Aint one, MPI_Aint other)
{
    return one - other;
}

SG_MPI_NAME(Init)
SG_MPI_NAME(Init_thread)
SG_MPI_NAME(Finalize)
SG_MPI_NAME(Initialized)
SG_MPI_NAME(Finalized)
SG_MPI_NAME(Query_thread)
SG_MPI_NAME(Is_thread_main)
SG_MPI_NAME(Abort)
SG_MPI_NAME(Pcontrol)
SG_MPI_NAME(Wtime)
SG_MPI_NAME(Wtick)
SG_MPI_NAME(Get_processor_name)
SG_MPI_NAME(Get_version)
SG_MPI_NAME(Get_library_version)
SG_MPI_NAME(Alloc_mem)
SG_MPI_NAME(Free_mem)
SG_MPI_NAME(Get_address)
SG_MPI_NAME(Aint_add)
SG_MPI_NAME(Aint_diff)

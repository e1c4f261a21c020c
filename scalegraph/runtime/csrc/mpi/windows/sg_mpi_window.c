/* Creating and freeing windows. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sg_mpi_comm_create.h"
#include "sg_mpi_window.h"

int sg_window_missing(MPI_Win handle)
{
    if (handle == MPI_WIN_NULL)
        return sg_mpi_error(NULL, MPI_ERR_WIN, "the window is MPI_WIN_NULL");
    return sg_mpi_error(NULL, MPI_ERR_WIN, "the window %#llx does not exist (was it freed?)",
                        (unsigned long long)(uintptr_t)handle);
}

int sg_window_error(sg_window *w, int error, const char *format, ...)
{
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return sg_mpi_raise_of(w->handle, w->handler, error, sentence);
}

sg_target *sg_window_target(sg_window *w, int rank)
{
    sg_table_entry *entry = sg_table_make(&w->targets, (uint64_t)rank + 1, 16);
    if (entry->number == 0)
        entry->pointer = sg_mpi_new(sizeof(sg_target));
    return entry->pointer;
}

int sg_window_meet(sg_window *w)
{
    int error = sg_collective_check(w->comm, -1, -1);
    if (error != MPI_SUCCESS)
        return error;
    sg_schedule *s = sg_schedule_new(w->comm);
    sg_algorithm_barrier(s);
    return sg_schedule_run(s);
}

void sg_windows_name_left(const struct sg_mpi *m)
{
    const sg_window *first = NULL;
    uint32_t left = 0;
    for (uint32_t i = 1; i < m->place_count; i++) {
        if (m->places[i].object == NULL || m->places[i].kind != SG_KIND_WINDOW)
            continue;
        first = left++ == 0 ? m->places[i].object : first;
    }
    char text[200];
    if (left == 0)
        return;
    snprintf(text, sizeof text,
             "rank %u ends MPI with %u windows that it has not freed, the first of %s at 0x%llx",
             sg_mpi_number(), left, first->call, (unsigned long long)(uintptr_t)first->site);
    sg_warn(text);
}

/* ---- creation ---- */

/* What each rank tells the others about its part. */
typedef struct part {
    char *base;
    int64_t size;
    int unit;
    uint32_t context;
    sg_window_all *all; /* rank 0's is used */
} part;

static sg_window *new_window(int flavor, MPI_Info info)
{
    const struct sg_mpi *m = sg_mpi_self();
    if (sg->lockstep)
        sg_stop(SG_STATUS_UNSUPPORTED, "one-sided communication is not simulated on a SIMD machine");
    sg_window *w = sg_mpi_new(sizeof *w);
    w->flavor = flavor;
    w->model = MPI_WIN_UNIFIED;
    w->handler = MPI_ERRORS_ARE_FATAL;
    w->info = info == MPI_INFO_NULL ? info : sg_info_copy(info);
    w->call = m->call;
    w->site = m->site;
    w->handle = sg_handle_new(SG_KIND_WINDOW, w);
    return w;
}

/* All ranks learn what each one exposes; then the window can be used. */
static int share(sg_window *w, sg_comm *c, part *own, part *parts)
{
    own->context = sg_comm_context();
    own->all = NULL;
    if (c->rank == 0)
        own->all = sg_mpi_new(sizeof *own->all + (size_t)c->size * sizeof own->all->of[0]);
    int error = sg_comm_collect(c, own, sizeof *own, parts);
    if (error != MPI_SUCCESS)
        return error;
    w->all = parts[0].all;
    w->all->references++;
    w->comm = sg_comm_new(parts[0].context, sg_members_take(c->members), NULL);
    sg_handler_take(c->handler);
    w->comm->handler = c->handler;
    sg_observe_communicator(w->comm->context, c->members->size, "window", w->site);
    sg_exposure *e = &w->all->of[c->rank];
    *e = (sg_exposure){.base = own->base, .size = own->size, .unit = own->unit, .holder = -1};
    e->line = sg_variables_of(1, SG_OWN_LOCK);
    w->unit = own->unit;
    w->size = own->size;
    sg_ranks_share(false);
    return MPI_SUCCESS;
}

static int make(sg_comm *c, int flavor, char *base, MPI_Aint size, int unit, MPI_Info info, MPI_Win *win)
{
    part own = {.base = base, .size = size, .unit = unit};
    part *parts = sg_mpi_new((size_t)c->size * sizeof *parts);
    sg_window *w = new_window(flavor, info);
    int error = share(w, c, &own, parts);
    sg_mpi_free(parts);
    if (flavor == MPI_WIN_FLAVOR_ALLOCATE)
        w->memory = base;
    if (error == MPI_SUCCESS)
        error = sg_window_meet(w); /* nobody may access what another rank has not exposed yet */
    *win = (MPI_Win)w->handle;
    return error;
}

static int check(MPI_Comm comm, MPI_Aint size, int unit, MPI_Info info, sg_comm **c)
{
    *c = sg_comm_of(comm);
    if (*c == NULL)
        return sg_comm_missing(comm);
    if ((*c)->remote != NULL)
        return sg_mpi_error(*c, MPI_ERR_COMM, "the communicator is an intercommunicator");
    if (size < 0)
        return sg_mpi_error(*c, MPI_ERR_SIZE, "the size of the window is %lld", (long long)size);
    if (unit <= 0)
        return sg_mpi_error(*c, MPI_ERR_DISP, "the unit of displacements is %d", unit);
    SG_INFO(info)
    return sg_collective_check(*c, -1, -1);
}

SG_API int PMPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    SG_ENTER("Win_create");
    SG_NEEDS(win)
    sg_comm *c;
    int error = check(comm, size, unit, info, &c);
    if (error == MPI_SUCCESS && base == NULL && size > 0)
        error = sg_mpi_error(c, MPI_ERR_BUFFER, "the window of %lld bytes is at NULL", (long long)size);
    return error != MPI_SUCCESS ? error : make(c, MPI_WIN_FLAVOR_CREATE, base, size, unit, info, win);
}

/* Allocates in the running rank's heap. */
static char *memory_of(size_t size)
{
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, size > 0 ? size : 64) != 0)
        sg_mpi_fatal("there is no memory of %zu bytes for the window", size);
    return memory;
}

SG_API int PMPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    SG_ENTER("Win_allocate");
    SG_NEEDS(win)
    sg_comm *c;
    int error = check(comm, size, unit, info, &c);
    if (error != MPI_SUCCESS)
        return error;
    char *memory = memory_of((size_t)size);
    *(void **)base = memory;
    return make(c, MPI_WIN_FLAVOR_ALLOCATE, memory, size, unit, info, win);
}

SG_API int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    SG_ENTER("Win_create_dynamic");
    SG_NEEDS(win)
    sg_comm *c;
    int error = check(comm, 0, 1, info, &c);
    return error != MPI_SUCCESS ? error : make(c, MPI_WIN_FLAVOR_DYNAMIC, NULL, 0, 1, info, win);
}

/* ---- shared memory of a node ---- */

/* The first rank allocates the memory of all, unless each is to have its own. */
static int share_memory(sg_window *w, sg_comm *c, MPI_Aint size, int unit)
{
    const char *apart = sg_info_value(w->info, "alloc_shared_noncontig");
    part own = {.size = size, .unit = unit}, *parts = sg_mpi_new((size_t)c->size * sizeof *parts);
    bool each = apart != NULL && strcmp(apart, "true") == 0;
    if (each && size > 0)
        own.base = w->memory = memory_of((size_t)size);
    int error = share(w, c, &own, parts);
    int64_t total = 0;
    for (int i = 0; i < c->size; total += parts[i++].size)
        w->all->of[i].size = parts[i].size;
    if (error == MPI_SUCCESS && !each) {
        char *base = NULL;
        if (c->rank == 0)
            base = w->memory = memory_of((size_t)total);
        error = sg_comm_share(w->comm, &base, sizeof base, 0);
        for (int i = 0; i < c->rank; i++)
            base += parts[i].size;
        w->all->of[c->rank].base = base;
    }
    sg_mpi_free(parts);
    return error;
}

SG_API int PMPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                                    MPI_Win *win)
{
    SG_ENTER("Win_allocate_shared");
    SG_NEEDS(win)
    sg_comm *c;
    int error = check(comm, size, unit, info, &c);
    for (int i = 0; error == MPI_SUCCESS && i < c->size; i++)
        if (!sg_transport_near(sg_rank_self(), sg->all_ranks[c->world[i]]))
            return sg_mpi_error(c, MPI_ERR_RMA_SHARED, "rank %d of the communicator is on another node", i);
    if (error != MPI_SUCCESS)
        return error;
    sg_window *w = new_window(MPI_WIN_FLAVOR_SHARED, info);
    error = share_memory(w, c, size, unit);
    sg_ranks_share(true);
    if (error == MPI_SUCCESS)
        error = sg_window_meet(w);
    *(void **)base = w->all->of[c->rank].base;
    *win = (MPI_Win)w->handle;
    return error;
}

SG_API int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base)
{
    SG_ENTER("Win_shared_query");
    SG_NEEDS(size, unit)
    SG_WINDOW(w, win)
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return sg_window_error(w, MPI_ERR_RMA_FLAVOR, "the window was made by MPI_Win_create_dynamic");
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= w->comm->size))
        return sg_window_error(w, MPI_ERR_RANK, "rank %d is not one of the %d ranks of the window", rank,
                               w->comm->size);
    for (int i = 0; rank == MPI_PROC_NULL && i < w->comm->size; i++)
        if (w->all->of[i].size > 0)
            rank = i;
    if (w->flavor != MPI_WIN_FLAVOR_SHARED && rank != w->comm->rank)
        rank = -1; /* its memory is not shared */
    *size = rank >= 0 ? w->all->of[rank].size : 0;
    *unit = rank >= 0 ? (int)w->all->of[rank].unit : 1;
    *(void **)base = rank >= 0 ? w->all->of[rank].base : NULL;
    return MPI_SUCCESS;
}

/* ---- memory exposed by a dynamic window ---- */

SG_API int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    SG_ENTER("Win_attach");
    SG_WINDOW(w, win)
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return sg_window_error(w, MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic");
    if (size < 0)
        return sg_window_error(w, MPI_ERR_SIZE, "the size of the memory is %lld", (long long)size);
    sg_exposure *e = &w->all->of[w->comm->rank];
    const char *low = base;
    for (uint32_t i = 0; i < e->region_count && size > 0; i++)
        if (low < e->regions[i].base + e->regions[i].size && e->regions[i].base < low + size)
            return sg_window_error(w, MPI_ERR_RMA_ATTACH, "part of the memory is attached already");
    e->regions = sg_mpi_resize(e->regions, (e->region_count + 1) * sizeof *e->regions);
    e->regions[e->region_count++] = (sg_attached){low, size};
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_detach(MPI_Win win, const void *base)
{
    SG_ENTER("Win_detach");
    SG_WINDOW(w, win)
    sg_events_settle();
    sg_exposure *e = &w->all->of[w->comm->rank];
    for (uint32_t i = 0; i < e->region_count; i++)
        if (e->regions[i].base == base) {
            e->regions[i] = e->regions[--e->region_count];
            return MPI_SUCCESS;
        }
    return sg_window_error(w, MPI_ERR_ARG, "no memory is attached that begins at %p", base);
}

/* ---- freeing ---- */

static void release(sg_window *w)
{
    sg_exposure *own = &w->all->of[w->comm->rank];
    free(w->memory);
    sg_mpi_free(own->regions);
    own->regions = NULL;
    own->region_count = 0;
    if (--w->all->references == 0)
        sg_mpi_free(w->all);
    for (uint32_t i = 0; i < w->targets.size; i++)
        if (w->targets.entry[i].number != 0)
            sg_mpi_free(w->targets.entry[i].pointer);
    sg_handler_drop(w->handler);
    sg_info_free(w->info);
    sg_handle_free(w->comm->handle);
    sg_comm_drop(w->comm);
    sg_handle_free(w->handle);
    sg_mpi_free(w);
}

SG_API int PMPI_Win_free(MPI_Win *win)
{
    SG_ENTER("Win_free");
    SG_NEEDS(win)
    SG_WINDOW(w, *win)
    if (w->locks > 0 || w->all_locked || w->started != NULL || w->posted != NULL)
        return sg_window_error(w, MPI_ERR_RMA_SYNC, "the window is freed within an epoch");
    int error = sg_attributes_delete(SG_KIND_WINDOW, w->handle, &w->attributes);
    if (error != MPI_SUCCESS)
        return error;
    sg_window_complete(w, -1, true);
    error = sg_window_meet(w);
    sg_conflict_forget(&w->all->of[w->comm->rank]);
    release(w);
    *win = MPI_WIN_NULL;
    return error;
}

SG_MPI_NAME(Win_create)
SG_MPI_NAME(Win_allocate)
SG_MPI_NAME(Win_create_dynamic)
SG_MPI_NAME(Win_allocate_shared)
SG_MPI_NAME(Win_shared_query)
SG_MPI_NAME(Win_attach)
SG_MPI_NAME(Win_detach)
SG_MPI_NAME(Win_free)

/* Epochs in which targets take part: fences, and start, complete, post and wait, built from empty
 * messages. */
#include "sg_mpi_window.h"

enum { TAG_POST = 1, TAG_COMPLETE };

/* Raises an error if another kind of epoch is open, which must not be mixed with a fence or MPI_Win_start. */
static int refuse_mixture(sg_window *w)
{
    if (w->locks > 0 || w->all_locked)
        return sg_window_error(w, MPI_ERR_RMA_SYNC, "the window is locked: MPI_Win_unlock comes first");
    if (w->started != NULL)
        return sg_window_error(w, MPI_ERR_RMA_SYNC,
                               "an epoch of MPI_Win_start is open: MPI_Win_complete comes first");
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_fence(int assert, MPI_Win win)
{
    SG_ENTER("Win_fence");
    SG_WINDOW(w, win)
    int error = refuse_mixture(w);
    if (error != MPI_SUCCESS)
        return error;
    sg_window_complete(w, -1, true);
    w->fenced = (assert &MPI_MODE_NOSUCCEED) == 0;
    w->used = false;
    w->fences++;
    return sg_window_meet(w);
}

/* ---- messages between the two sides ---- */

static void notify(const sg_window *w, uint32_t world, int tag)
{
    sg_send *send = sg_message_send(world, w->comm->context, w->comm->rank, tag, NULL, 0, SG_SEND_STANDARD);
    sg_send_free(send);
}

static sg_receive *expect(const sg_window *w, uint32_t world, int tag)
{
    return sg_message_receive(w->comm->context, sg_members_find(w->comm->members, world), (int32_t)world,
                              tag);
}

static void take(sg_receive *r)
{
    sg_wait_receive(r);
    sg_receive_finish(r);
    sg_receive_free(r);
}

/* Gets the members of a group, all of which must belong to the window. */
static int members_of(sg_window *w, MPI_Group group, sg_members **members)
{
    const sg_mpi_group *g = sg_group_of(group);
    if (g == NULL)
        return sg_window_error(w, MPI_ERR_GROUP, "the group does not exist");
    for (uint32_t i = 0; i < g->members->size; i++)
        if (sg_members_find(w->comm->members, g->members->world[i]) == MPI_UNDEFINED)
            return sg_window_error(w, MPI_ERR_GROUP, "rank %u of the group does not belong to the window", i);
    *members = sg_members_take(g->members);
    return MPI_SUCCESS;
}

/* ---- origin side ---- */

static void mark(sg_window *w, bool started)
{
    for (uint32_t i = 0; i < w->started->size; i++)
        sg_window_target(w, sg_members_find(w->comm->members, w->started->world[i]))->started = started;
}

SG_API int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    SG_ENTER("Win_start");
    SG_WINDOW(w, win)
    sg_members *members;
    int error = refuse_mixture(w);
    if (error == MPI_SUCCESS)
        error = members_of(w, group, &members);
    if (error != MPI_SUCCESS)
        return error;
    w->fenced = false;
    w->started = members;
    for (uint32_t i = 0; i < members->size && (assert &MPI_MODE_NOCHECK) == 0; i++)
        take(expect(w, members->world[i], TAG_POST));
    mark(w, true);
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_complete(MPI_Win win)
{
    SG_ENTER("Win_complete");
    SG_WINDOW(w, win)
    if (w->started == NULL)
        return sg_window_error(w, MPI_ERR_RMA_SYNC, "no epoch of MPI_Win_start is open");
    sg_window_complete(w, -1, true);
    for (uint32_t i = 0; i < w->started->size; i++)
        notify(w, w->started->world[i], TAG_COMPLETE);
    mark(w, false);
    sg_members_drop(w->started);
    w->started = NULL;
    return MPI_SUCCESS;
}

/* ---- target side ---- */

SG_API int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    SG_ENTER("Win_post");
    SG_WINDOW(w, win)
    sg_members *members;
    if (w->posted != NULL)
        return sg_window_error(w, MPI_ERR_RMA_SYNC,
                               "an epoch of MPI_Win_post is open: MPI_Win_wait comes first");
    int error = members_of(w, group, &members);
    if (error != MPI_SUCCESS)
        return error;
    w->fenced = false;
    w->posted = members;
    w->completed = sg_mpi_new(members->size * sizeof(sg_receive *));
    for (uint32_t i = 0; i < members->size; i++) {
        w->completed[i] = expect(w, members->world[i], TAG_COMPLETE);
        if ((assert &MPI_MODE_NOCHECK) == 0)
            notify(w, members->world[i], TAG_POST);
    }
    return MPI_SUCCESS;
}

static void end_exposure(sg_window *w)
{
    for (uint32_t i = 0; i < w->posted->size; i++)
        take(w->completed[i]);
    sg_mpi_free(w->completed);
    sg_members_drop(w->posted);
    w->completed = NULL;
    w->posted = NULL;
    sg_events_settle();
}

static int refuse_unposted(sg_window *w)
{
    return sg_window_error(w, MPI_ERR_RMA_SYNC, "no epoch of MPI_Win_post is open");
}

SG_API int PMPI_Win_wait(MPI_Win win)
{
    SG_ENTER("Win_wait");
    SG_WINDOW(w, win)
    if (w->posted == NULL)
        return refuse_unposted(w);
    end_exposure(w);
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_test(MPI_Win win, int *flag)
{
    SG_ENTER("Win_test");
    SG_NEEDS(flag)
    SG_WINDOW(w, win)
    if (w->posted == NULL)
        return refuse_unposted(w);
    *flag = 1;
    for (uint32_t i = 0; i < w->posted->size; i++)
        *flag &= sg_receive_test(w->completed[i]);
    if (*flag)
        end_exposure(w);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Win_fence)
SG_MPI_NAME(Win_start)
SG_MPI_NAME(Win_complete)
SG_MPI_NAME(Win_post)
SG_MPI_NAME(Win_wait)
SG_MPI_NAME(Win_test)

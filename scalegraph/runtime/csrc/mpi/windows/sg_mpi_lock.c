/* Passive-target epochs: locks, and completing accesses within them.
 *
 * A target's lock is a word in its memory. On the target's node it is taken with an atomic reference; from
 * other nodes with a round trip over the network. It is granted in order of arrival in simulated time;
 * adjacent readers in the queue get it together. */
#include <stdio.h>

#include "sg_mpi_window.h"

typedef struct sg_lock_request {
    sg_event event;
    struct sg_lock_request *next;
    sg_exposure *of;
    int type, origin; /* rank in the window */
    sg_rank *from, *to;
    bool releases, settled; /* settled: granted or released */
    sg_completion done;
    sg_thread *waiting;
    sg_talk talk;
    const void *site;
} sg_lock_request;

/* ---- at the target ---- */

static bool free_for(const sg_exposure *e, int type)
{
    return !e->exclusive && (type == MPI_LOCK_SHARED || e->shared == 0);
}

/* The request takes effect at `when`; tells the origin. */
static void settle(sg_lock_request *r, uint64_t when)
{
    uint64_t now = sg_now->clock;
    if (when < now && r->waiting != NULL)
        when = now;
    sg_journey back = {when, when, 0};
    if (!sg_transport_near(r->from, r->to))
        back = sg_transport(r->to, r->from, sg_serve(r->to, when, sg_serve_cycles(0)), 0);
    r->done = (sg_completion){back.arrival, when, back.contention, r->talk, SG_NEVER};
    r->settled = true;
    if (r->waiting != NULL)
        sg_completion_wake(r->waiting, &r->done, sg_now->clock);
}

static void grant_next(sg_exposure *e, uint64_t when)
{
    for (sg_lock_request *r; (r = e->waiting) != NULL && free_for(e, r->type);) {
        e->waiting = r->next;
        e->exclusive = r->type == MPI_LOCK_EXCLUSIVE;
        e->shared += r->type == MPI_LOCK_SHARED;
        e->holder = r->origin;
        e->site = r->site;
        settle(r, when);
    }
}

static void arrive(sg_event *event)
{
    sg_lock_request *r = (sg_lock_request *)event;
    sg_exposure *e = r->of;
    if (r->releases) {
        if (r->type == MPI_LOCK_EXCLUSIVE)
            e->exclusive = false;
        else
            e->shared--;
        settle(r, event->time);
    } else {
        sg_lock_request **end = &e->waiting;
        while (*end != NULL)
            end = &(*end)->next;
        *end = r;
    }
    grant_next(e, event->time);
}

/* ---- at the origin ---- */

static void begin(sg_lock_request *r, sg_window *w, int target, int type, bool releases)
{
    *r = (sg_lock_request){.of = &w->all->of[target], .type = type, .releases = releases};
    r->origin = w->comm->rank;
    r->from = sg_rank_self();
    r->to = sg->all_ranks[w->comm->world[target]];
    r->site = sg_now->site;
    r->talk = (sg_talk){w->comm->context, (int32_t)r->to->number};
    sg_message_talk(r->talk.context, r->talk.peer);
    r->event.happens = arrive;
    if (sg_transport_near(r->from, r->to)) {
        sg_charge_issue(0, false);
        sg_touch(sg_now, r->of->line, SG_RMW, SG_CATEGORY_PRIM_SEND);
        sg_events_settle();
        r->event.time = sg_now->clock;
        arrive(&r->event);
        return;
    }
    sg_charge_issue(0, sg_serve_cycles(0) > 0);
    sg_events_settle();
    sg_journey way = sg_transport(r->from, r->to, sg_now->clock, 0);
    r->event.time = way.arrival;
    r->done = (sg_completion){way.arrival, sg_now->clock, way.contention, r->talk, SG_NEVER};
    sg_event_add(&r->event);
}

static void finish(sg_lock_request *r, sg_window *w, int target)
{
    char what[160];
    if (r->event.time > sg_now->clock) {
        sg_completion_wait(&r->done);
        sg_events_settle();
    }
    if (!r->settled) {
        const sg_exposure *e = r->of;
        int used = snprintf(what, sizeof what, "for the lock of rank %d of the window", target);
        if (e->holder >= 0 && !free_for(e, r->type))
            snprintf(what + used, sizeof what - (size_t)used, ", which rank %d got at 0x%llx,", e->holder,
                     (unsigned long long)(uintptr_t)e->site);
        r->waiting = sg_self();
        sg_completion_suspend(SG_SENDER, e->holder >= 0 ? (int32_t)w->comm->world[e->holder] : SG_ANY, SG_ANY,
                              what);
        r->waiting = NULL;
    }
    sg_completion_wait(&r->done);
    sg_events_settle();
}

static void acquire(sg_window *w, int target, int type)
{
    sg_lock_request r;
    begin(&r, w, target, type, false);
    finish(&r, w, target);
}

static void release(sg_window *w, int target, int type)
{
    sg_lock_request r;
    begin(&r, w, target, type, true);
    finish(&r, w, target);
}

void sg_lock_lazily(sg_window *w, int rank, sg_target *target)
{
    target->lock = MPI_LOCK_SHARED; /* so that no other thread takes it too */
    target->checked = w->all_checked;
    if (!w->all_checked)
        acquire(w, rank, MPI_LOCK_SHARED);
}

/* ---- MPI_Win_lock and MPI_Win_unlock ---- */

static int check_rank(sg_window *w, int rank)
{
    if (rank >= 0 && rank < w->comm->size)
        return MPI_SUCCESS;
    return sg_window_error(w, MPI_ERR_RANK, "rank %d is not one of the %d ranks of the window", rank,
                           w->comm->size);
}

static int refuse_mixture(sg_window *w)
{
    if (w->started != NULL)
        return sg_window_error(w, MPI_ERR_RMA_SYNC,
                               "an epoch of MPI_Win_start is open: MPI_Win_complete comes first");
    if (w->all_locked)
        return sg_window_error(w, MPI_ERR_RMA_SYNC, "all ranks are locked already, by MPI_Win_lock_all");
    if (w->fenced && w->used)
        return sg_window_error(w, MPI_ERR_RMA_SYNC,
                               "an epoch of MPI_Win_fence has accesses: a fence ends it");
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_lock(int type, int rank, int assert, MPI_Win win)
{
    SG_ENTER("Win_lock");
    SG_WINDOW(w, win)
    if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
        return sg_window_error(w, MPI_ERR_LOCKTYPE, "the type of the lock is %d", type);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int error = check_rank(w, rank);
    if (error == MPI_SUCCESS)
        error = refuse_mixture(w);
    if (error != MPI_SUCCESS)
        return error;
    sg_target *t = sg_window_target(w, rank);
    if (t->lock != 0)
        return sg_window_error(w, MPI_ERR_RMA_SYNC, "rank %d is locked already", rank);
    w->fenced = false;
    t->checked = (assert &MPI_MODE_NOCHECK) != 0;
    if (!t->checked)
        acquire(w, rank, type);
    t->lock = type;
    w->locks++;
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_unlock(int rank, MPI_Win win)
{
    SG_ENTER("Win_unlock");
    SG_WINDOW(w, win)
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int error = check_rank(w, rank);
    if (error != MPI_SUCCESS)
        return error;
    sg_target *t = sg_window_target(w, rank);
    if (t->lock == 0 || w->all_locked)
        return sg_window_error(w, MPI_ERR_RMA_SYNC, "rank %d is not locked by MPI_Win_lock", rank);
    sg_window_complete(w, rank, true);
    if (!t->checked)
        release(w, rank, t->lock);
    t->lock = 0;
    w->locks--;
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    SG_ENTER("Win_lock_all");
    SG_WINDOW(w, win)
    int error = refuse_mixture(w);
    if (error == MPI_SUCCESS && w->locks > 0)
        error =
            sg_window_error(w, MPI_ERR_RMA_SYNC, "%u ranks are locked already, by MPI_Win_lock", w->locks);
    if (error != MPI_SUCCESS)
        return error;
    w->fenced = false;
    w->all_locked = true;
    w->all_checked = (assert &MPI_MODE_NOCHECK) != 0;
    return MPI_SUCCESS;
}

/* All locks are released at once. */
static void release_all(sg_window *w)
{
    sg_lock_request *requests = sg_mpi_new((size_t)w->comm->size * sizeof *requests);
    for (int i = 0; i < w->comm->size; i++) {
        const sg_table_entry *entry = sg_table_find(&w->targets, (uint64_t)i + 1);
        const sg_target *t = entry != NULL && entry->number != 0 ? entry->pointer : NULL;
        if (t != NULL && t->lock != 0 && !t->checked)
            begin(&requests[i], w, i, MPI_LOCK_SHARED, true);
    }
    for (int i = 0; i < w->comm->size; i++)
        if (requests[i].of != NULL)
            finish(&requests[i], w, i);
    for (int i = 0; i < w->comm->size; i++) {
        const sg_table_entry *entry = sg_table_find(&w->targets, (uint64_t)i + 1);
        if (entry != NULL && entry->number != 0)
            ((sg_target *)entry->pointer)->lock = 0;
    }
    sg_mpi_free(requests);
}

SG_API int PMPI_Win_unlock_all(MPI_Win win)
{
    SG_ENTER("Win_unlock_all");
    SG_WINDOW(w, win)
    if (!w->all_locked)
        return sg_window_error(w, MPI_ERR_RMA_SYNC, "the window is not locked by MPI_Win_lock_all");
    sg_window_complete(w, -1, true);
    release_all(w);
    w->all_locked = w->all_checked = false;
    return MPI_SUCCESS;
}

/* ---- completion within an epoch ---- */

static int flush(sg_window *w, int rank, bool there)
{
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int error = rank < 0 ? MPI_SUCCESS : check_rank(w, rank);
    if (error != MPI_SUCCESS)
        return error;
    if (!w->all_locked && (rank < 0 ? w->locks == 0 : sg_window_target(w, rank)->lock == 0))
        return sg_window_error(w, MPI_ERR_RMA_SYNC,
                               "no lock is held: neither MPI_Win_lock nor MPI_Win_lock_all");
    sg_window_complete(w, rank, there);
    return MPI_SUCCESS;
}

#define FLUSH(name, there)                                                                                   \
    SG_API int PMPI_##name(int rank, MPI_Win win)                                                            \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        SG_WINDOW(w, win)                                                                                    \
        if (rank < 0 && rank != MPI_PROC_NULL)                                                               \
            return check_rank(w, rank);                                                                      \
        return flush(w, rank, there);                                                                        \
    }                                                                                                        \
    SG_MPI_NAME(name)                                                                                        \
    SG_API int PMPI_##name##_all(MPI_Win win)                                                                \
    {                                                                                                        \
        SG_ENTER(#name "_all");                                                                              \
        SG_WINDOW(w, win)                                                                                    \
        return flush(w, -1, there);                                                                          \
    }                                                                                                        \
    SG_MPI_NAME(name##_all)

FLUSH(Win_flush, true)
FLUSH(Win_flush_local, false)

/* Takes a few cycles, so that simulated time passes in a loop that reads the window's memory. */
SG_API int PMPI_Win_sync(MPI_Win win)
{
    SG_ENTER("Win_sync");
    SG_WINDOW(w, win)
    sg_message_talk(w->comm->context, SG_TALK_NOBODY);
    sg_message_charge(SG_CATEGORY_PRIM_RECEIVE, sg->config.message_match_cycles + 1);
    sg_events_settle();
    return MPI_SUCCESS;
}

SG_MPI_NAME(Win_lock)
SG_MPI_NAME(Win_unlock)
SG_MPI_NAME(Win_lock_all)
SG_MPI_NAME(Win_unlock_all)
SG_MPI_NAME(Win_sync)

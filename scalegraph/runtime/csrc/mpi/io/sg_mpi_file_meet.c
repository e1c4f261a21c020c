/* What the ranks of a file do together: synchronisation, and the shared pointer.
 *
 * The shared pointer is a word in the memory of the file's first rank. Ranks on that node change it with an
 * atomic reference; others with a round trip over the network. */
#include "sg_mpi_comm_create.h"
#include "sg_mpi_file.h"
#include "sg_mpi_window.h"

int sg_file_meet(sg_mpi_file *f)
{
    int error = sg_collective_check(f->comm, -1, -1);
    if (error != MPI_SUCCESS)
        return error;
    sg_schedule *s = sg_schedule_new(f->comm);
    sg_algorithm_barrier(s);
    return sg_schedule_run(s);
}

int sg_file_agree(sg_mpi_file *f, int64_t number, const char *what)
{
    int error = sg_collective_check(f->comm, -1, -1), odd = -1;
    int64_t *all = sg_mpi_new((size_t)f->comm->size * sizeof *all), other = 0;
    if (error == MPI_SUCCESS)
        error = sg_comm_collect(f->comm, &number, sizeof number, all);
    for (int i = 0; i < f->comm->size && odd < 0; i++)
        if (all[i] != all[0]) {
            odd = i;
            other = all[i];
        }
    number = all[0];
    sg_mpi_free(all);
    if (error == MPI_SUCCESS && odd >= 0)
        error = sg_file_error(f, MPI_ERR_NOT_SAME, "%s is %lld on rank 0 of the file, but %lld on rank %d",
                              what, (long long)number, (long long)other, odd);
    return error;
}

/* ---- the shared pointer ---- */

typedef struct change {
    sg_event event;
    sg_file_all *of;
    sg_rank *from;
    int64_t value, old;
    bool sets, settled;
    sg_completion done;
    sg_talk talk;
} change;

static void apply(change *c)
{
    c->old = c->of->pointer;
    c->of->pointer = c->sets ? c->value : c->old + c->value;
    c->settled = true;
}

static void arrive(sg_event *event)
{
    change *c = (change *)event;
    apply(c);
    uint64_t ready = sg_serve(c->of->pointed, event->time, sg_serve_cycles(sizeof c->value));
    sg_journey back = sg_transport(c->of->pointed, c->from, ready, sizeof c->value);
    c->done = (sg_completion){back.arrival, event->time, back.contention, c->talk, SG_NEVER};
}

static int64_t change_pointer(sg_mpi_file *f, int64_t value, bool sets)
{
    change c = {.of = f->all, .from = sg_rank_self(), .value = value, .sets = sets};
    c.talk = (sg_talk){f->comm->context, (int32_t)f->all->pointed->number};
    c.event.happens = arrive;
    sg_message_talk(c.talk.context, c.talk.peer);
    if (sg_transport_near(c.from, f->all->pointed)) {
        sg_charge_issue(0, false);
        sg_touch(sg_now, f->all->line, SG_RMW, SG_CATEGORY_PRIM_SEND);
        sg_events_settle();
        apply(&c);
        return c.old;
    }
    sg_charge_issue(sizeof value, sg_serve_cycles(sizeof value) > 0);
    sg_events_settle();
    sg_journey way = sg_transport(c.from, f->all->pointed, sg_now->clock, sizeof value);
    c.event.time = way.arrival;
    c.done = (sg_completion){way.arrival, sg_now->clock, way.contention, c.talk, SG_NEVER};
    sg_event_add(&c.event);
    while (!c.settled) {
        sg_completion_wait(&c.done);
        sg_events_settle();
    }
    sg_completion_wait(&c.done);
    sg_events_settle();
    return c.old;
}

int64_t sg_file_pointer_move(sg_mpi_file *f, int64_t etypes)
{
    return change_pointer(f, etypes, false);
}

int64_t sg_file_pointer_set(sg_mpi_file *f, int64_t etypes)
{
    return change_pointer(f, etypes, true);
}

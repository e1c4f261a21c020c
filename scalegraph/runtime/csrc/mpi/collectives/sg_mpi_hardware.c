/* Collective operations on a dedicated network that connects all processes: a rank that contributes writes
 * its data into the network and goes on; a rank that takes a result waits until it comes out, a fixed time
 * after the last contribution it needs. The interconnect is not involved. */
#include "sg_mpi_collective.h"

/* An operation in progress, by communicator and number. */
typedef struct meeting {
    struct meeting *next;
    uint32_t context;
    int tag;
    int came;              /* ranks that have arrived */
    bool complete;         /* all contributions that the result needs have been made */
    sg_completion done;    /* valid once complete */
    size_t bytes;          /* of each contribution */
    char *given;           /* all contributions in order of ranks; for a broadcast, the root's */
    sg_receive **awaiting; /* by rank; NULL: has not arrived, or takes no result */
} meeting;

static meeting *meetings = NULL; /* few at a time: no rank gets far ahead of the others */

static bool is_integer(const sg_schedule *s, const sg_type *type)
{
    enum sg_class class = sg_type_class(type);
    bool simple = (class >= SG_CLASS_BYTE && class <= SG_CLASS_I64) ||
                  (class >= SG_CLASS_U8 && class <= SG_CLASS_U64) ||
                  (class >= SG_CLASS_BOOL && class <= SG_CLASS_LOGICAL64);
    uintptr_t op = s->op->handle;
    return simple && s->op->name != NULL && op != (uintptr_t)MPI_PROD && op != (uintptr_t)MPI_REPLACE &&
           op != (uintptr_t)MPI_NO_OP;
}

bool sg_by_hardware(sg_schedule *s, enum sg_collective what, int64_t count, const sg_type *type)
{
    const sg_config *c = &sg->config;
    bool reduces = what == SG_REDUCE || what == SG_ALLREDUCE || what == SG_SCAN;
    if (c->message_collectives != SG_COLLECTIVES_HARDWARE || s->view->remote != NULL ||
        s->view->size != (int)sg->ranks || (uint64_t)(count * type->size) > c->message_collective_bytes)
        return false;
    if ((reduces && !is_integer(s, type)) || !sg_rule_is_open(what, s->view->size))
        return false;
    if (s->algorithm == SG_ALGORITHMS)
        s->algorithm = SG_HARDWARE;
    return true;
}

/* ---- parts of a step ---- */

static meeting *meeting_of(const sg_comm *c, int tag, size_t bytes, bool reduces)
{
    for (meeting *m = meetings; m != NULL; m = m->next)
        if (m->context == c->context && m->tag == tag)
            return m;
    meeting *m = sg_mpi_new(sizeof *m);
    *m = (meeting){.next = meetings, .context = c->context, .tag = tag, .bytes = bytes};
    m->given = sg_mpi_new(bytes * (reduces ? (size_t)c->size : 1));
    m->awaiting = sg_mpi_new((size_t)c->size * sizeof(sg_receive *));
    return meetings = m;
}

static void end_meeting(meeting *m)
{
    meeting **at = &meetings;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    sg_mpi_free(m->given);
    sg_mpi_free(m->awaiting);
    sg_mpi_free(m);
}

static void hand_out(const meeting *m, sg_receive *r, const void *data)
{
    if (r == NULL)
        return;
    r->completion = m->done;
    r->bytes = data != NULL ? m->bytes : 0;
    r->data = data != NULL ? sg_mpi_copy(data, m->bytes) : NULL;
    sg_waiters_wake(r->waiters, &r->completion, sg_now->clock);
}

/* `sum` = `sum` op the contribution of rank `i`; called in order of ranks. */
static void add_given(const sg_schedule *s, const sg_step *step, const meeting *m, int i, char *sum)
{
    char *own = sg_mpi_copy(m->given + (size_t)i * m->bytes, m->bytes);
    if (i > 0)
        sg_op_values(s->op->handle, sg_type_class(step->type), sum, own, step->count);
    memcpy(sum, own, m->bytes);
    sg_mpi_free(own);
}

/* The last contribution has arrived: tells all waiting ranks when they get the result. */
static void complete(const sg_schedule *s, const sg_step *step, meeting *m)
{
    int size = step->comm->size;
    bool scans = step->what == SG_SCAN || step->what == SG_EXSCAN;
    char *sum = sg_mpi_new(m->bytes);
    m->complete = true;
    m->done = (sg_completion){.clock = sg_now->clock + sg_transport_collective(), .met = sg_now->clock};
    m->done.talk = (sg_talk){step->comm->context + 1, (int32_t)sg_rank_self()->number};
    for (int i = 0; i < size && step->what != SG_BCAST && step->what != SG_BARRIER; i++) {
        if (step->what == SG_EXSCAN)
            hand_out(m, m->awaiting[i], sum);
        add_given(s, step, m, i, sum);
        if (step->what == SG_SCAN)
            hand_out(m, m->awaiting[i], sum);
    }
    const void *data = step->what == SG_BARRIER ? NULL : step->what == SG_BCAST ? m->given : sum;
    for (int i = 0; i < size && !scans; i++)
        hand_out(m, m->awaiting[i], data);
    sg_mpi_free(sum);
}

static sg_receive *wait_for(const sg_step *step)
{
    sg_receive *r = sg_mpi_new(sizeof *r);
    *r = (sg_receive){.completion = {.clock = SG_NEVER}, .rank = sg_rank_self(), .source = SG_ANY};
    r->completion.talk = (sg_talk){step->comm->context + 1, SG_TALK_NOBODY};
    r->tag = r->from = SG_ANY;
    r->what = "for the other ranks";
    return r;
}

void sg_hardware_begin(const sg_schedule *s, sg_step *step)
{
    const sg_comm *c = step->comm;
    size_t bytes = (size_t)(step->count * step->type->size);
    bool reduces = step->what != SG_BCAST && step->what != SG_BARRIER;
    char *packed = sg_mpi_new(bytes);
    sg_message_talk(c->context + 1, SG_TALK_NOBODY);
    if (step->from != NULL) {
        sg_type_pack(step->from, step->count, step->type, packed);
        sg_transport_give(bytes);
    }
    sg_turn_of_all(sg_now);
    meeting *m = meeting_of(c, s->tag, bytes, reduces);
    if (step->from != NULL)
        memcpy(m->given + (reduces ? (size_t)c->rank * bytes : 0), packed, bytes);
    sg_mpi_free(packed);
    m->came++;
    if (step->to != NULL || step->what == SG_BARRIER)
        step->receive = m->awaiting[c->rank] = wait_for(step);
    if (m->complete) /* for a broadcast */
        hand_out(m, step->receive, m->given);
    else if (step->what == SG_BCAST ? step->from != NULL : m->came == c->size)
        complete(s, step, m);
    if (m->came == c->size)
        end_meeting(m);
}

void sg_hardware_end(sg_step *step)
{
    sg_receive *r = step->receive;
    step->receive = NULL;
    sg_waiters_leave(&r->waiters);
    if (r->data != NULL)
        sg_type_unpack(r->data, r->bytes, step->to, step->count, step->type);
    sg_mpi_free(r->data);
    sg_mpi_free(r);
}

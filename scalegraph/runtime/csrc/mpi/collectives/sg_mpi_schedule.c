/* Running schedules, one after another and concurrently. */
#include <stdio.h>

#include "sg_alloc.h"
#include "sg_lockstep.h"
#include "sg_mpi_collective.h"
#include "sg_mpi_signature.h"
#include "sg_rank.h"

sg_schedule *sg_schedule_new(sg_comm *comm)
{
    const struct sg_mpi *m = sg_mpi_self();
    sg_schedule *s = sg_mpi_new(sizeof *s);
    s->comm = sg_comm_take(comm);
    s->view = comm;
    s->tag = (int)(comm->collectives++ & 0x3fffffff);
    s->call = m->call;
    s->site = m->site;
    s->began = sg_now->clock;
    s->root = -1;
    s->algorithm = SG_ALGORITHMS;
    return s;
}

void sg_schedule_free(sg_schedule *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->steps[i].type != NULL)
            sg_type_drop(s->steps[i].type);
        if (s->steps[i].kind == SG_STEP_COPY)
            sg_type_drop(s->steps[i].to_type);
    }
    for (uint32_t i = 0; i < s->memory_count; i++)
        sg_mpi_free(s->memory[i]);
    if (s->op != NULL)
        sg_op_drop(s->op);
    sg_mpi_free(s->memory);
    sg_mpi_free(s->steps);
    sg_comm_drop(s->comm);
    sg_mpi_free(s);
}

static void *keep(sg_schedule *s, void *memory)
{
    s->memory = sg_mpi_resize(s->memory, (s->memory_count + 1) * sizeof(void *));
    return s->memory[s->memory_count++] = memory;
}

void *sg_schedule_memory(sg_schedule *s, int64_t size)
{
    return keep(s, sg_mpi_new((size_t)size));
}

/* Items that a function of the program references: allocated in the rank's heap, so that their addresses
 * depend only on what the rank itself does. */
static void *program_memory(sg_schedule *s, int64_t size)
{
    void *memory = sg_alloc_for((size_t)(size > 0 ? size : 1), s->site);
    if (memory == NULL)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the items that %s combines", s->call);
    return keep(s, memory);
}

void *sg_schedule_items(sg_schedule *s, int64_t count, const sg_type *type)
{
    int64_t extent = sg_type_extent(type), span = type->true_ub - type->true_lb;
    int64_t size = count > 0 ? span + (count - 1) * (extent > 0 ? extent : -extent) : 0;
    bool own = s->op == NULL || s->op->name != NULL;
    char *memory = own ? sg_schedule_memory(s, size) : program_memory(s, size);
    return memory - type->true_lb - (extent < 0 && count > 0 ? (count - 1) * extent : 0);
}

static sg_step *add(sg_schedule *s, enum sg_step_kind kind)
{
    if (s->count == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 8;
        s->steps = sg_mpi_resize(s->steps, s->room * sizeof *s->steps);
    }
    sg_step *step = &s->steps[s->count++];
    *step = (sg_step){.kind = (uint8_t)kind, .peer = -1, .comm = s->view};
    return step;
}

void sg_add_send(sg_schedule *s, const void *from, int64_t count, sg_type *type, int peer)
{
    sg_step *step = add(s, SG_STEP_SEND);
    step->from = from;
    step->count = count;
    step->type = sg_type_take(type);
    step->peer = peer;
}

void sg_add_receive(sg_schedule *s, void *to, int64_t count, sg_type *type, int peer)
{
    sg_step *step = add(s, SG_STEP_RECEIVE);
    step->to = to;
    step->count = count;
    step->type = sg_type_take(type);
    step->peer = peer;
}

void sg_add_copy(sg_schedule *s, const void *from, int64_t count, sg_type *type, void *to, int64_t to_count,
                 sg_type *to_type)
{
    sg_step *step = add(s, SG_STEP_COPY);
    step->from = from;
    step->count = count;
    step->type = sg_type_take(type);
    step->to = to;
    step->to_count = to_count;
    step->to_type = sg_type_take(to_type);
}

void sg_add_combine(sg_schedule *s, const void *from, void *to, int64_t count, sg_type *type)
{
    sg_step *step = add(s, SG_STEP_COMBINE);
    step->from = from;
    step->to = to;
    step->count = count;
    step->type = sg_type_take(type);
}

void sg_add_hardware(sg_schedule *s, int what, const void *from, void *to, int64_t count, sg_type *type)
{
    sg_step *step = add(s, SG_STEP_HARDWARE);
    step->what = (uint8_t)what;
    step->from = from;
    step->to = to;
    step->count = count;
    step->type = sg_type_take(type);
    sg_add_wait(s);
}

void sg_add_wait(sg_schedule *s)
{
    if (s->count > 0)
        s->steps[s->count - 1].last = true;
}

void sg_add_call(sg_schedule *s, void (*finish)(void *context), void *context)
{
    sg_add_wait(s);
    add(s, SG_STEP_CALL);
    s->finish = finish;
    s->context = context;
}

/* ---- progress of one schedule ---- */

#define WITHIN_NODE 0x40000000 /* larger than any tag of a schedule */

static int tag_of(const sg_schedule *s, const sg_step *step)
{
    return step->comm->within_node ? s->tag | WITHIN_NODE : s->tag;
}

static void send(const sg_schedule *s, sg_step *step)
{
    size_t bytes = (size_t)(step->count * step->type->size);
    const sg_comm *c = step->comm;
    sg_signature own = {0}; /* received as bytes, which match any type */
    if (step->type != sg_bytes()) {
        own = sg_signature_of(step->type, step->count);
        own.call = s->call;
        own.site = s->site;
    }
    if (sg_type_flat(step->type, step->count)) {
        step->send = sg_message_send_typed(sg_comm_peer(c, step->peer), c->context + 1, c->rank,
                                           tag_of(s, step), (const char *)step->from + step->type->true_lb,
                                           bytes, SG_SEND_STANDARD, &own);
        return;
    }
    char *packed = sg_mpi_new(bytes);
    sg_message_talk(c->context + 1, (int32_t)sg_comm_peer(c, step->peer));
    sg_type_pack(step->from, step->count, step->type, packed);
    step->send = sg_message_send_typed(sg_comm_peer(c, step->peer), c->context + 1, c->rank, tag_of(s, step),
                                       packed, bytes, SG_SEND_STANDARD, &own);
    sg_mpi_free(packed);
}

static void begin_step(const sg_schedule *s, sg_step *step)
{
    switch (step->kind) {
    case SG_STEP_SEND:
        send(s, step);
        break;
    case SG_STEP_RECEIVE:
        step->receive = sg_message_receive(step->comm->context + 1, step->peer,
                                           (int32_t)sg_comm_peer(step->comm, step->peer), tag_of(s, step));
        break;
    case SG_STEP_COPY:
        sg_message_talk(s->comm->context + 1, SG_TALK_NOBODY);
        sg_type_copy(step->from, step->count, step->type, step->to, step->to_count, step->to_type);
        break;
    case SG_STEP_COMBINE:
        sg_message_talk(s->comm->context + 1, SG_TALK_NOBODY);
        sg_op_apply(s->op, step->from, step->to, step->count, step->type);
        break;
    case SG_STEP_HARDWARE:
        sg_hardware_begin(s, step);
        break;
    case SG_STEP_CALL:
        s->finish(s->context);
        break;
    default:
        break;
    }
}

/* A collective operation must receive exactly as much as it expects; the sender's call site is known if it
 * sends its own data. */
static void refuse_size(sg_schedule *s, const sg_step *step, size_t expected)
{
    const sg_receive *r = step->receive;
    const sg_signature *sent = &r->message->signature;
    bool more = r->bytes > expected;
    sg_self()->call = s->call;
    sg_self()->call_site = s->site;
    char place[100] = "", rest[60];
    if (sent->call != NULL)
        snprintf(place, sizeof place, " with %s at 0x%llx", sent->call,
                 (unsigned long long)(uintptr_t)sent->site);
    snprintf(rest, sizeof rest, more ? "there is room for %zu" : "%zu are expected", expected);
    bool away = sg_self()->away;
    sg_rank_return(false); /* an error handler of the program may use its data */
    s->error = sg_mpi_error(s->comm, more ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                            "rank %d has sent %zu bytes to this collective operation%s, but %s", step->peer,
                            r->bytes, place, rest);
    sg_self()->away = away;
}

static void take_data(sg_schedule *s, sg_step *step)
{
    if (step->kind == SG_STEP_HARDWARE) {
        sg_hardware_end(step);
        return;
    }
    sg_receive *r = step->receive;
    size_t room = (size_t)(step->count * step->type->size);
    sg_receive_finish(r);
    if (r->bytes != room)
        refuse_size(s, step, room);
    if (step->type != sg_bytes())
        sg_signature_check(&r->message->signature, r->from, step->type, step->count, s->call, s->site);
    sg_type_unpack(r->data, r->bytes < room ? r->bytes : room, step->to, step->count, step->type);
    sg_receive_free(r);
    step->receive = NULL;
}

static bool receives(const sg_step *step)
{
    return (step->kind == SG_STEP_RECEIVE || step->kind == SG_STEP_HARDWARE) && step->receive != NULL;
}

static bool is_incomplete(const sg_completion *c)
{
    if (c->clock > sg_now->clock)
        sg_settle();
    return c->clock > sg_now->clock;
}

/* Completes a step if possible and releases what it holds; returns whether it is complete. */
static bool end_step(sg_schedule *s, sg_step *step, bool wait)
{
    if (receives(step)) {
        if (wait)
            sg_receive_wait(step->receive);
        else if (is_incomplete(&step->receive->completion))
            return false;
        take_data(s, step);
    }
    if (step->kind == SG_STEP_SEND && step->send != NULL) {
        if (wait)
            sg_send_wait(step->send);
        else if (is_incomplete(&step->send->completion))
            return false;
        sg_send_free(step->send);
        step->send = NULL;
    }
    return true;
}

static bool advance(sg_schedule *s, bool wait)
{
    while (!s->done) {
        if (s->begin == s->end) { /* begin further steps until there are some to wait for */
            bool last = false;
            while (s->end < s->count && !last) {
                sg_step *step = &s->steps[s->end++];
                last = step->last;
                sg_now->coroutine->needs = step;
                begin_step(s, step);
            }
        }
        bool all = true;
        for (uint32_t i = s->begin; i < s->end; i++)
            all &= end_step(s, &s->steps[i], wait);
        if (!all)
            return false;
        s->begin = s->end;
        s->done = s->end >= s->count;
        if (s->done)
            sg_schedule_report(s);
    }
    return true;
}

/* The program's static data is mapped only for schedules that may reference it. */
bool sg_schedule_advance(sg_schedule *s, bool wait)
{
    if (s->busy)
        return false;
    s->busy = true;
    bool before = sg_self()->away;
    if (s->needs_data)
        sg_rank_return(false);
    else
        sg_rank_go_away();
    bool done = advance(s, wait);
    sg_rank_return(before);
    s->busy = false;
    if (s->waiters != NULL) {
        uint64_t now = sg_now->clock;
        sg_waiters_wake(s->waiters, &(sg_completion){now, now, 0, sg_rank_self()->talk, now}, now);
        sg_waiters_leave(&s->waiters);
    }
    return done;
}

/* ---- several schedules ---- */

static void leave(struct sg_mpi *m, const sg_schedule *s)
{
    sg_schedule **at = &m->schedules;
    while (*at != NULL && *at != s)
        at = &(*at)->next;
    if (*at != NULL)
        *at = s->next;
    m->schedule_changes++;
}

/* Another thread may begin and end schedules during a step: then start again with the first. */
void sg_progress(void)
{
    struct sg_mpi *m = sg_mpi_self();
    for (sg_schedule *s = m->schedules, *next; s != NULL; s = next) {
        uint64_t before = m->schedule_changes;
        bool done = sg_schedule_advance(s, false);
        next = m->schedule_changes == before ? s->next : m->schedules;
        if (done)
            leave(m, s);
    }
}

void sg_schedule_start(sg_schedule *s)
{
    struct sg_mpi *m = sg_mpi_self();
    sg_schedule **end = &m->schedules;
    while (*end != NULL)
        end = &(*end)->next;
    *end = s;
    s->needs_data = sg_schedule_needs_data(s);
    if (sg_schedule_advance(s, false))
        leave(m, s);
}

int sg_schedule_run(sg_schedule *s)
{
    struct sg_mpi *m = sg_mpi_self();
    sg_thread *self = sg_self();
    bool before = self->collective;
    self->collective = true;
    if (m->schedules == NULL) {
        if (sg->lockstep && s->comm->remote == NULL)
            sg_lockstep_meet(s->comm->context, s->comm->members->size);
        s->needs_data = sg_schedule_needs_data(s);
        sg_schedule_advance(s, true);
    } else {
        sg_awaited none = {0};
        sg_schedule_start(s);
        bool was = sg_rank_go_away();
        while (!s->done) {
            sg_awaited_wait(&none);
            sg_progress();
        }
        sg_rank_return(was);
    }
    self->collective = before;
    int error = s->error;
    sg_schedule_free(s);
    return error;
}

void sg_awaited_send(sg_awaited *p, sg_send *send)
{
    if (p->send_count == p->send_room) {
        p->send_room = p->send_room > 0 ? 2 * p->send_room : 16;
        p->sends = sg_mpi_resize(p->sends, p->send_room * sizeof(sg_send *));
    }
    p->sends[p->send_count++] = send;
}

void sg_awaited_receive(sg_awaited *p, sg_receive *receive)
{
    if (p->receive_count == p->receive_room) {
        p->receive_room = p->receive_room > 0 ? 2 * p->receive_room : 16;
        p->receives = sg_mpi_resize(p->receives, p->receive_room * sizeof(sg_receive *));
    }
    p->receives[p->receive_count++] = receive;
}

/* Steps of a schedule that another thread is working on are left to it: it may complete them meanwhile. */
void sg_awaited_wait(sg_awaited *p)
{
    sg_schedule *busy = NULL;
    sg_waiter own;
    sg_turn_of_all(sg_now); /* from here on no other thread runs until this one sleeps */
    for (sg_schedule *s = sg_mpi_self()->schedules; s != NULL; s = s->next) {
        if (s->busy)
            busy = s;
        for (uint32_t i = s->begin; i < s->end && !s->busy; i++) {
            const sg_step *step = &s->steps[i];
            if (step->kind == SG_STEP_SEND && step->send != NULL)
                sg_awaited_send(p, step->send);
            if (receives(step))
                sg_awaited_receive(p, step->receive);
        }
    }
    if (busy != NULL)
        sg_waiter_add(&busy->waiters, &own);
    sg_message_wait_first(p->sends, p->send_count, p->receives, p->receive_count, busy != NULL);
    if (busy != NULL)
        sg_waiter_remove(&own);
    sg_mpi_free(p->sends);
    sg_mpi_free(p->receives);
    *p = (sg_awaited){0};
}

void sg_wait_send(sg_send *send)
{
    sg_awaited p = {0};
    sg_progress();
    bool before = sg_rank_go_away();
    while (sg_mpi_self()->schedules != NULL && is_incomplete(&send->completion)) {
        sg_awaited_send(&p, send);
        sg_awaited_wait(&p);
        sg_progress();
    }
    sg_send_wait(send);
    sg_rank_return(before);
}

void sg_wait_receive(sg_receive *receive)
{
    sg_awaited p = {0};
    sg_progress();
    bool before = sg_rank_go_away();
    while (sg_mpi_self()->schedules != NULL && is_incomplete(&receive->completion)) {
        sg_awaited_receive(&p, receive);
        sg_awaited_wait(&p);
        sg_progress();
    }
    sg_receive_wait(receive);
    sg_rank_return(before);
}

/* How accesses reach their targets, in order of simulated time, and what they cost. */
#include "sg_mpi_watch.h"
#include "sg_mpi_window.h"

/* ---- pending events: a heap, earliest first ---- */

static struct {
    sg_event **event; /* indexed from 1 */
    uint32_t count, room;
    uint64_t issued;
} way = {.event = NULL};

static bool before(const sg_event *a, const sg_event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void sg_event_add(sg_event *event)
{
    if (way.count + 1 >= way.room) {
        way.room = way.room > 0 ? 2 * way.room : 64;
        way.event = sg_mpi_resize(way.event, way.room * sizeof(sg_event *));
    }
    event->order = way.issued++;
    uint32_t at = ++way.count;
    for (; at > 1 && before(event, way.event[at / 2]); at /= 2)
        way.event[at] = way.event[at / 2];
    way.event[at] = event;
}

static sg_event *take_first(void)
{
    sg_event *first = way.event[1], *moved = way.event[way.count--];
    uint32_t at = 1;
    for (uint32_t next; (next = 2 * at) <= way.count; at = next) {
        if (next < way.count && before(way.event[next + 1], way.event[next]))
            next++;
        if (!before(way.event[next], moved))
            break;
        way.event[at] = way.event[next];
    }
    way.event[at] = moved;
    return first;
}

void sg_events_settle(void)
{
    sg_turn_of_all(sg_now);
    while (way.count > 0 && way.event[1]->time <= sg_now->clock) {
        sg_event *event = take_first();
        event->happens(event);
    }
}

/* ---- costs ---- */

static uint64_t software(uint64_t cycles, uint64_t byte_millicycles, size_t bytes)
{
    return cycles + (byte_millicycles * bytes + 999) / 1000;
}

static bool by_interface(void)
{
    return sg->config.message_one_sided == SG_ONE_SIDED_INTERFACE;
}

uint64_t sg_serve_cycles(size_t bytes)
{
    const sg_config *c = &sg->config;
    return by_interface() ? 0
                          : software(c->message_receive_cycles, c->message_receive_byte_millicycles, bytes);
}

void sg_charge_issue(size_t bytes, bool by_software)
{
    const sg_config *c = &sg->config;
    uint64_t cycles = by_software ? software(c->message_send_cycles, c->message_send_byte_millicycles, bytes)
                                  : c->message_one_sided_cycles;
    sg_message_charge(SG_CATEGORY_PRIM_SEND, cycles);
}

/* An idle processor serves without losing time. */
uint64_t sg_serve(sg_rank *rank, uint64_t time, uint64_t cycles)
{
    if (cycles == 0)
        return time;
    if (rank->serves_until > time)
        time = rank->serves_until;
    rank->serves_until = time + cycles;
    if (sg->processor[rank->first_processor].thread != NULL)
        rank->served += cycles;
    return rank->serves_until;
}

/* Network interfaces change single words themselves; larger changes are done by the target's processor. */
static bool needs_software(const sg_remote *a)
{
    if (!by_interface())
        return true;
    bool changes = a->kind == SG_ACCUMULATE || a->kind == SG_GET_ACCUMULATE;
    return changes && a->op != (uintptr_t)MPI_NO_OP && a->count * a->type->size > (int64_t)sizeof(uint64_t);
}

static uint64_t work_at_target(const sg_remote *a)
{
    const sg_config *c = &sg->config;
    const uint32_t *cost = c->op_millicycles;
    if (!needs_software(a))
        return 0;
    uint64_t cycles = software(c->message_receive_cycles, c->message_receive_byte_millicycles, a->bytes);
    if (a->answer_bytes > 0)
        cycles += software(c->message_send_cycles, c->message_send_byte_millicycles, a->answer_bytes);
    if (a->kind == SG_ACCUMULATE || a->kind == SG_GET_ACCUMULATE)
        cycles += (uint64_t)(a->count * a->type->elements) *
                  (2ull * cost[SG_OP_LOAD] + cost[SG_OP_STORE] + cost[SG_OP_INT_ALU]) / 1000;
    return cycles;
}

/* ---- an access within a node: references of the running processor ---- */

typedef struct touching {
    const sg_rank *target;
    enum sg_access kind;
} touching;

static void touch_run(char *at, size_t bytes, void *context)
{
    const touching *t = context;
    uint64_t line = sg_line_bytes(), address = (uint64_t)at & ~(line - 1);
    for (; address < (uint64_t)at + bytes; address += line) {
        uint64_t seen = sg_mem_address_of(sg->mem, t->target->first_processor, address);
        sg_touch(sg_now, seen, t->kind, SG_CATEGORY_PRIM_SEND);
    }
}

static void access_near(sg_remote *a)
{
    static const enum sg_access kinds[] = {SG_WRITE, SG_READ, SG_RMW, SG_RMW, SG_RMW};
    touching t = {a->to, kinds[a->kind]};
    bool only_reads = a->kind == SG_GET_ACCUMULATE && a->op == (uintptr_t)MPI_NO_OP;
    if (only_reads)
        t.kind = SG_READ;
    sg_charge_issue(0, false);
    sg_transport_copy(a->bytes + a->answer_bytes);
    if (a->kind == SG_ACCUMULATE || a->kind == SG_GET_ACCUMULATE)
        sg_mpi_charge_op((uint64_t)(a->count * a->type->elements), false);
    sg_type_runs(a->type, a->at, a->count, touch_run, &t);
    sg_events_settle();
    sg_access_apply(a);
    a->applied = true;
    a->here = a->there = (sg_completion){sg_now->clock, sg_now->clock, 0, a->talk, SG_NEVER};
}

/* ---- access between nodes ---- */

/* The access has reached its target: memory changes, and the reply (data or an acknowledgement) leaves. */
static void arrive(sg_event *event)
{
    sg_remote *a = (sg_remote *)event;
    sg_access_apply(a);
    uint64_t ready = sg_serve(a->to, event->time, work_at_target(a));
    sg_journey back = sg_transport(a->to, a->from, ready, a->answer_bytes);
    a->there = (sg_completion){back.arrival, event->time, back.contention, a->talk, SG_NEVER};
    if (a->result_type != NULL)
        a->here = a->there;
    a->applied = true;
    sg_access_drop(a);
}

void sg_access_begin(sg_remote *a, sg_target *target)
{
    sg_message_talk(a->talk.context, a->talk.peer);
    if (sg_transport_near(a->from, a->to)) {
        access_near(a);
        return;
    }
    sg_charge_issue(a->bytes, needs_software(a));
    sg_events_settle();
    uint64_t now = sg_now->clock;
    sg_journey journey = sg_transport(a->from, a->to, now, a->bytes);
    a->event.happens = arrive;
    a->event.time = journey.arrival > target->last ? journey.arrival : target->last;
    target->last = a->event.time;
    a->here = (sg_completion){journey.free, now, 0, a->talk, SG_NEVER};
    a->there = (sg_completion){a->event.time, now, journey.contention, a->talk, SG_NEVER};
    if (a->result_type != NULL)
        a->here = a->there;
    a->references++;
    sg_event_add(&a->event);
}

/* ---- origin ---- */

bool sg_access_done(const sg_remote *a)
{
    return (a->applied || a->result_type == NULL) && a->here.clock <= sg_now->clock;
}

/* Copies the result from the library's memory to the program's buffer; its rank is running. */
static void deliver(sg_remote *a)
{
    if (a->complete)
        return;
    a->complete = true;
    sg_watch_end(a->from, a);
    if (a->result_type != NULL)
        sg_type_unpack(a->answer, a->answer_bytes, a->result, a->result_count, a->result_type);
}

void sg_access_wait(sg_remote *a, bool there)
{
    for (;;) {
        sg_events_settle();
        bool known = a->applied || (!there && a->result_type == NULL);
        const sg_completion *next = there ? &a->there : &a->here;
        if (known && next->clock <= sg_now->clock)
            break;
        sg_completion_wait(next);
    }
    deliver(a);
}

void sg_access_drop(sg_remote *a)
{
    if (--a->references > 0)
        return;
    sg_watch_end(a->from, a);
    sg_type_drop(a->type);
    if (a->result_type != NULL)
        sg_type_drop(a->result_type);
    sg_mpi_free(a->data);
    sg_mpi_free(a->answer);
    sg_mpi_free(a);
}

/* Removes an access from the window's list unless another thread has done so. */
static void take_out(sg_window *w, sg_remote *a)
{
    sg_remote **at = &w->first, *last = NULL;
    while (*at != NULL && *at != a) {
        last = *at;
        at = &last->next;
    }
    if (*at == NULL)
        return;
    *at = a->next;
    if (w->last == a)
        w->last = last;
    sg_access_drop(a);
}

/* First access to the target that is not yet complete here, or `there`. */
static sg_remote *first_to(const sg_window *w, int target, bool there)
{
    sg_remote *a = w->first;
    while (a != NULL && ((target >= 0 && a->target != target) || (!there && a->complete)))
        a = a->next;
    return a;
}

void sg_window_complete(sg_window *w, int target, bool there)
{
    sg_events_settle();
    for (sg_remote *a; (a = first_to(w, target, there)) != NULL;) {
        a->references++; /* other threads may wait for it too */
        sg_access_wait(a, there);
        if (there || a->applied)
            take_out(w, a);
        sg_access_drop(a);
    }
    if (there)
        *(target >= 0 ? &sg_window_target(w, target)->completions : &w->completions) += 1;
}

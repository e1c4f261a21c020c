/* Sending, receiving and matching messages. */
#include <stdio.h>
#include <stdlib.h>

#include "sg_lockstep.h"
#include "sg_message.h"

typedef struct probe {
    struct probe *next;
    uint32_t context;
    int32_t source, tag;
    sg_thread *thread;
} probe;

struct sg_mailbox *sg_mailbox_new(void)
{
    return sg_new(sizeof(struct sg_mailbox));
}

#define APPEND(first, last, item)                                                                            \
    do {                                                                                                     \
        (item)->next = NULL;                                                                                 \
        (item)->before = (last);                                                                             \
        *((last) != NULL ? &(last)->next : &(first)) = (item);                                               \
        (last) = (item);                                                                                     \
    } while (0)
#define REMOVE(first, last, item)                                                                            \
    do {                                                                                                     \
        *((item)->before != NULL ? &(item)->before->next : &(first)) = (item)->next;                         \
        *((item)->next != NULL ? &(item)->next->before : &(last)) = (item)->before;                          \
    } while (0)

static bool matches(uint32_t context, int32_t source, int32_t tag, const sg_message *m)
{
    return context == m->context && (source == SG_ANY || source == m->source) &&
           (tag == SG_ANY ? m->tag >= 0 : tag == m->tag);
}

static sg_message *find_message(const struct sg_mailbox *box, uint32_t context, int32_t source, int32_t tag)
{
    sg_message *m = box->first;
    while (m != NULL && !matches(context, source, tag, m))
        m = m->next;
    return m;
}

/* The talk as its receiver sees it. */
static sg_talk talk_of(const sg_message *m)
{
    return (sg_talk){m->context, (int32_t)m->from->number};
}

static sg_journey carry(const sg_message *m, const sg_rank *from, const sg_rank *to, uint64_t now,
                        size_t bytes)
{
    return SG_UNLIKELY(m->free) ? (sg_journey){now, now, 0} : sg_transport(from, to, now, bytes);
}

/* ---- receives from any source ---- */

/* What a rank's latest receive or probe with any source took. */
typedef struct choice {
    uint32_t context;
    int32_t tag; /* requested */
    const sg_rank *from;
    sg_signature of;
    uint64_t done; /* clock at which it had the message */
    const char *call;
    const void *site; /* of the receiver's call */
} choice;

static choice *choices = NULL; /* by rank */

/* Warns of a race: a message from another rank that was already under way could have been matched instead. */
static void find_rival(const choice *c, const sg_message *m)
{
    static bool told = false;
    char text[400], at[40] = "";
    if (told || c->from == NULL || c->from == m->from || c->context != m->context || m->began >= c->done ||
        m->signature.site == NULL || (c->tag != SG_ANY && c->tag != m->tag))
        return;
    told = true;
    if (c->site != NULL)
        snprintf(at, sizeof at, " at 0x%llx", (unsigned long long)(uintptr_t)c->site);
    snprintf(text, sizeof text,
             "rank %u receives from any rank with %s%s: the messages with tag %d of rank %u (%s at 0x%llx) "
             "and rank "
             "%u (%s at 0x%llx) can both be the first, as time decides",
             m->to->number, c->call != NULL ? c->call : "a request", at, m->tag, c->from->number, c->of.call,
             (unsigned long long)(uintptr_t)c->of.site, m->from->number, m->signature.call,
             (unsigned long long)(uintptr_t)m->signature.site);
    sg_warn(text);
}

/* A receive or probe for messages of `source` (or SG_ANY) takes `m`, which has arrived at `done`. */
static void note_choice(const sg_message *m, int32_t source, int32_t tag, uint64_t done)
{
    if (m->tag < 0 || m->context % 2 != 0 || m->signature.site == NULL)
        return; /* the library's own message */
    if (choices == NULL && source != SG_ANY)
        return;
    if (choices == NULL)
        choices = sg_new(sg->ranks * sizeof *choices);
    choice *c = &choices[m->to->number];
    find_rival(c, m);
    if (source == SG_ANY)
        *c =
            (choice){m->context, tag, m->from, m->signature, done, m->to->main->call, m->to->main->call_site};
}

/* Matches a receive and a message at clock `now`, and computes when each side is complete. */
static void match(sg_receive *r, sg_message *m, uint64_t now)
{
    sg_completion *done = &r->completion;
    int32_t source = r->source, tag = r->tag;
    r->source = m->source;
    r->from = (int32_t)m->from->number;
    r->tag = m->tag;
    r->bytes = m->bytes;
    r->data = m->bytes > 0 ? m->data : NULL;
    r->message = m;
    r->sent = m->began;
    r->left = m->sent;
    r->buffered = !m->rendezvous && m->arrival < now;
    done->talk.peer = r->from;
    done->met = sg->lockstep ? m->sent : now;
    done->released = m->rendezvous ? now : m->sent;
    done->clock = m->arrival;
    done->contention = m->contention;
    if (m->rendezvous) {
        sg_journey answer = carry(m, r->rank, m->from, m->arrival > now ? m->arrival : now, 0);
        sg_journey way = carry(m, m->from, r->rank, answer.arrival, m->bytes);
        r->left = way.free;
        done->clock = way.arrival;
        done->contention += answer.contention + way.contention;
        if (m->send != NULL) {
            m->send->message = NULL;
            m->send->completion =
                (sg_completion){way.free, now, answer.contention, m->send->completion.talk, now};
            sg_waiters_wake(m->send->waiters, &m->send->completion, now);
        }
    }
    note_choice(m, source, tag, done->clock);
    sg_waiters_wake(r->waiters, done, now);
}

/* Shared by all sends that are complete as soon as they begin. */
static sg_send sent = {.completion = {.talk = {SG_TALK_NOWHERE, SG_TALK_NOBODY}}};

/* ---- sending and receiving ---- */

/* At clock `now` the message's arrival time is known: wakes whoever waits for it, or puts it into the
 * receiver's mailbox. */
static void deliver(sg_message *m, uint64_t now)
{
    struct sg_mailbox *box = m->to->mailbox;
    for (sg_receive *r = box->posted; r != NULL; r = r->next)
        if (matches(r->context, r->source, r->tag, m)) {
            REMOVE(box->posted, box->newest, r);
            match(r, m, now);
            return;
        }
    APPEND(box->first, box->last, m);
    for (const probe *p = box->probes; p != NULL; p = p->next)
        if (matches(p->context, p->source, p->tag, m))
            sg_completion_wake(p->thread, &(sg_completion){m->arrival, m->sent, m->contention, talk_of(m), 0},
                               now);
}

static void deliver_now(sg_message *m)
{
    deliver(m, sg_now->clock);
}

/* The message leaves, at the clock at which it was sent. */
static void leave(sg_deferred *later)
{
    sg_message *m = (sg_message *)((char *)later - offsetof(sg_message, later));
    __builtin_prefetch(m->to->mailbox, 1); /* cold: fetched while the interconnect computes */
    sg_journey way = carry(m, m->from, m->to, m->sent, m->rendezvous ? 0 : m->bytes);
    m->arrival = way.arrival;
    m->contention = way.contention;
    deliver(m, m->sent);
}

sg_send *sg_message_send(uint32_t to, uint32_t context, int32_t source, int32_t tag, const void *data,
                         size_t bytes, enum sg_send_mode mode)
{
    return sg_message_send_typed(to, context, source, tag, data, bytes, mode, NULL);
}

sg_send *sg_message_send_typed(uint32_t to, uint32_t context, int32_t source, int32_t tag, const void *data,
                               size_t bytes, enum sg_send_mode mode, const sg_signature *signature)
{
    sg_rank *self = sg_rank_self(), *other = sg->all_ranks[to];
    sg_send *send = &sent;
    sg_message *m = sg_message_memory(sizeof *m + bytes);
    uint64_t began = sg_now->clock;
    __builtin_prefetch(&other->mailbox);
    sg_message_talk(context, (int32_t)to);
    sg_transport_send(other, bytes);
    bool defers = sg_may_defer(sg_now);
    if (!defers)
        sg_turn_of_all(sg_now);
    *m = (sg_message){.from = self, .to = other, .context = context, .source = source, .tag = tag};
    m->bytes = bytes;
    m->free = sg_message_is_free != NULL && sg_message_is_free(sg_self()->call_site);
    if (signature != NULL)
        m->signature = *signature;
    if (bytes > 0)
        memcpy(m->data, data, bytes);
    m->began = began;
    m->sent = sg_now->clock;
    m->rendezvous =
        mode == SG_SEND_SYNCHRONOUS || (mode == SG_SEND_STANDARD && sg_transport_waits(self, other, bytes));
    if (m->rendezvous) {
        send = m->send = sg_message_memory(sizeof *send);
        *send = (sg_send){.completion = {.clock = SG_NEVER, .talk = self->talk}, .message = m};
    }
    if (SG_UNLIKELY(sg->lockstep))
        sg_lockstep_pass(m);
    else if (defers)
        sg_defer(sg_now, &m->later, leave);
    else
        leave(&m->later);
    return send;
}

static sg_receive *new_receive(uint32_t context, int32_t source, int32_t from, int32_t tag)
{
    sg_receive *r = sg_message_memory(sizeof *r);
    *r = (sg_receive){.completion = {.clock = SG_NEVER, .talk = {context, from}}, .rank = sg_rank_self()};
    r->context = context;
    r->posted = sg_now->clock;
    r->source = source;
    r->from = from;
    r->tag = tag;
    return r;
}

/* Posts the receive at its clock: it takes a matching message, or waits for one. */
static void post(sg_deferred *later)
{
    sg_receive *r = (sg_receive *)((char *)later - offsetof(sg_receive, later));
    struct sg_mailbox *box = r->rank->mailbox;
    sg_message *m = find_message(box, r->context, r->source, r->tag);
    if (m == NULL) {
        APPEND(box->posted, box->newest, r);
        return;
    }
    REMOVE(box->first, box->last, m);
    sg_lockstep_ask(m->send != NULL); /* its sender goes on only with all the others */
    match(r, m, sg->lockstep ? sg_now->clock : r->posted);
}

sg_receive *sg_message_receive(uint32_t context, int32_t source, int32_t from, int32_t tag)
{
    sg_receive *r = new_receive(context, source, from, tag);
    if (sg_may_defer(sg_now)) {
        sg_defer(sg_now, &r->later, post);
    } else {
        sg_turn_of_all(sg_now);
        post(&r->later);
    }
    return r;
}

sg_receive *sg_message_receive_taken(sg_message *m)
{
    sg_turn_of_all(sg_now);
    sg_receive *r = new_receive(m->context, m->source, (int32_t)m->from->number, m->tag);
    sg_lockstep_ask(m->send != NULL); /* its sender goes on only with all the others */
    match(r, m, sg_now->clock);
    return r;
}

bool sg_receive_cancel(sg_receive *r)
{
    struct sg_mailbox *box = r->rank->mailbox;
    sg_turn_of_all(sg_now);
    if (r->completion.clock != SG_NEVER)
        return false;
    REMOVE(box->posted, box->newest, r);
    r->cancelled = true;
    r->completion = (sg_completion){sg_now->clock, sg_now->clock, 0, r->completion.talk, 0};
    return true;
}

bool sg_send_cancel(sg_send *send)
{
    sg_turn_of_all(sg_now);
    sg_message *m = send->message;
    if (m == NULL)
        return false;
    struct sg_mailbox *box = m->to->mailbox;
    const sg_message *waiting = box->first;
    while (waiting != NULL && waiting != m)
        waiting = waiting->next;
    if (waiting == NULL)
        return false; /* a matched probe has taken it */
    REMOVE(box->first, box->last, m);
    free(m);
    send->message = NULL;
    send->completion = (sg_completion){sg_now->clock, sg_now->clock, 0, send->completion.talk, 0};
    return true;
}

/* ---- completing a transfer ---- */

static void report(const sg_receive *r)
{
    const sg_rank *from = sg->all_ranks[r->from];
    sg_passed m = {.sender = from->first_processor, .receiver = sg_now->id, .sent = r->sent, .left = r->left};
    m.posted = r->posted;
    m.received = sg_now->clock;
    m.bytes = r->bytes;
    m.tag = r->tag;
    m.context = r->context;
    sg_observe_message(&m);
}

void sg_receive_finish(sg_receive *r)
{
    if (r->cancelled || r->finished)
        return;
    r->finished = true;
    sg_message_talk(r->context, r->from);
    sg_transport_receive(sg->all_ranks[r->from], r->bytes, r->buffered);
    report(r);
}

/* A send may be freed before its message is matched: then nobody waits for it. */
void sg_send_free(sg_send *send)
{
    if (send->message != NULL)
        send->message->send = NULL;
    if (send != &sent) {
        sg_waiters_leave(&send->waiters);
        free(send);
    }
}

void sg_receive_free(sg_receive *r)
{
    sg_waiters_leave(&r->waiters);
    free(r->message);
    free(r);
}

sg_message *sg_message_probe(uint32_t context, int32_t source, int32_t tag, bool wait)
{
    struct sg_mailbox *box = sg_rank_self()->mailbox;
    sg_message_talk(context, SG_TALK_NOBODY);
    sg_message_charge(SG_CATEGORY_PRIM_RECEIVE, sg->config.message_match_cycles + 1);
    sg_turn_of_all(sg_now);
    sg_lockstep_ask(!wait && find_message(box, context, source, tag) == NULL);
    sg_message *m = find_message(box, context, source, tag);
    while (m == NULL && wait) { /* another thread may take a message that arrives */
        probe own = {box->probes, context, source, tag, sg_self()}, **at = &box->probes;
        *at = &own;
        sg_completion_suspend(SG_RECEIVER, source, tag, NULL);
        while (*at != &own)
            at = &(*at)->next;
        *at = own.next;
        m = find_message(box, context, source, tag);
    }
    if (m != NULL && wait)
        sg_completion_wait(&(sg_completion){m->arrival, m->sent, m->contention, talk_of(m), 0});
    if (m == NULL || m->arrival > sg_now->clock)
        return NULL;
    if (source == SG_ANY)
        note_choice(m, source, tag, sg_now->clock);
    return m;
}

void sg_message_take(sg_message *m)
{
    struct sg_mailbox *box = m->to->mailbox;
    REMOVE(box->first, box->last, m);
}

/* ---- start ---- */

void sg_messages_open(void)
{
    sg->explain_deadlock = sg_messages_explain;
    sg_transport_open();
    if (sg->lockstep)
        sg_lockstep_open(deliver_now);
}

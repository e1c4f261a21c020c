/* Message exchanges between elements of a SIMD machine; see sg_lockstep.h. */
#include "sg_lockstep.h"
#include "sg_table.h"
#include "sg_wire.h"

#define PATIENCE 4096u /* exchanges for which elements at a later call may be left behind */

/* A thread waiting at a call. */
typedef struct partner {
    struct partner *next; /* of the same rank */
    sg_thread *thread;
    sg_message *message;    /* NULL: it polls, or begins a collective operation */
    uint32_t context, size; /* of the collective operation; size 0: it polls */
    bool chosen;            /* goes on in this exchange */
} partner;

/* What one exchange costs a rank, in cycles. */
typedef struct part {
    uint64_t transfer, network;
    uint64_t instructions; /* bit set of the instructions that carry its messages */
} part;

static struct {
    void (*deliver)(sg_message *m);
    partner **first;  /* by rank, in order of arrival */
    sg_table arrived; /* by context: members that have arrived, + 1 */
    uint32_t count, chosen, partial;
    part *of; /* by rank */
    sg_together *way;
    sg_message **sent; /* the messages in `way` */
} exchange = {.deliver = NULL};

#define FOR_PARTNERS(i, p)                                                                                   \
    for (uint32_t i = 0; i < sg->ranks; i++)                                                                 \
        for (partner *p = exchange.first[i]; p != NULL; p = p->next)

/* ---- elements arrive at a call ---- */

static void park(partner *own)
{
    partner **at = &exchange.first[sg_rank_self()->number];
    while (*at != NULL)
        at = &(*at)->next;
    *at = own;
    exchange.count++;
    sg_now->coroutine->needs = sg_rank_self();
    sg_suspend(SG_CATEGORY_IDLE_MASKED, 0, -1);
}

void sg_lockstep_pass(sg_message *m)
{
    partner own = {.thread = sg_self(), .message = m};
    park(&own);
}

static uint64_t *arrived(uint32_t context)
{
    sg_table_entry *entry = sg_table_make(&exchange.arrived, context, 64);
    if (entry->number == 0)
        entry->number = 1;
    return &entry->number;
}

void sg_lockstep_meet(uint32_t context, uint32_t size)
{
    partner own = {.thread = sg_self(), .context = context, .size = size};
    if (size < 2)
        return;
    ++*arrived(context);
    park(&own);
}

/* ---- choosing a call ---- */

static bool is_complete(const partner *p)
{
    return p->size > 0 && *arrived(p->context) > p->size;
}

static void choose_one(partner *p)
{
    p->chosen = true;
    exchange.chosen++;
}

/* Elements that poll always go on. Of the others, only those at the first call, or all of them if some have
 * been left behind for too long. */
static void choose(void)
{
    uintptr_t first = UINTPTR_MAX;
    bool all = exchange.partial >= PATIENCE;
    exchange.chosen = 0;
    FOR_PARTNERS(i, p)
    if ((p->message != NULL || is_complete(p)) && (uintptr_t)p->thread->call_site < first)
        first = (uintptr_t)p->thread->call_site;
    FOR_PARTNERS(i, p)
    {
        bool may = p->message != NULL || is_complete(p);
        if ((p->message == NULL && p->size == 0) ||
            (may && (all || (uintptr_t)p->thread->call_site == first)))
            choose_one(p);
    }
    if (exchange.chosen == 0) /* some members will arrive later, or never */
        FOR_PARTNERS(i, p)
    choose_one(p);
}

/* ---- messages ---- */

/* Collects the messages sent by chosen elements; returns their count. */
static uint32_t collect(void)
{
    uint32_t count = 0;
    FOR_PARTNERS(i, p)
    {
        sg_message *m = p->chosen ? p->message : NULL;
        if (m == NULL || sg_transport_near(m->from, m->to))
            continue;
        exchange.sent[count] = m;
        exchange.way[count++] = (sg_together){.from = i, .to = m->to->number, .bytes = m->bytes};
    }
    return count;
}

static void add_part(uint32_t rank, const sg_together *m)
{
    part *of = &exchange.of[rank];
    if (of->instructions >> m->instruction & 1)
        return;
    of->instructions |= 1ull << m->instruction;
    of->transfer += m->alone;
    of->network += m->turn - m->alone;
}

/* Charges the exchange to all elements that wait for it. */
static void charge_parts(uint64_t time, bool together)
{
    for (uint32_t i = 0; i < sg->ranks; i++) {
        const sg_rank *rank = sg->all_ranks[i];
        const part *of = &exchange.of[i];
        const partner *p = exchange.first[i];
        if (!rank->ended && (together || (p != NULL && p->chosen))) {
            sg_step_charge(rank, SG_CATEGORY_IDLE_TRANSFER, of->transfer, true);
            sg_step_charge(rank, SG_CATEGORY_IDLE_NETWORK, of->network, true);
            sg_step_charge(rank, SG_CATEGORY_IDLE_MASKED, time - of->transfer - of->network, true);
        }
        exchange.of[i] = (part){0};
    }
}

/* Carries the messages, starting at `now`; returns the time this takes. */
static uint64_t carry(uint64_t now, bool together)
{
    uint32_t count = collect();
    bool is_free = (sg->config.ideal & (SG_IDEAL_NETWORK | SG_IDEAL_MESSAGES)) != 0;
    bool contended = (sg->config.ideal & SG_IDEAL_CONTENTION) == 0;
    uint64_t time = is_free ? 0 : sg_wire_carry_together(sg->wire, now, exchange.way, count, contended);
    for (uint32_t i = 0; i < count && !is_free; i++) {
        const sg_together *m = &exchange.way[i];
        add_part(m->from, m);
        add_part(m->to, m);
        exchange.sent[i]->sent = now + time - m->turn;
        exchange.sent[i]->contention = m->turn - m->alone;
    }
    if (time > 0)
        charge_parts(time, together);
    return time;
}

/* ---- elements go on ---- */

/* Brings the chosen elements to the latest clock among them and their receivers; returns that clock. */
static uint64_t bring_chosen(void)
{
    uint64_t latest = 0;
    FOR_PARTNERS(i, p)
    {
        const sg_message *m = p->message;
        if (p->chosen && sg->processor[i].clock > latest)
            latest = sg->processor[i].clock;
        if (p->chosen && m != NULL && !m->to->ended && sg->processor[m->to->number].clock > latest)
            latest = sg->processor[m->to->number].clock;
    }
    FOR_PARTNERS(i, p)
    if (p->chosen)
        sg_step_charge(sg->all_ranks[i], SG_CATEGORY_IDLE_MASKED, latest - sg->processor[i].clock, true);
    return latest;
}

/* Delivers the messages in order of their senders. */
static void deliver(uint64_t now)
{
    sg_processor *before = sg_now;
    FOR_PARTNERS(i, p)
    if (p->chosen && p->message != NULL) {
        sg_now = &sg->processor[i]; /* its clock is `now` */
        p->message->arrival = now;
        if (sg_transport_near(p->message->from, p->message->to))
            p->message->sent = now;
        exchange.deliver(p->message);
    }
    sg_now = before;
}

static void release(uint64_t now)
{
    for (uint32_t i = 0; i < sg->ranks; i++)
        for (partner **at = &exchange.first[i]; *at != NULL;) {
            partner *p = *at;
            if (!p->chosen) {
                at = &p->next;
                continue;
            }
            *at = p->next;
            if (p->size > 0)
                --*arrived(p->context);
            exchange.count--;
            sg_wake(p->thread, now);
        }
}

static bool nobody_runs(void)
{
    if (exchange.count == 0)
        return false;
    choose();
    bool together = exchange.chosen == exchange.count;
    exchange.partial = together ? 0 : exchange.partial + 1;
    uint64_t end = together ? sg_step_end() : bring_chosen();
    uint64_t time = carry(end, together);
    end += time;
    if (together)
        sg_step_begin(end);
    else
        sg_step_add(time);
    deliver(end);
    release(end);
    return true;
}

void sg_lockstep_open(void (*when_arrived)(sg_message *m))
{
    exchange.deliver = when_arrived;
    exchange.first = sg_new(sg->ranks * sizeof(partner *));
    exchange.of = sg_new(sg->ranks * sizeof *exchange.of);
    exchange.way = sg_new(SG_MAX_THREADS * sizeof *exchange.way);
    exchange.sent = sg_new(SG_MAX_THREADS * sizeof(sg_message *));
    sg->nobody_runs = nobody_runs;
}

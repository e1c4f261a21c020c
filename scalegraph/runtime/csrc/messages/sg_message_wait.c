/* Waiting for messages. */
#include "sg_lockstep.h"
#include "sg_message.h"

/* Category of a rank's waiting until the other side arrives. */
static enum sg_category late(enum sg_side side)
{
    if (sg->lockstep)
        return SG_CATEGORY_IDLE_MASKED;
    if (sg_self()->collective)
        return SG_CATEGORY_IDLE_COLLECTIVE;
    return side == SG_SENDER ? SG_CATEGORY_IDLE_LATE_RECEIVER : SG_CATEGORY_IDLE_LATE_SENDER;
}

/* Charges part of the time a message is under way; `more`: another part follows. */
static void charge_way(const sg_completion *done, enum sg_category category, uint64_t cycles, bool more)
{
    int32_t peer = done->talk.peer, by = peer >= 0 ? (int32_t)sg->all_ranks[peer]->first_processor : -1;
    if (cycles == 0)
        return;
    sg_message_charge(category, cycles);
    sg_observe_message_waited(category, by, done->released != 0 ? done->released : done->met, more);
}

/* Both sides have arrived: charges the time until `done`. */
void sg_completion_wait(const sg_completion *done)
{
    sg_processor *p = sg_now;
    if (done->clock <= p->clock)
        return;
    uint64_t way = done->clock - p->clock, jam = done->contention < way ? done->contention : way;
    sg_rank_self()->talk = done->talk;
    sg_observe_waits();
    charge_way(done, SG_CATEGORY_IDLE_TRANSFER, way - jam, jam > 0);
    charge_way(done, SG_CATEGORY_IDLE_NETWORK, jam, false);
}

/* Suspends the running thread until something that lists it wakes it; `known`, if not NULL, wakes it in any
 * case. */
static void suspend_until(const sg_completion *known, enum sg_side side, int32_t other, int32_t tag,
                          const char *what)
{
    sg_thread *self = sg_self();
    sg_rank *rank = self->rank;
    sg_rank_wait wait = {rank->waits, self, side == SG_SENDER, other, tag, what};
    sg_rank_wait **at = &rank->waits;
    self->by_message = false;
    if (known != NULL)
        sg_completion_expect(self, known, known->clock);
    *at = &wait;
    sg_now->coroutine->needs = rank;
    sg_suspend(late(side), (uint64_t)(uint32_t)other,
               other < 0 ? -1 : (int32_t)sg->all_ranks[other]->main->id);
    while (*at != &wait)
        at = &(*at)->next;
    *at = wait.next;
    self->by_message = false;
}

void sg_completion_suspend_any(const sg_completion *known)
{
    suspend_until(known, SG_RECEIVER, SG_ANY, SG_ANY, NULL);
}

void sg_completion_suspend(enum sg_side side, int32_t other, int32_t tag, const char *what)
{
    suspend_until(NULL, side, other, tag, what);
}

/* Waits until the clock of `done` is known, then until that clock. */
static void wait_until(const sg_completion *done, sg_waiter **list, enum sg_side side, int32_t other,
                       int32_t tag, const char *what)
{
    if (done->clock <= sg_now->clock && sg_defer_turn(sg_now))
        return;
    bool before = sg_rank_go_away();
    sg_turn_of_all(sg_now);
    if (done->clock == SG_NEVER) {
        sg_waiter own;
        sg_waiter_add(list, &own);
        sg_rank_self()->talk = done->talk;
        sg_completion_suspend(side, other, tag, what);
        sg_waiter_remove(&own);
    }
    sg_completion_wait(done);
    sg_rank_return(before);
}

void sg_send_wait(sg_send *send)
{
    const sg_message *m = send->message;
    wait_until(&send->completion, &send->waiters, SG_SENDER, m != NULL ? (int32_t)m->to->number : SG_ANY,
               m != NULL ? m->tag : SG_ANY, NULL);
}

void sg_receive_wait(sg_receive *r)
{
    wait_until(&r->completion, &r->waiters, SG_RECEIVER, r->from, r->tag, r->what);
}

/* Polling takes as long as checking whether a message matches. */
static bool test(const sg_completion *done)
{
    sg_message_charge(SG_CATEGORY_PRIM_RECEIVE, sg->config.message_match_cycles + 1);
    sg_turn_of_all(sg_now);
    sg_lockstep_ask(done->clock > sg_now->clock);
    return done->clock <= sg_now->clock;
}

bool sg_send_test(sg_send *send)
{
    sg_rank_self()->talk = send->completion.talk;
    return test(&send->completion);
}

bool sg_receive_test(sg_receive *r)
{
    sg_rank_self()->talk = r->completion.talk;
    return test(&r->completion);
}

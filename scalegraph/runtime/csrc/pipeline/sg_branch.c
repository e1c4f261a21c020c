/* Branch prediction: one predictor per processor, of the machine's size.
 *
 * It predicts the next block among those entered from a branch that has alternatives, given the last such
 * block and the ones before it (sg_predictor.c). A block entered for the first time after another is not a
 * misprediction: learning the program is free.
 *
 * A one-block loop stops calling the runtime after its first rounds: its block then costs no trap, and its
 * execution count is read when another block is entered. So the rest of a visit is one step, from the loop
 * to its length and its exit. A history no longer than the number of rounds cannot predict the exit.
 *
 * A block's cost is its cost in a loop that goes on for ever. If a loop ends while the window still holds
 * its first rounds and its end is predicted, it overlaps with what follows, and so with its next visit:
 * the time its rounds save is taken off the rounds of that visit. Blocks in loops with several paths cost
 * what they take on the usual path; a step off that path costs the difference it makes to the round. */
#include "sg_branch_state.h"
#include "sg_inline.h"
#include "sg_observer.h"
#include "sg_overlap.h"
#include "sg_predictor_look.h"
#include "sg_runtime.h"

#define SINGLE 4u /* rounds of a one-block loop that are steps of their own */

struct sg_branches sg_branches = {0};

/* ---- steps that the hook takes ---- */

/* The hook has taken steps since `s` was last brought up to date: all to other blocks than the last. */
static inline void catch_up(const sg_processor *p, state *s)
{
    if (p->quick != &sg_quick_none)
        s->last = (uint32_t)(p->quick - s->quick);
    sg_quick *quick = &s->quick[s->last];
    if (quick->most != quick->left) {
        sg_predictor_repeat(&s->predictor, s->last, (uint32_t)(quick->most - quick->left));
        quick->most = quick->left;
    }
}

/* What the hook may do next: only after one of its own steps could `s` say that a loop has been left. */
static inline void let_follow(sg_processor *p, const state *s)
{
    p->quick = s->rounds == 0 ? &s->quick[s->last] : &sg_quick_none;
}

/* The hook may take the next steps from `from` that go the usual way and are predicted. */
static inline void renew_quick(state *s, uint32_t from)
{
    sg_quick *quick = &s->quick[from];
    quick->left = quick->most = sg_way_goes_on(&s->predictor.way[from]);
}

/* The step from `from` to `to` was predicted and cost nothing extra. */
static inline void learn_quick(state *s, uint32_t from, uint32_t to)
{
    sg_quick *quick = &s->quick[from];
    if (quick->site == 0 && from != to && s->predictor.way[from].next == to &&
        sg_branches.targets[to].saved == 0 && sg->attention == 0) {
        quick->site = (uint32_t)sg->block_address[sg_branches.targets[to].block];
        quick->way = (int32_t)(to - from) * (int32_t)sizeof *quick;
    }
    renew_quick(s, from);
}

/* ---- rounds without calls ---- */

sg_processor *sg_branch_quiet = NULL;

static struct {
    sg_account *account; /* which had counted this many executions */
    uint64_t before;
    uint32_t place;
    uint64_t *parts[3]; /* cost of an execution, without the trap */
} quiet = {0};

static uint64_t executions(void)
{
    return quiet.account->executions[quiet.place] +
           quiet.account->executions[sg->executions_count + quiet.place];
}

void sg_branch_wake_slow(void)
{
    uint64_t now = executions();
    state *s = &sg_branches.of[sg_branch_quiet->id];
    if (now > quiet.before && now - quiet.before < UINT32_MAX - s->rounds)
        s->rounds += (uint32_t)(now - quiet.before);
    for (int i = 0; i < 3; i++)
        *quiet.parts[i] += SG_TRAP_PARTS;
    sg_branch_quiet = NULL;
}

/* From now on the block of target `to` costs no trap, until something else happens. */
static void be_quiet(sg_processor *p, uint32_t to)
{
    const sg_speed *speed = sg_speed_of(p->id);
    uint32_t number = sg_branches.targets[to].block, place = sg_branches.costs[to].place;
    quiet.parts[0] = &speed->parts[number];
    quiet.parts[1] = &speed->parts[sg->executions_count + number];
    quiet.parts[2] = sg_inline_parts(speed, place);
    for (int i = 0; i < 3; i++)
        *quiet.parts[i] -= SG_TRAP_PARTS;
    quiet.account = p->account;
    quiet.place = place != 0 ? place : number;
    quiet.before = executions();
    sg_branch_quiet = p;
}

/* ---- what blocks cost ---- */

share sg_branch_share(uint32_t number, int64_t parts, const uint64_t cost[4])
{
    int64_t whole = (int64_t)sg->blocks[number].parts;
    share found = {0};
    for (int i = 0; whole != 0 && i < 4; i++)
        found.all += found.of[i] = (int64_t)cost[i] * parts / whole;
    return found;
}

/* Adds the share to the cost of the last execution of block `number` on `p`, except to its clock; returns
 * what is due there. */
static inline uint64_t add_cost(sg_processor *p, uint32_t number, const share *more)
{
    uint64_t *restrict busy = p->account->busy;
    for (int i = 0; i < 4; i++)
        busy[i] += (uint64_t)more->of[i];
    sg->blocks[number].more += (uint64_t)more->all;
    return (uint64_t)more->all;
}

static inline void change_cost(sg_processor *p, uint32_t number, const share *more)
{
    p->time += add_cost(p, number, more);
}

/* Has the observer charge `p` for its block instead of the trap; sets `cost` to that charge, by busy
 * category. */
static void charge_block(sg_processor *p, const void *site, uint64_t cost[4])
{
    const uint64_t *busy = p->account->busy;
    for (int i = 0; i < 4; i++)
        cost[i] = -busy[i];
    sg_observed.block(p, site);
    for (int i = 0; i < 4; i++)
        cost[i] += busy[i];
}

share sg_branch_turn_share(const target *from, uint32_t i, const uint64_t cost[4])
{
    uint32_t number = sg_branches.targets[from->turns[i]].block;
    int64_t parts = (int64_t)sg_branches.timing[from->block - 1].more[i] * (int64_t)SG_PARTS / 1000;
    int64_t whole = (int64_t)sg->blocks[number].parts;
    return sg_branch_share(number, parts < -whole ? -whole : parts, cost);
}

/* Target `to`, whose hook has charged the trap, follows `from`, perhaps off the usual path; costs are the
 * same everywhere. */
static inline void turn_plainly(sg_processor *p, uint32_t from, uint32_t to)
{
    const target *left = &sg_branches.targets[from];
    uint64_t time = p->time - SG_TRAP_PARTS;
    for (uint32_t i = 0; i < SG_TURNS; i++)
        if (left->turns[i] == to)
            time += add_cost(p, sg_branches.targets[to].block, &sg_branches.costs[from].more[i]);
    p->time = time;
}

/* The usual cost of target `to` on `p`, by busy category. */
static inline const uint64_t *cost_of(const sg_processor *p, uint32_t to)
{
    return sg_speed_of(p->id)->blocks[sg_branches.targets[to].block].busy;
}

/* Target `to` follows `from`, perhaps off the usual path. */
static void turn(sg_processor *p, uint32_t from, uint32_t to, const uint64_t cost[4])
{
    const target *left = &sg_branches.targets[from];
    uint32_t number = sg_branches.targets[to].block;
    for (uint32_t i = 0; i < SG_TURNS; i++)
        if (left->turns[i] == to && sg_branches.same_costs) {
            change_cost(p, number, &sg_branches.costs[from].more[i]);
        } else if (left->turns[i] == to) {
            share one = sg_branch_turn_share(left, i, cost != NULL ? cost : cost_of(p, to));
            change_cost(p, number, &one);
        }
}

/* Parts of a cycle for which the processor is still busy with a visit of loop `from` when the code after it
 * can begin: at once if the end was predicted, otherwise when the branch that ends the loop is resolved. */
static uint64_t behind_end(uint32_t from, uint32_t rounds, bool foreseen)
{
    const costs *left = &sg_branches.costs[from];
    uint64_t parts =
        (uint64_t)(rounds < left->reach ? rounds : left->reach) * sg_branches.targets[from].saved;
    return foreseen || parts < left->early ? parts : left->early;
}

/* The visit of loop `from` has ended; returns the parts of the penalty, if any, that are hidden behind it. */
static uint64_t leave_loop(state *s, uint32_t from, uint64_t penalty)
{
    if (sg_branches.targets[from].saved == 0)
        return 0;
    uint64_t behind = behind_end(from, s->rounds + 1, penalty == 0);
    uint64_t hidden = behind < penalty ? behind : penalty;
    s->loop = from;
    s->saved = behind - hidden;
    return hidden;
}

/* A round of the loop whose last visit saved something. */
static void save(sg_processor *p, state *s, uint32_t to, const uint64_t cost[4])
{
    const target *loop = &sg_branches.targets[to];
    uint64_t parts = loop->saved < s->saved ? loop->saved : s->saved;
    s->saved -= parts;
    if (sg_branches.same_costs && parts == loop->saved) {
        change_cost(p, loop->block, &sg_branches.costs[to].less);
        return;
    }
    share less = sg_branch_share(loop->block, -(int64_t)parts, cost != NULL ? cost : cost_of(p, to));
    change_cost(p, loop->block, &less);
}

void sg_branch_await(const sg_processor *p)
{
    if (sg_branches.timing != NULL)
        sg_branches.of[p->id].saved = 0;
}

/* Charges `p` for `cycles` of waiting for its loads. */
static void wait_for_loads(sg_processor *p, uint64_t cycles, const void *site)
{
    if (SG_UNLIKELY(sg_observed.hit != NULL))
        cycles = sg_observed.hit(p, 0, site, cycles);
    sg_advance(p, cycles);
    p->account->stall[0] += cycles;
    sg_site_of(site)->cycles[SG_GROUP_MEMORY_STALL] += cycles;
}

/* ---- steps ---- */

/* Stands for the end of a visit after `rounds` rounds: almost always unique. */
static uint32_t end_code(uint32_t to, uint32_t rounds)
{
    return (sg_branches.targets[to].block ^ rounds * 0x9E3779B1u) | SG_PREDICTOR_NAMED;
}

/* Was it predicted that `to` follows the last target? */
static bool is_foreseen(state *s, uint32_t to)
{
    uint32_t from = s->last;
    if (to != from && s->rounds > SINGLE)
        return sg_predictor_step(&s->predictor, sg_branches.count + from, end_code(to, s->rounds), s->rounds);
    return sg_predictor_step(&s->predictor, from, to, 0);
}

static void mispredict(sg_processor *p, uint32_t number, uint64_t penalty, const void *site)
{
    if (sg->overlaps) /* mispredictions are detected only when the data of the condition arrive */
        wait_for_loads(p, sg_overlap_branch(p, number), site);
    if (SG_UNLIKELY(sg_observed.penalty != NULL))
        penalty = sg_observed.penalty(p, site, penalty);
    p->time += penalty;
    p->account->busy[SG_CATEGORY_BUSY_CONTROL] += penalty;
    sg->blocks[number].more += penalty;
    sg_count(p, SG_COUNTER_MISPREDICTIONS, 1);
}

/* Takes a step that is predicted and costs nothing extra; false: it is not such a step. Another one may have
 * to be looked up then. */
static inline bool step_usually(state *s, uint32_t to)
{
    uint32_t from = s->last;
    const target *left = &sg_branches.targets[from];
    bool again = to == from, ends = !again && (s->rounds > SINGLE || left->saved != 0);
    if (ends || (again && s->rounds >= SINGLE) || (s->saved != 0 && to == s->loop) || left->turns[0] == to ||
        left->turns[1] == to || !sg_predictor_step_settled(&s->predictor, from, to, false))
        return false;
    s->rounds = again ? s->rounds + 1 : 0;
    s->last = to;
    learn_quick(s, from, to);
    return true;
}

/* Target `to` follows the last one; its cost is `cost`, or the usual one if NULL. */
static inline void step(sg_processor *p, state *s, uint32_t to, const void *site, const uint64_t cost[4])
{
    uint32_t from = s->last;
    s->rounds += to == from;
    bool goes_on = to == from && s->rounds > SINGLE, foreseen = goes_on || is_foreseen(s, to);
    uint64_t penalty = foreseen ? 0 : sg_branches.penalty;
    if (sg_branches.targets[from].turns[0] != 0)
        turn(p, from, to, cost);
    if (to != from)
        penalty -= leave_loop(s, from, penalty);
    if (s->saved != 0 && to == s->loop)
        save(p, s, to, cost);
    else if (goes_on && sg_observed.block == NULL && sg_branches.targets[to].turns[0] != to &&
             sg_branches.targets[to].turns[1] != to)
        be_quiet(p, to);
    if (!foreseen)
        mispredict(p, sg_branches.targets[to].block, penalty, site);
    s->quick[from].site = 0;
    if (to != from) {
        s->rounds = 0;
        s->last = to;
    }
}

void sg_branch_enter(sg_processor *p, const void *site)
{
    sg_branch_wake();
    uintptr_t offset = (uintptr_t)site - sg->text_low;
    uint32_t to =
        sg_branches.of != NULL && offset <= sg->text_high - sg->text_low ? sg_branches.at[offset] : 0;
    if (sg_observed.block == NULL) {
        state *s = &sg_branches.of[p->id];
        p->time -= SG_TRAP_PARTS;
        catch_up(p, s);
        if (to != 0 && !step_usually(s, to))
            step(p, s, to, site, NULL);
        let_follow(p, s);
        return;
    }
    uint64_t cost[4];
    charge_block(p, site, cost);
    if (to != 0)
        step(p, &sg_branches.of[p->id], to, site, cost);
}

/* Calls `yield`; the references behind the hook are not made yet. */
static void let_others(sg_processor *p, const void *site, void (*yield)(sg_processor *p, const void *site))
{
    sg_behind behind = sg_behind_of(site);
    sg_behind_take(p, behind);
    yield(p, site);
    sg_behind_give(behind);
}

void sg_branch_give_way(sg_processor *p, const void *site)
{
    let_others(p, site, sg_give_way);
}

/* Everything that sg_branch_enter does too; separate, so that sg_branch_pass saves no registers. */
static __attribute__((noinline)) void pass_slowly(sg_processor *p, const void *site)
{
    if (SG_UNLIKELY(sg->learn != NULL) &&
        sg_branch_is_news(p, sg->block_index[(uintptr_t)site - sg->text_low])) {
        p->time -= SG_TRAP_PARTS;
        if (p->time > p->time_limit)
            let_others(p, site, sg_yield);
        return;
    }
    sg_branch_enter(p, site);
    if (p->time > p->time_limit)
        sg_branch_give_way(p, site);
}

/* The same for a step that is not usual. */
static __attribute__((noinline)) void pass_step(sg_processor *p, state *s, uint32_t to, const void *site)
{
    if (SG_UNLIKELY(sg->learn != NULL) && sg_branch_is_news(p, sg_branches.targets[to].block)) {
        if (p->time > p->time_limit)
            let_others(p, site, sg_yield);
        return;
    }
    step(p, s, to, site, NULL);
    let_follow(p, s);
    if (p->time > p->time_limit)
        sg_branch_give_way(p, site);
}

/* A plain step, of none of the loops whose rounds are counted, has been `foreseen` or not; `usual` was the
 * most frequent one. */
static inline void end_plainly(sg_processor *p, state *s, uint32_t to, const void *site, uint32_t usual,
                               bool foreseen)
{
    uint32_t from = s->last;
    const sg_way *way = &s->predictor.way[from];
    if (!foreseen)
        mispredict(p, sg_branches.targets[to].block, sg_branches.penalty, site);
    if (way->next != usual)
        s->quick[from].site = 0;
    if (SG_UNLIKELY(!sg_way_is_looked_up(way)))
        renew_quick(s, from);
    s->last = to;
    p->quick = &s->quick[to];
    if (SG_UNLIKELY(p->time > p->time_limit))
        sg_branch_give_way(p, site);
}

/* A plain step if something may have become known of the block: true if that was all to do. */
static inline bool pass_news(sg_processor *p, state *s, uint32_t to, const void *site)
{
    if (SG_LIKELY(sg->learn == NULL))
        return false;
    p->time -= SG_TRAP_PARTS;
    pass_step(p, s, to, site);
    return true;
}

/* The same for a plain step that is looked up. */
static __attribute__((noinline)) void pass_looked_up(sg_processor *p, state *s, uint32_t to, const void *site)
{
    if (pass_news(p, s, to, site))
        return;
    const word *words = sg_predictor_kind.words;
    uint32_t from = s->last, usual = s->predictor.way[from].next;
    turn_plainly(p, from, to);
    bool foreseen =
        sg_predictor_look_up(&s->predictor, from, to, words[to], words[usual].code, sg_predictor_kind.all);
    end_plainly(p, s, to, site, usual, foreseen);
}

/* The same for another plain step. */
static __attribute__((noinline)) void pass_plainly(sg_processor *p, state *s, uint32_t to, const void *site)
{
    if (pass_news(p, s, to, site))
        return;
    uint32_t from = s->last, usual = s->predictor.way[from].next;
    turn_plainly(p, from, to);
    bool foreseen = sg_predictor_step(&s->predictor, from, to, 0);
    renew_quick(s, from);
    end_plainly(p, s, to, site, usual, foreseen);
}

/* The same for a plain step that may be settled. */
static __attribute__((noinline)) void pass_settled(sg_processor *p, state *s, uint32_t to, const void *site)
{
    uint32_t from = s->last;
    const target *left = &sg_branches.targets[from];
    bool turns = left->turns[0] == to || left->turns[1] == to;
    if (!sg_predictor_step_settled(&s->predictor, from, to, turns)) {
        pass_plainly(p, s, to, site);
        return;
    }
    s->last = to;
    turn_plainly(p, from, to);
    if (turns)
        renew_quick(s, from);
    else
        learn_quick(s, from, to);
    p->quick = &s->quick[to];
    if (SG_UNLIKELY(p->time > p->time_limit))
        sg_branch_give_way(p, site);
}

/* The same for a step that is not plain. */
static __attribute__((noinline)) void pass_loop(sg_processor *p, state *s, uint32_t to, const void *site)
{
    p->time -= SG_TRAP_PARTS;
    if (!step_usually(s, to)) {
        pass_step(p, s, to, site);
        return;
    }
    let_follow(p, s);
    if (SG_UNLIKELY(p->time > p->time_limit))
        sg_branch_give_way(p, site);
}

/* The number of the target whose hook returns to `site`. */
static inline uint32_t target_at(const void *site)
{
    return *(const uint32_t *)(sg_branches.by + (uintptr_t)site * sizeof(uint32_t));
}

/* The same for the step from a loop whose rounds have made no calls. */
static __attribute__((noinline)) void pass_quiet(sg_processor *p, const void *site)
{
    sg_branch_wake_slow();
    p->time -= SG_TRAP_PARTS;
    pass_step(p, &sg_branches.of[p->id], target_at(site), site);
}

void sg_branch_pass(sg_processor *p, const void *site)
{
    if (SG_UNLIKELY(!sg_branches.same_costs)) {
        pass_slowly(p, site);
        return;
    }
    if (SG_UNLIKELY(sg_branch_quiet != NULL)) {
        pass_quiet(p, site);
        return;
    }
    state *s = &sg_branches.of[p->id];
    uint32_t to = target_at(site);
    catch_up(p, s);
    uint32_t from = s->last;
    bool plain = (s->rounds | s->saved | sg_branches.targets[from].saved) == 0 && to != from;
    if (SG_UNLIKELY(!plain))
        pass_loop(p, s, to, site);
    else if (sg_way_is_looked_up(&s->predictor.way[from]))
        pass_looked_up(p, s, to, site);
    else
        pass_settled(p, s, to, site);
}

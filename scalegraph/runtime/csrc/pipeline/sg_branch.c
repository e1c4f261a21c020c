/* Prediction of branches: a predictor for each processor, of the size that the machine has.
 *
 * Its kind is TAGE (Seznec and Michaud, JILP 2006), by entered blocks instead of single jumps: the block
 * table says which blocks are entered from a branch that can go elsewhere, too. From the block of that kind
 * which was entered last, and from which came before it, the predictor says which is the next. A base table
 * has one entry for each block; four tables, which share the machine's entries, know what followed after 4,
 * 16, 64 and 256 blocks of that kind, as far as the machine's history goes. The longest history that is known
 * decides. A wrong prediction makes an entry with a longer history.
 *
 * A block that is entered for the first time after another is no misprediction: nothing is charged for
 * learning the program.
 *
 * What blocks cost is what they take in loops that go on and on. A loop that ends while the window still
 * holds its first rounds, and whose end is foreseen, overlaps with what follows, as far as that with its next
 * visit: what its rounds save then is taken from the rounds of that visit. Blocks of loops with several ways
 * round cost what they take on their usual one; a step that is not on it costs what it makes the round
 * longer, or shorter. */
#include <string.h>

#include "sg_branch.h"
#include "sg_observer.h"
#include "sg_overlap.h"
#include "sg_runtime.h"

#define PURPOSE  "the prediction of branches"
#define TABLES   4u
#define HISTORY  256u /* a power of two: entered blocks that are remembered */
#define TAG_BITS 12u

typedef struct entry {
    uint32_t target; /* number of a block; 0: the entry is free */
    uint16_t tag;
    uint8_t sure, useful; /* 0 to 3 */
} entry;

/* A history, folded to numbers of so many bits. The numbers of bits are primes, so that what comes in a
 * rhythm is not folded onto itself. */
#define FOLDS 3u
static const uint32_t fold_bits[FOLDS] = {13, 17, 19};

typedef struct folded {
    uint32_t of[FOLDS];
} folded;

typedef struct predictor {
    entry *base; /* by block */
    entry *table[TABLES];
    folded fold[TABLES];
    uint32_t last;   /* block that was entered last */
    uint32_t at;     /* in the ring of what was entered */
    uint32_t rounds; /* of a loop of one block that `last` has gone so far */
    uint32_t loop;   /* whose last visit has saved so many parts */
    uint64_t saved;
    uint8_t ring[HISTORY];
} predictor;

static struct {
    predictor *of; /* by processor; NULL: nothing is predicted */
    uint32_t bits; /* of the index of a table */
    uint32_t tables, length[TABLES];
    uint64_t penalty; /* in parts of a cycle */
    const sg_timing *timing;
} branches = {0};

static uint64_t mix(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u;
    return value ^ value >> 29;
}

/* One step of a history: `in` comes, and `out` goes that came `length` steps before. */
static uint32_t fold_in(uint32_t old, uint32_t bits, uint32_t in, uint32_t out, uint32_t length)
{
    uint32_t mask = (1u << bits) - 1, turn = length % bits;
    uint32_t gone = (out << turn | out >> (bits - turn)) & mask;
    return ((old << 1 | old >> (bits - 1)) & mask) ^ in ^ gone;
}

static void remember(predictor *q, uint32_t number)
{
    uint32_t in = (uint32_t)(mix(number) >> 56);
    for (uint32_t i = 0; i < branches.tables; i++) {
        uint32_t length = branches.length[i], out = q->ring[(q->at - length) % HISTORY];
        for (uint32_t k = 0; k < FOLDS; k++)
            q->fold[i].of[k] = fold_in(q->fold[i].of[k], fold_bits[k], in, out, length);
    }
    q->ring[q->at % HISTORY] = (uint8_t)in;
    q->at++;
    q->last = number;
}

static entry *entry_of(predictor *q, uint32_t table, uint16_t *tag)
{
    const uint32_t *of = q->fold[table].of;
    uint64_t all = of[0] | (uint64_t)of[1] << fold_bits[0] | (uint64_t)of[2] << (fold_bits[0] + fold_bits[1]);
    uint64_t mixed = mix(all ^ mix(q->last));
    *tag = (uint16_t)(mixed & ((1u << TAG_BITS) - 1));
    return &q->table[table][mixed >> TAG_BITS & ((1u << branches.bits) - 1)];
}

static void learn(entry *e, uint32_t number)
{
    if (e->target == number)
        e->sure += e->sure < 3;
    else if (e->sure > 0)
        e->sure--;
    else
        e->target = number;
}

/* Gives the transition an entry with a longer history than table `from - 1` has. */
static void allocate(predictor *q, uint32_t from, uint32_t number)
{
    for (uint32_t i = from; i < branches.tables; i++) {
        uint16_t tag;
        entry *e = entry_of(q, i, &tag);
        if (e->useful == 0) {
            *e = (entry){number, tag, 0, 0};
            return;
        }
    }
    for (uint32_t i = from; i < branches.tables; i++) {
        uint16_t tag;
        entry_of(q, i, &tag)->useful--;
    }
}

/* Is the block that is entered another one than was predicted? */
static bool is_mispredicted(predictor *q, uint32_t number)
{
    entry *best = &q->base[q->last], *other = best;
    uint32_t longer = 0;
    for (uint32_t i = 0; i < branches.tables; i++) {
        uint16_t tag;
        entry *e = entry_of(q, i, &tag);
        if (e->target != 0 && e->tag == tag) {
            other = best;
            best = e;
            longer = i + 1;
        }
    }
    bool known = best->target != 0, right = best->target == number;
    if (best != other && best->target != other->target) {
        if (right)
            best->useful += best->useful < 3;
        else
            best->useful -= best->useful > 0;
    }
    learn(best, number);
    if (known && !right)
        allocate(q, longer, number);
    return known && !right;
}

/* Adds `parts` to what an execution of block `number` usually costs, or takes them off: to what it has cost
 * `p` now. */
static void change_cost(sg_processor *p, uint32_t number, int64_t parts, const uint64_t cost[4])
{
    int64_t whole = (int64_t)sg->blocks[number].parts, all = 0;
    for (int i = 0; whole != 0 && i < 4; i++) {
        int64_t share = (int64_t)cost[i] * parts / whole;
        p->account->busy[i] += (uint64_t)share;
        all += share;
    }
    p->time += (uint64_t)all;
    sg->blocks[number].more += (uint64_t)all;
}

static predictor *predictor_of(const sg_processor *p)
{
    predictor *q = &branches.of[p->id];
    if (q->base == NULL) {
        q->base = sg_new(sg->blocks_count * sizeof *q->base);
        for (uint32_t i = 0; i < branches.tables; i++)
            q->table[i] = sg_new(sizeof(entry) << branches.bits);
    }
    return q;
}

void sg_branch_open(void)
{
    const sg_config *config = &sg->config;
    if (config->branches_penalty_cycles == 0 || sg->branch_targets == NULL)
        return;
    branches.of = sg_new(sg->processors * sizeof *branches.of);
    branches.timing = sg->overlaps ? sg->timing : NULL;
    branches.penalty = (uint64_t)config->branches_penalty_cycles * SG_PARTS;
    while ((2ull << branches.bits) * TABLES <= config->branches_entries)
        branches.bits++;
    for (uint32_t length = 4; length <= config->branches_history && branches.tables < TABLES; length *= 4)
        branches.length[branches.tables++] = length < HISTORY ? length : HISTORY - 1;
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        for (uint32_t k = 0; sg->branch_targets[i] && k < sg->speeds; k++) {
            uint64_t *parts = sg->speed[k].parts;
            if (sg->blocks_scaled) /* by an observer, which charges the whole block */
                parts[i] = SG_TRAP_PARTS;
            else
                parts[i] = parts[sg->executions_count + i] = parts[i] + SG_TRAP_PARTS;
        }
}

/* Parts of a cycle that a round of the loop of block `number` takes less when its visits overlap. */
static uint64_t saving(uint32_t number)
{
    return branches.timing[number - 1].saved * SG_PARTS / 1000;
}

/* Parts of a cycle for which the processor is still busy with a visit of loop `left`, of so many rounds, when
 * what is behind it can begin: at once where the end was foreseen, else when the branch that ends the loop is
 * known. */
static uint64_t behind_end(const sg_timing *left, uint32_t rounds, uint64_t of_round, bool foreseen)
{
    uint64_t parts = (rounds < left->reach ? rounds : left->reach) * of_round;
    uint64_t early = (uint64_t)left->early * SG_PARTS / 1000;
    return foreseen || parts < early ? parts : early;
}

/* Block `number`, which has cost so much, follows block q->last: a visit of a loop goes on, or has ended.
 * Returns the parts of the penalty, if it has to be paid, that hide behind the visit that has ended. */
static uint64_t go_round(sg_processor *p, predictor *q, uint32_t number, uint64_t penalty,
                         const uint64_t cost[4])
{
    uint64_t hidden = 0;
    if (number == q->last) {
        q->rounds++;
    } else if (q->last != 0) {
        const sg_timing *left = &branches.timing[q->last - 1];
        if (left->saved != 0) {
            uint64_t behind = behind_end(left, q->rounds + 1, saving(q->last), penalty == 0);
            hidden = behind < penalty ? behind : penalty;
            q->loop = q->last;
            q->saved = behind - hidden;
        }
        q->rounds = 0;
    }
    if (number != q->loop || q->saved == 0)
        return hidden;
    uint64_t parts = saving(number);
    parts = parts < q->saved ? parts : q->saved;
    q->saved -= parts;
    change_cost(p, number, -(int64_t)parts, cost);
    return hidden;
}

void sg_branch_await(const sg_processor *p)
{
    if (branches.timing != NULL)
        predictor_of(p)->saved = 0;
}

/* Block `number` follows block q->last on a way that may not be its usual one. */
static void turn(sg_processor *p, const predictor *q, uint32_t number, const uint64_t cost[4])
{
    const sg_timing *from = &branches.timing[q->last - 1];
    for (uint32_t i = 0; i < SG_TURNS; i++)
        if (from->turns[i] == number) {
            int64_t parts = (int64_t)from->more[i] * (int64_t)SG_PARTS / 1000,
                    whole = (int64_t)sg->blocks[number].parts;
            change_cost(p, number, parts < -whole ? -whole : parts, cost);
        }
}

/* Charges `p` for so many cycles in which it waits for what it has loaded. */
static void wait_for_loads(sg_processor *p, uint64_t cycles, const void *site)
{
    sg_advance(p, cycles);
    p->account->stall[0] += cycles;
    sg_site_of(site)->cycles[SG_GROUP_MEMORY_STALL] += cycles;
}

/* Charges `p` what block `number` costs in place of the trap; says in `cost` what that was, by busy category.
 */
static void charge_block(sg_processor *p, uint32_t number, const void *site, uint64_t cost[4])
{
    const uint64_t *busy = p->account->busy;
    if (sg_observed.block == NULL) {
        p->time -= SG_TRAP_PARTS;
        memcpy(cost, sg_speed_of(p->id)->blocks[number].busy, 4 * sizeof *cost);
        return;
    }
    for (int i = 0; i < 4; i++)
        cost[i] = -busy[i];
    sg_observed.block(p, site);
    for (int i = 0; i < 4; i++)
        cost[i] += busy[i];
}

void sg_branch_enter(sg_processor *p, const void *site)
{
    uintptr_t offset = (uintptr_t)site - sg->text_low;
    uint32_t number = offset <= sg->text_high - sg->text_low ? sg->block_index[offset] : 0;
    uint64_t cost[4];
    charge_block(p, number, site, cost);
    if (branches.of == NULL || !sg->branch_targets[number])
        return;
    predictor *q = predictor_of(p);
    bool mispredicted = is_mispredicted(q, number);
    uint64_t penalty = mispredicted ? branches.penalty : 0;
    if (branches.timing != NULL) {
        if (q->last != 0)
            turn(p, q, number, cost);
        penalty -= go_round(p, q, number, penalty, cost);
    }
    if (mispredicted) {
        if (sg->overlaps) /* it is known to be wrong only when the data arrive that it depends on */
            wait_for_loads(p, sg_overlap_branch(p, number), site);
        p->time += penalty;
        p->account->busy[SG_CATEGORY_BUSY_CONTROL] += penalty;
        sg->blocks[number].more += penalty;
        sg_count(p, SG_COUNTER_MISPREDICTIONS, 1);
    }
    remember(q, number);
}

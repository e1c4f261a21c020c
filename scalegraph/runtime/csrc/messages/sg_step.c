/* How long a step of a SIMD machine takes; see sg_lockstep.h.
 *
 * Executions are counted in each element's accounts as on any machine. When all elements are together, the
 * accounts are settled and compared between elements. */
#include "sg_array.h"
#include "sg_lockstep.h"

#define PURPOSE "the steps of a SIMD machine"

/* What elements did of one kind: executions of a block, or runtime cycles at a place. */
typedef struct tally {
    uint64_t own;  /* by the element being settled */
    uint64_t most; /* largest of any element */
    uint64_t sum;  /* of all elements that are masked off for the rest */
} tally;

typedef struct tallies {
    tally *of;
    uint32_t *fresh, *used; /* entries used by the element being settled, and by any element */
    uint32_t fresh_count, used_count;
} tallies;

/* Cycles that the runtime charged to an element. */
typedef struct charged {
    uint32_t before; /* index of the element's previous entry, + 1; 0: none */
    uint32_t site;
    uint64_t cycles;
} charged;

typedef struct element {
    sg_account *account; /* the account last seen as current */
    sg_account *touched; /* earlier accounts in this step */
    uint32_t charged;    /* index of the last entry, + 1; 0: none */
    uint64_t waited;
} element;

static struct {
    element *of; /* by rank */
    charged *charged;
    uint32_t charged_count, charged_room;
    tallies blocks, sites;
    uint64_t others;  /* largest time outside blocks and sites */
    uint64_t begin;   /* clock at which the step began */
    uint64_t carried; /* by exchanges since then */
    uint64_t parts;   /* fractions of a cycle left over from earlier steps */
    uint64_t ran;     /* elements that did something in this step and have not ended */
    uint64_t (*primitive)(sg_processor *p, enum sg_category category, uint64_t cycles); /* what-if's */
} step = {.of = NULL};

/* ---- tallies ---- */

static void open_tallies(tallies *t, size_t count)
{
    t->of = sg_reserve(count * sizeof *t->of, PURPOSE);
    t->fresh = sg_reserve(count * sizeof *t->fresh, PURPOSE);
    t->used = sg_reserve(count * sizeof *t->used, PURPOSE);
}

static void add(tallies *t, uint32_t number, uint64_t n)
{
    if (t->of[number].own == 0)
        t->fresh[t->fresh_count++] = number;
    t->of[number].own += n;
}

/* Merges one element's counts into the tallies; `weight` is the cost of one, by number (NULL: 1). Returns the
 * element's total. */
static uint64_t join(tallies *t, const sg_block_cost *weight, bool is_summed)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < t->fresh_count; i++) {
        tally *one = &t->of[t->fresh[i]];
        all += one->own * (weight != NULL ? weight[t->fresh[i]].parts : 1);
        if (one->most == 0)
            t->used[t->used_count++] = t->fresh[i];
        if (one->own > one->most)
            one->most = one->own;
        if (is_summed)
            one->sum += one->own;
        one->own = 0;
    }
    t->fresh_count = 0;
    return all;
}

static void clear(tallies *t)
{
    for (uint32_t i = 0; i < t->used_count; i++)
        t->of[t->used[i]] = (tally){0};
    t->used_count = 0;
}

/* ---- what an element does ---- */

static void touch(element *e, sg_account *account)
{
    if (account->touched)
        return;
    account->touched = true;
    account->next_touched = e->touched;
    e->touched = account;
}

static void change_regions(sg_processor *p, enum sg_regions_change change)
{
    element *e = &step.of[p->id];
    (void)change;
    touch(e, e->account);
    e->account = p->account;
}

/* Records a charge by the runtime, at its call site. */
static uint64_t charge(sg_processor *p, enum sg_category category, uint64_t cycles)
{
    element *e = &step.of[p->id];
    if (step.primitive != NULL)
        cycles = step.primitive(p, category, cycles);
    if (sg_category_group[category] == SG_GROUP_IDLE) {
        e->waited += cycles;
    } else if (cycles > 0) {
        SG_ARRAY_HOLD(step.charged, step.charged_room, step.charged_count, 4096);
        uint32_t site = (uint32_t)(sg_site_of(p->site) - sg->sites);
        step.charged[step.charged_count++] = (charged){e->charged, site, cycles};
        e->charged = step.charged_count;
    }
    return cycles;
}

static void note_executions(uint32_t block, uint64_t executions)
{
    add(&step.blocks, block, executions);
}

/* Merges what a rank did in this step; false: it did nothing. */
static bool settle(const sg_rank *rank, bool is_summed)
{
    sg_processor *p = &sg->processor[rank->number];
    element *e = &step.of[rank->number];
    uint64_t all = p->clock - step.begin - e->waited;
    if (all == 0)
        return false;
    touch(e, e->account);
    touch(e, p->account);
    for (sg_account *account = e->touched; account != NULL; account = account->next_touched) {
        sg_account_settle(account, note_executions);
        account->touched = false;
    }
    for (uint32_t i = e->charged; i > 0; i = step.charged[i - 1].before)
        add(&step.sites, step.charged[i - 1].site, step.charged[i - 1].cycles);
    *e = (element){.account = p->account, .waited = p->clock - step.begin};
    uint64_t parts = join(&step.blocks, sg->blocks, is_summed);
    uint64_t known = parts / SG_PARTS + join(&step.sites, NULL, is_summed);
    if (all > known && all - known > step.others)
        step.others = all - known;
    step.ran += is_summed;
    return true;
}

static void rest(sg_processor *p)
{
    const sg_rank *rank = sg->all_ranks[p->id];
    if (rank->ended)
        settle(rank, false);
}

/* ---- end of a step ---- */

void sg_step_charge(const sg_rank *rank, enum sg_category category, uint64_t cycles, bool here)
{
    sg_processor *p = &sg->processor[rank->first_processor];
    if (cycles == 0)
        return;
    sg_charge(p, category, cycles);
    if (here)
        sg_site_of(p->site)->cycles[SG_GROUP_IDLE] += cycles;
    sg_observe_waited(p, rank->main, category, cycles);
}

/* Clock at which the step ends: no earlier than that of any element. */
static uint64_t end_of_step(void)
{
    uint64_t parts = step.parts, end = step.begin + step.carried + step.others;
    for (uint32_t i = 0; i < step.blocks.used_count; i++)
        parts += step.blocks.of[step.blocks.used[i]].most * sg->blocks[step.blocks.used[i]].parts;
    for (uint32_t i = 0; i < step.sites.used_count; i++)
        end += step.sites.of[step.sites.used[i]].most;
    step.parts = parts % SG_PARTS;
    end += parts / SG_PARTS;
    for (uint32_t i = 0; i < sg->ranks; i++)
        if (sg->processor[i].clock > end)
            end = sg->processor[i].clock;
    return end;
}

/* Charges up to `cycles` of masked time to an address that others executed, taken from `*left`. */
static void charge_place(uint64_t address, uint64_t cycles, uint64_t *left)
{
    cycles = cycles < *left ? cycles : *left;
    *left -= cycles;
    sg_site_of((const void *)(uintptr_t)address)->cycles[SG_GROUP_IDLE] += cycles;
}

/* Distributes `left` cycles of masked time over the places that only other elements executed. */
static void charge_places(uint64_t left)
{
    for (uint32_t i = 0; i < step.blocks.used_count; i++) {
        uint32_t block = step.blocks.used[i];
        const tally *t = &step.blocks.of[block];
        charge_place(sg->block_address[block],
                     (step.ran * t->most - t->sum) * sg->blocks[block].parts / SG_PARTS, &left);
    }
    for (uint32_t i = 0; i < step.sites.used_count; i++) {
        const tally *t = &step.sites.of[step.sites.used[i]];
        charge_place(sg->sites[step.sites.used[i]].address, step.ran * t->most - t->sum, &left);
    }
    charge_place(0, left, &left);
}

uint64_t sg_step_end(void)
{
    static bool *ran = NULL;
    uint64_t left = 0;
    if (ran == NULL)
        ran = sg_new(sg->ranks * sizeof *ran);
    for (uint32_t i = 0; i < sg->ranks; i++)
        ran[i] = !sg->all_ranks[i]->ended && settle(sg->all_ranks[i], true);
    uint64_t end = end_of_step();
    for (uint32_t i = 0; i < sg->ranks; i++) {
        const sg_rank *rank = sg->all_ranks[i];
        if (rank->ended)
            continue;
        uint64_t cycles = end - sg->processor[i].clock;
        sg_step_charge(rank, SG_CATEGORY_IDLE_MASKED, cycles, !ran[i]);
        if (ran[i])
            left += cycles;
    }
    charge_places(left);
    return end;
}

void sg_step_begin(uint64_t clock)
{
    clear(&step.blocks);
    clear(&step.sites);
    for (uint32_t i = 0; i < sg->ranks; i++)
        step.of[i].waited = 0;
    step.charged_count = 0;
    step.others = step.carried = step.ran = 0;
    step.begin = clock;
}

void sg_step_add(uint64_t cycles)
{
    step.carried += cycles;
}

/* The last rank has ended: what the others did in the last step still takes time. */
static void finish(void)
{
    sg_processor *p = sg_now;
    if (p->coroutine == NULL)
        return;
    settle(sg->all_ranks[p->id], false);
    sg_charge_site(p, SG_CATEGORY_IDLE_MASKED, end_of_step() - p->clock);
}

static const sg_observer observer = {
    .name = "steps of a SIMD machine",
    .regions = change_regions,
    .rests = rest,
    .closes = finish,
};

void sg_step_open(void)
{
    if (sg->own_processors > 1)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "a process of a SIMD machine has one thread, which its element executes");
    if (sg->blocks_scaled)
        sg_stop(SG_STATUS_UNSUPPORTED, "what-if runs with faster code are not simulated on a SIMD machine");
    open_tallies(&step.blocks, sg->blocks_count);
    open_tallies(&step.sites, sg->text_high - sg->text_low + 1);
    step.of = sg_new(sg->ranks * sizeof *step.of);
    for (uint32_t i = 0; i < sg->ranks; i++)
        step.of[i].account = sg->processor[i].account;
    step.primitive = sg->primitives_differ ? sg_observed.primitive : NULL;
    sg_observed.primitive = charge;
    sg->primitives_differ = true;
    sg->regions_watched++;
    sg_observer_register(&observer);
}

/* The program's code while it is skimmed, see sg_skim.h.
 *
 * While the program is skimmed, its hooks lead to a copy of the code without them (sg_bare.h). There, a block
 * decrements the slot itself, whichever processor runs, and its hook's call is made when the count is used
 * up, so that a thread that waits for another in a loop of its own lets it run. Both forms of the hooks are
 * kept and swapped; nobody is inside a hook except after its call. */
#include "sg_skim.h"

#include "sg_bare.h"
#include "sg_runtime.h"

/* Executions of a block until its thread yields: at first few, so that a visit with more work than expected
 * is seen early, then each time this many times as many: enough to make the call rare, but few enough to keep
 * spin loops short. */
enum { FIRST_BUDGET = 64, LARGER = 4, MOST_BUDGET = 4096 };

/* Cycles for which a thread that may be waiting lets others run. */
enum { PASSED = 1024 };

enum { PATCHED = 5 /* bytes */, JUMP = 0xe9, CALL = 0xe8 };

typedef struct patch {
    uint8_t *at;
    uint8_t other[PATCHED]; /* the code for the other mode */
} patch;

static struct {
    patch *patches;
    uint16_t *budgets; /* of the blocks' counts, by place */
    uint32_t count;
    uint32_t hooks;
    bool strange; /* some hook has an unknown form */
    bool on;
    uint64_t parts; /* of executions beyond the counts */
    uint64_t begin; /* clock at which skimming began */
    double pace;    /* cycles of the skipped visit for each part of its work */
    uint64_t most;  /* work that it may have */
    uint64_t passes;
} skim = {0};

static uint64_t end_of(const sg_inlined *h)
{
    return h->start + h->length;
}

/* A jump or a call at `at` to `target`. */
static void add_patch(uint64_t at, uint8_t opcode, uint64_t target)
{
    patch *p = &skim.patches[skim.count++];
    int32_t distance = (int32_t)((int64_t)target - (int64_t)(at + PATCHED));
    p->at = (uint8_t *)at;
    p->other[0] = opcode;
    memcpy(p->other + 1, &distance, sizeof distance);
}

SG_API void sg_skim_late(void);

static void count_hook(const sg_inlined *h)
{
    (void)h;
    skim.hooks++;
}

static void make_patch(const sg_inlined *h)
{
    uint64_t call = end_of(h) - PATCHED;
    add_patch(h->start, JUMP, (uintptr_t)sg_bare_entry(h));
    if (h->kind != SG_INLINED_BLOCK)
        return;
    skim.strange |= *(const uint8_t *)call != CALL;
    add_patch(call, CALL, (uintptr_t)sg_skim_late);
}

bool sg_skim_can(void)
{
    if (skim.patches == NULL) {
        if (!sg_inline_each(count_hook) || !sg_bare_make())
            return false;
        skim.patches = sg_new((2 * skim.hooks + 1) * sizeof *skim.patches);
        skim.budgets = sg_new(sg->executions_count * sizeof *skim.budgets);
        sg_inline_each(make_patch);
    }
    return !skim.strange;
}

static void begin_count(uint32_t place, uint16_t budget)
{
    *sg_inline_slot(place) = skim.budgets[place] = budget;
}

bool sg_skim(bool on)
{
    if (on == skim.on)
        return true;
    if (!sg_inline_open_code(true))
        return false;
    for (uint32_t i = 0; i < skim.count; i++) {
        patch *p = &skim.patches[i];
        uint8_t there[PATCHED];
        memcpy(there, p->at, PATCHED);
        memcpy(p->at, p->other, PATCHED);
        memcpy(p->other, there, PATCHED);
    }
    skim.on = on;
    skim.parts = 0;
    for (uint32_t place = sg->blocks_count; place < sg->executions_count; place++)
        begin_count(place, FIRST_BUDGET);
    return sg_inline_open_code(false);
}

/* Cost of the executions counted at an index, on the machine's processors. */
static uint64_t counted(uint32_t place)
{
    uint32_t block = sg->slots[place].block;
    uint64_t executions = skim.budgets[place] - *sg_inline_slot(place);
    if (SG_UNLIKELY(sg->learn != NULL) && block != SG_NO_BLOCK && executions != 0)
        sg->learn(block);
    return block == SG_NO_BLOCK ? 0 : executions * sg->speed[0].blocks[block].parts;
}

/* The first index from `place` on that has counted, or the end. Most have not, so eight are compared at once.
 */
static uint32_t next_counted(uint32_t place)
{
    uint32_t end = sg->executions_count;
    const uint64_t *slot = sg_inline_slot(place);
    const uint16_t *budget = &skim.budgets[place];
    for (; place + 8 <= end; place += 8, slot += 8, budget += 8) {
        uint64_t differs = 0;
        for (int i = 0; i < 8; i++)
            differs |= (slot[i] ^ FIRST_BUDGET) | (budget[i] ^ FIRST_BUDGET);
        if (differs != 0)
            break;
    }
    for (; place < end && *slot == FIRST_BUDGET && *budget == FIRST_BUDGET; slot++, budget++)
        place++;
    return place;
}

/* Cost of the executions since the last count was begun. */
static uint64_t work(bool begins)
{
    uint64_t parts = skim.parts;
    for (uint32_t i = sg->blocks_count; (i = next_counted(i)) < sg->executions_count; i++) {
        parts += counted(i);
        if (begins)
            begin_count(i, FIRST_BUDGET);
    }
    return parts;
}

uint64_t sg_skim_work(void)
{
    uint64_t parts = work(true);
    skim.parts = 0;
    return parts;
}

void sg_skim_visit(uint64_t begin, double pace, uint64_t most)
{
    skim.begin = begin;
    skim.pace = pace;
    skim.most = most;
}

int64_t sg_skim_since(uint64_t clock)
{
    return (int64_t)skim.begin - (int64_t)clock + (int64_t)(skim.pace * (double)work(false));
}

bool sg_skim_library(uint64_t parts)
{
    if (work(false) + parts > skim.most) {
        sg_observed.exceeds();
        return false;
    }
    skim.parts += parts;
    return true;
}

bool sg_skim_pass(const void *site)
{
    sg_processor *p = sg_now;
    skim.passes++;
    if (!skim.on)
        return false;
    p->time += PASSED * SG_PARTS;
    if (p->coroutine != NULL && p->time > p->time_limit)
        sg_yield(p, site);
    return true;
}

uint64_t sg_skim_passes(void)
{
    return skim.passes;
}

SG_API void sg_skim_late(void)
{
    sg_processor *p = sg_now;
    const void *site = SG_CALLER;
    uint32_t place = sg_inline_place(site), budget = LARGER * skim.budgets[place];
    uint64_t parts = counted(place);
    begin_count(place, budget < MOST_BUDGET ? (uint16_t)budget : MOST_BUDGET);
    if (p->coroutine == NULL)
        return; /* after the end */
    skim.parts += parts;
    p->time += parts < SG_PARTS ? SG_PARTS : parts & ~(SG_PARTS - 1);
    if (skim.parts > skim.most)
        sg_observed.exceeds();
    if (p->time > p->time_limit)
        sg_yield(p, site);
}

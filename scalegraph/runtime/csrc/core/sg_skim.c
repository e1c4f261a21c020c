/* The program's code while it is skimmed, see sg_skim.h.
 *
 * While the program is skimmed, execution jumps over its hooks. A block's hook decrements the slot itself,
 * whichever processor runs, and calls the runtime when the count is used up, so that a thread that waits
 * for another in a loop of its own lets it run. Both forms of the code are kept and swapped; nobody is
 * inside a hook except after its call. */
#include "sg_skim.h"

#include "sg_inline.h"
#include "sg_runtime.h"

/* Executions of a block until its thread yields: at first few, so that a visit with more work than expected
 * is seen early, then each time this many times as many: enough to make the call rare, but few enough to keep
 * spin loops short. */
enum { FIRST_BUDGET = 64, LARGER = 4, MOST_BUDGET = 4096 };

enum { MOST_PATCHED = 11 };

typedef struct patch {
    uint8_t *at;
    uint8_t length;
    uint8_t other[MOST_PATCHED]; /* the code for the other mode */
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
} skim = {0};

static uint64_t end_of(const sg_inlined *h)
{
    return h->start + h->length;
}

static void put_32(uint8_t *at, int64_t value)
{
    int32_t small = (int32_t)value;
    memcpy(at, &small, sizeof small);
}

static void add_patch(uint64_t at, const uint8_t *code, uint8_t length)
{
    patch *p = &skim.patches[skim.count++];
    p->at = (uint8_t *)at;
    p->length = length;
    memcpy(p->other, code, length);
}

/* Writes a jmp to the end of the hook. */
static void jump_over(const sg_inlined *h)
{
    uint8_t code[5] = {0xeb, (uint8_t)(h->length - 2)};
    bool near = h->length - 2 <= INT8_MAX;
    if (!near) {
        code[0] = 0xe9;
        put_32(code + 1, (int64_t)h->length - 5);
    }
    add_patch(h->start, code, near ? 2 : 5);
}

SG_API void sg_skim_late(void);

/* Writes: decq slot(%rip); jns end; jmp to the call, which calls the function below. */
static void count_down(const sg_inlined *h)
{
    uint8_t code[MOST_PATCHED] = {
        0x48, 0xff, 0x0d, 0, 0, 0, 0, 0x79, (uint8_t)(h->length - 9), 0xeb, (uint8_t)(h->length - 5 - 11)};
    uint8_t target[4];
    put_32(code + 3, (int64_t)h->slot - (int64_t)(h->start + 7));
    put_32(target, (int64_t)(uintptr_t)sg_skim_late - (int64_t)end_of(h));
    add_patch(h->start, code, sizeof code);
    add_patch(end_of(h) - sizeof target, target, sizeof target);
}

static void count_hook(const sg_inlined *h)
{
    (void)h;
    skim.hooks++;
}

static void make_patch(const sg_inlined *h)
{
    if (h->kind != SG_INLINED_BLOCK)
        jump_over(h);
    else if (h->length - 9 <= INT8_MAX && *(const uint8_t *)(end_of(h) - 5) == 0xe8) /* call */
        count_down(h);
    else
        skim.strange = true;
}

bool sg_skim_can(void)
{
    if (skim.patches == NULL) {
        if (!sg_inline_each(count_hook))
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
        uint8_t there[MOST_PATCHED];
        memcpy(there, p->at, p->length);
        memcpy(p->at, p->other, p->length);
        memcpy(p->other, there, p->length);
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

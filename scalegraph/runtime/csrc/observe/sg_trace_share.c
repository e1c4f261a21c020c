/* The change of an account since its last recording.
 *
 * Busy cycles are computed only at the end, from block executions; the block hook stays as it is. A region
 * executes few of all blocks. Those it has executed so far are checked first: since each execution takes
 * time, their cost differs from the elapsed time if another block was executed. Only then are all blocks
 * checked. */
#include <string.h>

#include "sg_array.h"
#include "sg_trace_file.h"
#include "sg_trace_share.h"

typedef struct seen {
    uint32_t block;
    uint64_t executions;
} seen;

struct sg_told {
    uint64_t categories[SG_CATEGORY_COUNT]; /* charged directly */
    uint64_t parts;                         /* of a cycle, not yet taken by the clock */
    uint64_t scaled[4];                     /* charged by virtual speedups, in parts */
    uint64_t busy[4];                       /* by category, in parts */
    uint64_t given[4];                      /* cycles recorded of each category */
    uint64_t ops, flops, references, misses;
    uint64_t counted; /* references implied by block executions */
    seen *blocks;
    uint32_t count, room;
    uint64_t *known; /* bit set of the blocks among those */
};

sg_told *sg_told_new(void)
{
    sg_told *told = sg_trace_new(sizeof *told);
    told->known = sg_trace_new((2 * sg->executions_count + 63) / 64 * sizeof(uint64_t));
    return told;
}

static void look_at(sg_told *told, uint32_t block)
{
    SG_ARRAY_HOLD_IN(sg_trace_larger, told->blocks, told->room, told->count, 16);
    told->blocks[told->count++] = (seen){.block = block};
    told->known[block / 64] |= 1ull << block % 64;
}

/* Adds the executions of the checked blocks from number `first` on; returns their parts. */
static uint64_t add_blocks(sg_told *told, const sg_account *account, uint32_t first, sg_share *share)
{
    uint64_t parts = 0;
    for (uint32_t i = first; i < told->count; i++) {
        seen *s = &told->blocks[i];
        uint64_t executions = account->executions[s->block] - s->executions;
        if (executions == 0)
            continue;
        uint32_t count = sg->executions_count; /* indices beyond it: executed by a lone processor */
        const sg_slot *slot = &sg->slots[s->block < count ? s->block : s->block - count];
        const sg_block_cost *cost = &sg_speed_of(account->rest.processor)->blocks[slot->block];
        s->executions += executions;
        told->counted += executions * (slot->reads + slot->writes);
        for (int category = 0; category < 4; category++)
            told->busy[category] += executions * cost->busy[category];
        share->ops += executions * cost->ops;
        share->flops += executions * cost->flops;
        parts += executions * cost->parts;
    }
    return parts;
}

static uint64_t add_new_blocks(sg_told *told, const sg_account *account, sg_share *share)
{
    uint32_t first = told->count;
    uint32_t count = account->alone ? 2 * sg->executions_count : sg->executions_count;
    for (uint32_t block = 0; block < count; block++)
        if (account->executions[block] != 0 && (told->known[block / 64] >> block % 64 & 1) == 0 &&
            sg->slots[block % sg->executions_count].block != SG_NO_BLOCK)
            look_at(told, block);
    return add_blocks(told, account, first, share);
}

/* Blocks scaled by a virtual speedup are charged at once, in parts. */
static uint64_t add_scaled(sg_told *told, const sg_account *account)
{
    uint64_t parts = 0;
    for (int category = 0; category < 4; category++) {
        uint64_t more = account->busy[category] - told->scaled[category];
        told->scaled[category] += more;
        told->busy[category] += more;
        parts += more;
    }
    return parts;
}

static int largest(const int64_t value[4])
{
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (value[i] > value[best])
            best = i;
    return best;
}

/* Divides `cycles` among the busy categories: each is then recorded with its whole cycles so far, and the
 * leftover cycles go to the largest fractions, as in the result (sg_cost.c). A category that got such a cycle
 * earlier but should no longer have it keeps it, and another one waits. */
static void give(sg_told *told, uint64_t cycles, uint64_t categories[4])
{
    int64_t more[4], rest[4], left = (int64_t)cycles;
    for (int i = 0; i < 4; i++) {
        more[i] = (int64_t)(told->busy[i] / SG_PARTS) - (int64_t)told->given[i];
        rest[i] = (int64_t)(told->busy[i] % SG_PARTS);
        left -= more[i];
    }
    for (; left > 0; left--) {
        int best = largest(rest);
        more[best]++;
        rest[best] = 0;
    }
    for (int i = 0; i < 4; i++)
        for (; more[i] < 0; more[i]++)
            more[largest(more)]--;
    for (int i = 0; i < 4; i++) {
        told->given[i] += (uint64_t)more[i];
        categories[i] += (uint64_t)more[i];
    }
}

/* Adds charges other than blocks; returns the cycles. */
static uint64_t add_charged(sg_told *told, const sg_account *account, sg_share *share)
{
    uint64_t cycles = 0;
    for (int category = 0; category < SG_CATEGORY_COUNT; category++) {
        uint64_t now = account->rest.categories[category];
        if (category >= SG_CATEGORY_STALL_LOCAL && category <= SG_CATEGORY_STALL_CONTENTION)
            now += account->stall[category - SG_CATEGORY_STALL_LOCAL];
        share->categories[category] = now - told->categories[category];
        cycles += share->categories[category];
        told->categories[category] = now;
    }
    return cycles;
}

/* References implied by entries without a block: elapsed time does not reveal whether they were executed. */
static uint64_t uncosted(const sg_account *account)
{
    uint64_t references = 0;
    for (uint32_t i = 0; i < sg->uncosted_count; i++) {
        uint32_t place = sg->uncosted[i];
        uint64_t executions = account->executions[place];
        if (account->alone)
            executions += account->executions[sg->executions_count + place];
        references += executions * (sg->slots[place].reads + sg->slots[place].writes);
    }
    return references;
}

static void add_counts(sg_told *told, const sg_account *account, sg_share *share)
{
    const uint64_t *counters = account->rest.counters;
    uint64_t ops = account->ops + counters[SG_COUNTER_OPS];
    uint64_t flops = account->flops + counters[SG_COUNTER_FLOPS];
    uint64_t references = account->reads + account->writes + told->counted + uncosted(account);
    uint64_t misses = account->events[SG_COUNTER_MISSES - SG_COUNTER_L1_MISSES];
    share->ops += ops - told->ops;
    share->flops += flops - told->flops;
    share->references = references - told->references;
    share->misses = misses - told->misses;
    told->ops = ops;
    told->flops = flops;
    told->references = references;
    told->misses = misses;
}

void sg_told_since(sg_told *told, const sg_account *account, uint64_t cycles, sg_share *share)
{
    share->ops = share->flops = 0;
    share->inexact = false;
    uint64_t busy = cycles - add_charged(told, account, share);
    uint64_t passed = busy * SG_PARTS + sg_account_parts(account) - told->parts;
    uint64_t parts = add_blocks(told, account, 0, share) + add_scaled(told, account);
    if (SG_UNLIKELY(parts != passed))
        parts += add_new_blocks(told, account, share);
    if (SG_UNLIKELY(parts != passed)) {
        share->inexact = true;
        int best = 0;
        for (int i = 1; i < 4; i++)
            if (told->busy[i] > told->busy[best])
                best = i;
        told->busy[best] += passed - parts;
    }
    told->parts = sg_account_parts(account);
    if (busy != 0)
        give(told, busy, share->categories);
    add_counts(told, account, share);
}

/* Accounts: costs of basic blocks and regions, and events by code address. */
#include <sys/mman.h>

#include "sg_array.h"
#include "sg_block_table.h"
#include "sg_inline.h"
#include "sg_overlap.h"
#include "sg_probe.h"
#include "sg_runtime.h"

const uint8_t sg_category_group[SG_CATEGORY_COUNT] = SG_CATEGORY_GROUPS;

#define PURPOSE "the accounts of the simulation"

extern char __executable_start[], etext[]; /* defined by the linker */

/* ---- basic blocks ---- */

static const uint8_t op_category[SG_OP_COUNT] = {
    [SG_OP_INT_ALU] = SG_CATEGORY_BUSY_INT,  [SG_OP_INT_MUL] = SG_CATEGORY_BUSY_INT,
    [SG_OP_INT_DIV] = SG_CATEGORY_BUSY_INT,  [SG_OP_LOAD] = SG_CATEGORY_BUSY_MEM,
    [SG_OP_STORE] = SG_CATEGORY_BUSY_MEM,    [SG_OP_BRANCH] = SG_CATEGORY_BUSY_CONTROL,
    [SG_OP_CALL] = SG_CATEGORY_BUSY_CONTROL, [SG_OP_FP_ADD] = SG_CATEGORY_BUSY_FP,
    [SG_OP_FP_MUL] = SG_CATEGORY_BUSY_FP,    [SG_OP_FP_FMA] = SG_CATEGORY_BUSY_FP,
    [SG_OP_FP_DIV] = SG_CATEGORY_BUSY_FP,    [SG_OP_FP_SQRT] = SG_CATEGORY_BUSY_FP,
    [SG_OP_FP_OTHER] = SG_CATEGORY_BUSY_FP,
};

_Static_assert(SG_CATEGORY_BUSY_INT == 0 && SG_CATEGORY_BUSY_CONTROL == 3, "the busy categories come first");

/* Gives one of `left` to each of the largest of `rest` (ties: the first). */
static void give_rest(uint64_t left, uint64_t rest[4], uint64_t part[4])
{
    for (; left > 0; left--) {
        int best = 0;
        for (int i = 1; i < 4; i++)
            if (rest[i] > rest[best])
                best = i;
        part[best]++;
        rest[best] = 0;
    }
}

/* Splits `cycles` over the four busy categories in proportion to `weight`, exactly: whole parts first, then
 * one to each of the largest remainders (ties: the first category). */
static void split(uint64_t cycles, const uint64_t weight[4], uint64_t part[4])
{
    uint64_t sum = weight[0] + weight[1] + weight[2] + weight[3], left = cycles, rest[4];
    for (int i = 0; i < 4; i++) {
        part[i] = sum ? cycles * weight[i] / sum : 0;
        rest[i] = sum ? cycles * weight[i] % sum : 0;
        left -= part[i];
    }
    give_rest(left, rest, part);
}

/* An in-order processor finishes a block before the next: whole cycles, at least one, so that a spin loop
 * takes time. */
static uint64_t in_order(uint64_t ops, uint64_t millicycles, uint64_t width)
{
    uint64_t issue = (ops + width - 1) / width, work = (millicycles + 999) / 1000;
    uint64_t cycles = issue > work ? issue : work;
    return (cycles != 0 ? cycles : 1) * SG_PARTS;
}

/* The units of an out-of-order processor work in parallel, and into the next block: the busiest one is the
 * bottleneck. Integer operations and branches share units; loads and stores have their own. */
static uint64_t out_of_order(const sg_block *block, uint64_t ops, const uint64_t weight[4], uint64_t width)
{
    const uint32_t *cost = sg->config.op_millicycles;
    uint64_t stores = (uint64_t)block->ops[SG_OP_STORE] * cost[SG_OP_STORE];
    uint64_t loads = weight[SG_CATEGORY_BUSY_MEM] - stores, most = ops * 1000 / width;
    uint64_t whole = weight[SG_CATEGORY_BUSY_INT] + weight[SG_CATEGORY_BUSY_CONTROL],
             real = weight[SG_CATEGORY_BUSY_FP];
    most = most > whole ? most : whole;
    most = most > real ? most : real;
    most = most > loads ? most : loads;
    most = most > stores ? most : stores;
    uint64_t parts = most * SG_PARTS / 1000;
    return parts != 0 ? parts : 1; /* so that a spin loop takes time */
}

/* Cost of a block in the pipeline model, which overlaps blocks. */
static uint64_t pipelined(uint32_t millicycles)
{
    uint64_t parts = (uint64_t)millicycles * SG_PARTS / 1000;
    return parts != 0 ? parts : 1; /* so that a spin loop takes time */
}

/* `timing`: how long the block takes; NULL: use the cost of its operations. */
static void block_cost(const sg_block *block, const sg_timing *timing, sg_block_cost *cost)
{
    const sg_config *config = &sg->config;
    uint64_t weight[4] = {0}, ops = 0;
    for (int op = 0; op < SG_OP_COUNT; op++) {
        ops += block->ops[op];
        weight[op_category[op]] += (uint64_t)block->ops[op] * config->op_millicycles[op];
    }
    uint64_t width = config->issue_width ? config->issue_width : 1;
    uint64_t sum = weight[0] + weight[1] + weight[2] + weight[3];
    bool is_timed = timing != NULL && timing->millicycles != SG_TIMING_BY_OPERATIONS;
    bool is_known = timing == NULL || timing->millicycles != SG_TIMING_UNKNOWN;
    uint64_t unit = config->out_of_order || is_timed ? 1 : SG_PARTS;
    if (!is_known)
        cost->parts = 0; /* until it is executed, see sg_rows.c */
    else if (is_timed)
        cost->parts = pipelined(timing->millicycles);
    else
        cost->parts =
            config->out_of_order ? out_of_order(block, ops, weight, width) : in_order(ops, sum, width);
    cost->ops = ops;
    cost->flops = block->flops;
    split(cost->parts / unit, weight, cost->busy);
    for (int i = 0; i < 4; i++)
        cost->busy[i] *= unit;
}

static const sg_block *block_rows = NULL; /* operations of blocks, from number 1 on */

/* Sets the costs of block `number` at one speed. */
static void scale(const sg_speed *speed, uint32_t number, uint32_t thousandths)
{
    sg_block_cost *cost = &speed->blocks[number];
    *cost = sg->blocks[number];
    cost->parts = 0;
    for (int k = 0; k < 4; k++)
        cost->parts += cost->busy[k] = cost->busy[k] * 1000 / thousandths;
    if (cost->parts == 0 && sg->blocks[number].parts > 0)
        cost->parts = cost->busy[0] = 1; /* so that a spin loop takes time */
    speed->parts[number] = speed->parts[sg->executions_count + number] = cost->parts;
}

static sg_speed make_speed(uint32_t thousandths)
{
    if (thousandths == 1000)
        return (sg_speed){sg->blocks, sg->block_parts, NULL};
    sg_speed speed = {sg_reserve(sg->blocks_count * sizeof(sg_block_cost), PURPOSE),
                      sg_reserve(2 * sg->executions_count * sizeof(uint64_t), PURPOSE), NULL};
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        scale(&speed, i, thousandths);
    speed.parts[sg->executions_count] = sg->block_parts[sg->executions_count];
    return speed;
}

void sg_cost_set(uint32_t number)
{
    const sg_timing *timing = sg->timing == NULL ? NULL : &sg->timing[number - 1];
    sg_block_cost *cost = &sg->blocks[number];
    block_cost(&block_rows[number - 1], timing, cost);
    sg->block_parts[number] = sg->block_parts[sg->executions_count + number] = cost->parts;
    if (timing != NULL)
        sg->branch_targets[number] = timing->predicted != 0;
    for (uint32_t i = 0; sg->speed != NULL && i < sg->speeds; i++)
        if (sg->speed[i].blocks != sg->blocks)
            scale(&sg->speed[i], number, sg_config_node_speed(&sg->config, i));
}

/* Block costs on nodes of different speeds. */
static void open_speeds(void)
{
    const sg_config *config = &sg->config;
    sg->speeds = config->node_speeds > 0 ? config->node_speeds : 1;
    sg->speed = sg_reserve(sg->speeds * sizeof *sg->speed, PURPOSE);
    for (uint32_t i = 0; i < sg->speeds; i++)
        sg->speed[i] = make_speed(sg_config_node_speed(config, i));
}

void sg_cost_open(void)
{
    sg->text_low = (uintptr_t)__executable_start;
    sg->text_high = (uintptr_t)etext;
    size_t text = sg->text_high - sg->text_low + 1;
    sg->block_index = sg_reserve(text * sizeof(uint32_t), PURPOSE);
    sg->site_index = sg_reserve(text * sizeof(uint32_t), PURPOSE);
    sg->lone_index = sg_reserve(text * sizeof(uint32_t), PURPOSE);
    sg->no_block_index = sg_reserve(text * sizeof(uint32_t), PURPOSE);
    sg->sites =
        sg_reserve((text / 5 + 2) * sizeof(sg_site_count), PURPOSE); /* a call is at least five bytes long */
    sg->sites_count = 1;                                             /* number 0: anywhere else */

    sg_block_table found = {0};
    if (sg->config.blocks_path[0])
        found = sg_block_table_read(sg->config.blocks_path);
    sg->timing = found.timing;
    block_rows = found.blocks;
    size_t count = found.count;
    sg->blocks = sg_reserve((count + 1) * sizeof(sg_block_cost), PURPOSE);
    sg->blocks_count = (uint32_t)count + 1;
    sg->executions_count = sg->blocks_count + sg_inline_slots();
    sg->block_parts = sg_reserve(2 * sg->executions_count * sizeof(uint64_t), PURPOSE);
    sg->block_address = sg_reserve((count + 1) * sizeof(uint64_t), PURPOSE);
    if (sg->timing != NULL)
        sg->branch_targets = sg_reserve((count + 1) * sizeof *sg->branch_targets, PURPOSE);
    /* A block without a record. */
    sg->blocks[0] = (sg_block_cost){.busy = {SG_PARTS}, .ops = 1, .parts = SG_PARTS};
    sg->block_parts[0] = SG_PARTS;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = found.blocks[i].address;
        if (address < sg->text_low || address > sg->text_high)
            continue;
        sg_cost_set((uint32_t)i + 1);
        sg->block_address[i + 1] = address;
        sg->block_index[address - sg->text_low] = (uint32_t)i + 1;
        sg->lone_index[address - sg->text_low] = sg->executions_count + (uint32_t)i + 1;
    }
    sg_overlap_open(found.loads, found.loads_count);
    sg_clock_open(found.clocks, found.clocks_count);
    open_speeds();
    sg_inline_open();
}

sg_site_count *sg_site_new(uintptr_t address)
{
    uint32_t number = sg->sites_count++;
    sg->site_index[address - sg->text_low] = number;
    sg->sites[number].address = address;
    if (sg->overlaps)
        sg->sites[number].load = sg_overlap_number(address);
    return &sg->sites[number];
}

/* ---- regions ---- */

/* From this size on an account is dense enough for huge pages. */
#define DENSE 8192u

/* Accounts lie side by side in lazily allocated memory: a region uses few blocks. */
static sg_account *new_account(void)
{
    static const size_t chunk = (size_t)1 << 26;
    size_t size = (sizeof(sg_account) + 2 * sg->executions_count * sizeof(uint64_t) + 63) & ~(size_t)63;
    if (size % 1024 == 0)
        size +=
            64; /* so that the same slot of two accounts does not map to the same set of the host's cache */
    if (sg->accounts_left < size) {
        sg->accounts_left = size > chunk ? size : chunk;
        sg->accounts_next = sg_reserve(sg->accounts_left, PURPOSE);
        madvise(sg->accounts_next, sg->accounts_left, size > DENSE ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    }
    sg_account *account = (sg_account *)sg->accounts_next;
    sg->accounts_next += size;
    sg->accounts_left -= size;
    return account;
}

sg_account *sg_account_of(sg_processor *p, uint32_t region)
{
    SG_ARRAY_HOLD(p->accounts, p->accounts_size, region, 16);
    if (SG_UNLIKELY(p->accounts[region] == NULL)) {
        sg_account *account = new_account();
        account->rest.processor = p->id;
        account->rest.region = region;
        sg_account_change(account, SG_ALL_CHANGED);
        p->accounts[region] = account;
    }
    return p->accounts[region];
}

/* The first count from `from` on that is not 0, or `end`. Most are, so four are compared at once. */
static uint32_t next_executed(const uint64_t *executions, uint32_t from, uint32_t end)
{
    typedef uint64_t four __attribute__((vector_size(32), aligned(8), may_alias));
    for (; from + 8 <= end; from += 8) {
        four any = *(const four *)&executions[from] | *(const four *)&executions[from + 4];
        if ((any[0] | any[1] | any[2] | any[3]) != 0)
            break;
    }
    while (from < end && executions[from] == 0)
        from++;
    return from;
}

uint32_t sg_account_next(const sg_account *account, uint32_t from)
{
    uint32_t count = sg->executions_count, end = account->alone ? 2 * count : count;
    while (from < end) {
        uint32_t first = from < count ? 0 : count;
        if (!account->called && from < first + sg->blocks_count)
            from = first + sg->blocks_count;
        uint32_t at = next_executed(account->executions, from, first + count);
        if (at < first + count)
            return at;
        from = at;
    }
    return SG_NO_BLOCK;
}

void sg_account_settle(sg_account *account, void (*executed)(uint32_t block, uint64_t executions))
{
    sg_branch_wake();
    uint32_t count = sg->executions_count;
    const sg_block_cost *costs = sg_speed_of(account->rest.processor)->blocks;
    for (uint32_t i = 0; (i = sg_account_next(account, i)) != SG_NO_BLOCK; i++) {
        uint64_t executions = account->executions[i];
        const sg_slot *slot = &sg->slots[i < count ? i : i - count];
        account->executions[i] = 0;
        account->reads += executions * slot->reads;
        account->writes += executions * slot->writes;
        if (slot->block == SG_NO_BLOCK)
            continue;
        if (SG_UNLIKELY(sg->learn != NULL))
            sg->learn(slot->block);
        sg_block_cost *block = &sg->blocks[slot->block];
        if (executed != NULL)
            executed(slot->block, executions);
        if (i >= count) {
            sg_observe_lone_executions(account->rest.processor, slot->block, executions);
            account->rest.counters[SG_COUNTER_SERIAL_OPS] += executions * block->ops;
        }
        for (int category = 0; category < 4; category++)
            account->busy[category] += executions * costs[block - sg->blocks].busy[category];
        block->more += executions * (costs[block - sg->blocks].parts - block->parts);
        account->ops += executions * block->ops;
        account->flops += executions * block->flops;
        block->executions += executions;
    }
}

void sg_accounts_settle(void)
{
    for (uint32_t i = 0; i < sg->processors; i++) {
        const sg_processor *p = &sg->processor[i];
        for (uint32_t region = 0; region < p->accounts_size; region++)
            if (p->accounts[region] != NULL)
                sg_account_settle(p->accounts[region], NULL);
    }
    sg_observe_settles();
}

/* The clock took the whole cycles of the sum over the busy categories: each category gets its own whole
 * cycles, and the rest go to those with the largest remainders. */
static void add_busy(const sg_account *account, uint64_t categories[4])
{
    uint64_t left = 0, rest[4];
    for (int i = 0; i < 4; i++) {
        rest[i] = account->busy[i] % SG_PARTS;
        left += rest[i];
        categories[i] += account->busy[i] / SG_PARTS;
    }
    give_rest((left - sg_account_parts(account)) / SG_PARTS, rest, categories);
}

void sg_account_total(const sg_account *account, sg_cost *total)
{
    *total = account->rest;
    add_busy(account, total->categories + SG_CATEGORY_BUSY_INT);
    for (int i = 0; i < SG_STALLS; i++)
        total->categories[SG_CATEGORY_STALL_LOCAL + i] += account->stall[i];
    for (int i = 0; i < SG_EVENTS; i++)
        total->counters[SG_COUNTER_L1_MISSES + i] += account->events[i];
    total->counters[SG_COUNTER_OPS] += account->ops;
    total->counters[SG_COUNTER_FLOPS] += account->flops;
    total->counters[SG_COUNTER_READS] += account->reads;
    total->counters[SG_COUNTER_WRITES] += account->writes;
}

/* The regions of the thread of `p` have changed. */
static inline void report_regions(sg_processor *p, enum sg_regions_change change)
{
    if (SG_UNLIKELY(sg->regions_watched != 0))
        sg_observe_regions(p, change);
}

void sg_regions_reset(sg_thread *t, uint32_t region)
{
    t->stack_of_regions[0] = region;
    t->depth = 1;
    t->account = NULL;
    if (t->state == SG_RUNNING) {
        sg_account_set(t->processor, sg_account_of(t->processor, region));
        report_regions(t->processor, SG_REGIONS_ALL);
    }
}

uint32_t sg_region(const sg_thread *t)
{
    return t->depth ? t->stack_of_regions[(t->depth <= SG_REGION_DEPTH ? t->depth : SG_REGION_DEPTH) - 1] : 0;
}

void sg_regions_push(sg_thread *t, uint32_t region)
{
    if (t->depth < SG_REGION_DEPTH) {
        t->stack_of_regions[t->depth] = region;
        sg_account_set(t->processor, sg_account_of(t->processor, region));
    }
    t->depth++;
    report_regions(t->processor, SG_REGIONS_TASK);
}

void sg_regions_pop(sg_thread *t, uint32_t depth)
{
    if (t->depth == depth)
        return;
    t->depth = depth;
    sg_account_set(t->processor, sg_account_of(t->processor, sg_region(t)));
    report_regions(t->processor, SG_REGIONS_TASK);
}

/* Charges the cost of monitoring at a region's start or end to that region. */
static inline void charge_probe(sg_processor *p)
{
    if (SG_UNLIKELY(sg->config.monitor_cycles != 0))
        sg_charge_site(p, SG_CATEGORY_PRIM_MONITOR, sg->config.monitor_cycles);
}

/* Regions nested deeper than the stack count as the deepest one that fits. */
SG_API void __scalegraph_enter(unsigned id)
{
    sg_processor *p = sg_now;
    sg_thread *t = p->thread;
    if (SG_UNLIKELY(t == NULL))
        return;
    if (SG_LIKELY(t->depth < SG_REGION_DEPTH)) {
        t->stack_of_regions[t->depth] = id;
        sg_account_set(p, SG_LIKELY(id < p->accounts_size && p->accounts[id] != NULL) ? p->accounts[id]
                                                                                      : sg_account_of(p, id));
        if (t->id == 0)
            sg_observe_main_enters(id, p->clock);
    }
    t->depth++;
    report_regions(p, SG_REGIONS_INNERMOST);
    sg_count(p, SG_COUNTER_VISITS, 1);
    charge_probe(p);
}

static uint8_t *lends = NULL; /* by region */
static uint32_t lends_room = 0;

SG_API void __scalegraph_enter_library(unsigned id)
{
    __scalegraph_enter(id);
    SG_ARRAY_HOLD(lends, lends_room, id, 256);
    lends[id] = 1;
}

uint32_t sg_region_lent(const sg_thread *t)
{
    uint32_t region = sg_region(t);
    return region < lends_room && lends[region] ? region : 0;
}

SG_API void __scalegraph_leave(unsigned id)
{
    sg_processor *p = sg_now;
    sg_thread *t = p->thread;
    if (SG_UNLIKELY(t == NULL || t->depth <= 1))
        return;
    charge_probe(p);
    t->depth--;
    if (SG_UNLIKELY(t->depth >= SG_REGION_DEPTH))
        return;
    uint32_t open = t->depth;
    if (SG_UNLIKELY(t->stack_of_regions[t->depth] != id)) { /* a jump left inner regions open */
        uint32_t depth = t->depth;
        while (depth > 1 && t->stack_of_regions[depth] != id)
            depth--;
        if (depth > 1 || t->stack_of_regions[depth] == id)
            t->depth = depth;
    }
    for (uint32_t i = open; t->id == 0 && i >= t->depth; i--)
        sg_observe_main_categories(t->stack_of_regions[i], p->clock);
    /* The thread may have entered the region on another processor. */
    sg_account_set(p, sg_account_of(p, t->stack_of_regions[t->depth - 1]));
    report_regions(p, SG_REGIONS_INNERMOST);
}

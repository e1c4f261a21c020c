/* The start of branch prediction: targets, their costs, and predictors. */
#include "sg_branch_state.h"
#include "sg_inline.h"
#include "sg_runtime.h"

#define PURPOSE "the prediction of branches"

/* The target number of block `number`; 0: it is none. */
static uint32_t target_of(uint32_t number)
{
    return sg->branch_targets[number] ? sg_branches.at[sg->block_address[number] - sg->text_low] : 0;
}

/* Sets up the timing of target `i`; all targets are numbered. */
static void know_timing(uint32_t i)
{
    target *t = &sg_branches.targets[i];
    costs *c = &sg_branches.costs[i];
    const sg_timing *timing = &sg_branches.timing[t->block - 1];
    t->saved = (uint32_t)((uint64_t)timing->saved * SG_PARTS / 1000);
    c->early = (uint32_t)((uint64_t)timing->early * SG_PARTS / 1000);
    c->reach = timing->reach;
    c->less = sg_branch_share(t->block, -(int64_t)t->saved, sg->blocks[t->block].busy);
    for (uint32_t k = 0; k < SG_TURNS; k++) {
        t->turns[k] = target_of(timing->turns[k]);
        c->more[k] =
            t->turns[k] == 0 ? (share){0} : sg_branch_turn_share(t, k, sg->blocks[timing->turns[k]].busy);
    }
}

/* Numbers the blocks entered from branches. */
static void number_targets(void)
{
    sg_branches.count = 1;
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        sg_branches.count += sg->branch_targets[i];
    sg_branches.at = sg_reserve((sg->text_high - sg->text_low + 1) * sizeof *sg_branches.at, PURPOSE);
    sg_branches.by = (uintptr_t)sg_branches.at - sg->text_low * sizeof *sg_branches.at;
    sg_branches.targets = sg_new(sg_branches.count * sizeof *sg_branches.targets);
    sg_branches.costs = sg_new(sg_branches.count * sizeof *sg_branches.costs);
    for (uint32_t i = 0, number = 0; i < sg->blocks_count; i++)
        if (sg->branch_targets[i]) {
            sg_branches.at[sg->block_address[i] - sg->text_low] = ++number;
            sg_branches.targets[number].block = i;
            sg_branches.costs[number].place = sg_inline_place((const void *)(uintptr_t)sg->block_address[i]);
        }
    for (uint32_t i = 1; sg_branches.timing != NULL && i < sg_branches.count; i++)
        know_timing(i);
}

/* Target block `number` costs the trap, too. */
static void trap(uint32_t number)
{
    for (uint32_t k = 0; k < sg->speeds; k++) {
        uint64_t *parts = sg->speed[k].parts;
        if (sg->blocks_scaled) /* by an observer, which charges the whole block */
            parts[number] = SG_TRAP_PARTS;
        else
            parts[number] = parts[sg->executions_count + number] = parts[number] + SG_TRAP_PARTS;
    }
}

void sg_branch_learn(const uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sg->branch_targets[numbers[i]])
            trap(numbers[i]);
        else
            sg_branches.at[sg->block_address[numbers[i]] - sg->text_low] = 0;
    for (uint32_t i = 0; sg_branches.timing != NULL && i < count; i++)
        if (sg->branch_targets[numbers[i]])
            know_timing(target_of(numbers[i]));
}

/* Opens the predictors: a target is named like its block, and what follows a long visit of it like nothing
 * else. */
static void open_predictors(void)
{
    uint32_t *names = sg_new(2 * sg_branches.count * sizeof *names);
    for (uint32_t i = 1; i < sg_branches.count; i++) {
        names[i] = sg_branches.targets[i].block;
        names[sg_branches.count + i] = sg->blocks_count + names[i];
    }
    sg_predictor_open(names, 2 * sg_branches.count);
    size_t quick = sg_quick_stride(sg_branches.count);
    sg_quick *of = sg_reserve(quick * sg->processors * sizeof *of, PURPOSE);
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_predictor_begin(&sg_branches.of[i].predictor, i);
        sg_branches.of[i].quick = of + quick * i;
    }
}

void sg_branch_open(void)
{
    const sg_config *config = &sg->config;
    if (config->branches_penalty_cycles == 0 || sg->branch_targets == NULL)
        return;
    sg_branches.of = sg_new(sg->processors * sizeof *sg_branches.of);
    sg_branches.timing = sg->overlaps ? sg->timing : NULL;
    sg_branches.penalty = (uint64_t)config->branches_penalty_cycles * SG_PARTS;
    sg_branches.same_costs = sg->speeds == 1 && sg_observed.block == NULL;
    number_targets();
    open_predictors();
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        if (sg->branch_targets[i])
            trap(i);
}

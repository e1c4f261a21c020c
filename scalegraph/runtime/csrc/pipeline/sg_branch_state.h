/* What the prediction of branches knows. Private to sg_branch.c, sg_branch_start.c and core/sg_expect.h. */
#ifndef SG_BRANCH_STATE_H
#define SG_BRANCH_STATE_H

#include "sg_branch.h"
#include "sg_predictor.h"

/* Parts of a cycle, in total and by busy category. */
typedef struct share {
    int64_t all, of[4];
} share;

/* A block entered from a branch; targets have their own numbers, from 1 on. */
typedef struct target {
    uint32_t turns[SG_TURNS]; /* next targets off the usual path; 0: none */
    uint32_t saved;           /* see sg_timing, in parts */
    uint32_t block;
} target;

/* Its other costs. */
typedef struct costs {
    uint32_t reach, early;
    uint32_t place;             /* of its executions: see sg_inline_place */
    share more[SG_TURNS], less; /* of the turns, and of a round that saves; valid if sg_branches.same_costs */
} costs;

typedef struct state {
    uint32_t last;   /* the last target entered */
    uint32_t rounds; /* of the one-block loop `last`, so far */
    uint32_t loop;   /* whose last visit saved this many parts */
    uint64_t saved;
    sg_quick *quick; /* by target */
    sg_predictor predictor;
} __attribute__((aligned(64))) state;

extern struct sg_branches {
    state *of;    /* by processor; NULL: no prediction */
    uint32_t *at; /* target number, by offset in the text */
    uintptr_t by; /* where that would be for address 0 */
    target *targets;
    costs *costs;
    uint32_t count;   /* one more than the largest target number */
    uint64_t penalty; /* in parts of a cycle */
    const sg_timing *timing;
    bool same_costs; /* executions of a block cost the same everywhere */
} sg_branches;

/* Scales `parts` of the usual cost of an execution of block `number` to `cost`, its cost this time. */
share sg_branch_share(uint32_t number, int64_t parts, const uint64_t cost[4]);
/* Extra cost of the step to target number `i` among `from`'s turns. */
share sg_branch_turn_share(const target *from, uint32_t i, const uint64_t cost[4]);

/* The processor continues two switches from now: prefetches its state into the host's cache. */
static inline void sg_branch_expect_second(uint32_t processor)
{
    const char *s = (const char *)&sg_branches.of[processor];
    for (size_t at = 0; sg_branches.of != NULL && at < sizeof(state); at += 64)
        __builtin_prefetch(s + at, 1);
}

/* `p` continues after the next switch: prefetches what its first steps will read besides. */
static inline void sg_branch_expect(const sg_processor *p)
{
    if (sg_branches.of == NULL)
        return;
    const state *s = &sg_branches.of[p->id];
    const sg_predictor *q = &s->predictor;
    const sg_quick *quick = p->quick != &sg_quick_none ? p->quick : &s->quick[s->last];
    __builtin_prefetch(quick, 1);
    __builtin_prefetch(&q->way[quick - s->quick], 1);
    __builtin_prefetch(q->near_table.line, 1);
    __builtin_prefetch(q->near_table.ahead, 1);
    __builtin_prefetch(q->far_table.line, 1);
    __builtin_prefetch(q->far_table.ahead, 1);
}

#endif

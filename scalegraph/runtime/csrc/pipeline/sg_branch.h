/* Prediction of branches: what a processor does not foresee costs the machine's penalty. */
#ifndef SG_BRANCH_H
#define SG_BRANCH_H

#include "sg_state.h"

/* Blocks and observers are known: hooks of blocks whose entry needs a prediction come to sg_branch_pass. */
void sg_branch_open(void);
/* `p` enters the block whose hook returns to `site`, and has got SG_TRAP cycles too many: takes them away, or
 * has the observer do it that charges blocks. */
void sg_branch_enter(sg_processor *p, const void *site);
/* The same for the hook itself: gives way if `p` is beyond its limit then. */
void sg_branch_pass(sg_processor *p, const void *site);
/* What `p` does next needs the result of an atomic operation, which is known when all before it is done:
 * visits of loops before and behind it do not overlap. */
void sg_branch_await(const sg_processor *p);

/* The loop of one block whose rounds cost no call at the moment; NULL: none. */
extern sg_processor *sg_branch_quiet;
void sg_branch_wake_slow(void);

/* Another processor goes on, or executions are no longer what they were. */
static inline void sg_branch_wake(void)
{
    if (SG_UNLIKELY(sg_branch_quiet != NULL))
        sg_branch_wake_slow();
}

#endif

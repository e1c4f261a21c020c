/* Prediction of branches: what a processor does not foresee costs the machine's penalty. */
#ifndef SG_BRANCH_H
#define SG_BRANCH_H

#include "sg_state.h"

/* Blocks and observers are known: hooks of blocks whose entry needs a prediction come to sg_branch_enter. */
void sg_branch_open(void);
/* `p` enters the block whose hook returns to `site`, and has got SG_TRAP cycles too many: takes them away, or
 * has the observer do it that charges blocks. */
void sg_branch_enter(sg_processor *p, const void *site);
/* What `p` does next needs the result of an atomic operation, which is known when all before it is done:
 * visits of loops before and behind it do not overlap. */
void sg_branch_await(const sg_processor *p);

#endif

/* Branch prediction: mispredicted branches cost the machine's penalty. */
#ifndef SG_BRANCH_H
#define SG_BRANCH_H

#include "sg_state.h"

/* Call when blocks and observers are known: hooks of blocks whose entry needs a prediction will call
 * sg_branch_pass. */
void sg_branch_open(void);
/* `p` enters the block whose hook returns to `site` and was charged SG_TRAP cycles too many: subtracts them,
 * or has the observer that charges blocks do it. */
void sg_branch_enter(sg_processor *p, const void *site);
/* The timing of these blocks has become known. */
void sg_branch_learn(const uint32_t *numbers, uint32_t count);
/* The same for the hook itself: yields if `p` is then beyond its limit. */
void sg_branch_pass(sg_processor *p, const void *site);
/* `p` is beyond its limit after a quick step. */
void sg_branch_give_way(sg_processor *p, const void *site);

/* Is a processor with this `time` over the limit only because a branch has to be predicted? */
static inline bool sg_branch_is_due(uint64_t time)
{
    return time >= SG_TRAP_PARTS && sg->attention == 0;
}

/* Most steps of a path are those of the last time: predicted, at no extra cost, and only counted. Each block
 * has at most one such step (sg_quick), which the hook takes by itself: p->quick is the entry of the block
 * that was entered last, sg_quick_none if the next step is not to be taken so. p->time is `time`. */
static inline bool sg_branch_quickly(sg_processor *p, uint64_t time, const void *site)
{
    sg_quick *quick = p->quick;
    if (quick->site != (uint32_t)(uintptr_t)site)
        return false;
    if (SG_UNLIKELY(--quick->left < 0)) {
        quick->left = 0;
        return false;
    }
    p->quick = (sg_quick *)((char *)quick + quick->way);
    p->time = time -= SG_TRAP_PARTS;
    if (SG_UNLIKELY(time > p->time_limit))
        sg_branch_give_way(p, site);
    return true;
}
/* Entries of a processor's sg_quick for so many targets: whole lines of the host, an odd number of them, so
 * that the same target of all processors does not map to one set of its caches. */
static inline size_t sg_quick_stride(uint32_t targets)
{
    size_t in_line = 64 / sizeof(sg_quick);
    return (targets / in_line | 1) * in_line + 2 * in_line;
}

/* Block `number`, whose hook has charged `p` the trap at most: if nothing was known of it, charges it now.
 * True: it was so, and it is not entered from a branch. Only if sg->learn is not NULL. */
static inline bool sg_branch_is_news(sg_processor *p, uint32_t number)
{
    if (!sg->learn(number))
        return false;
    p->time += sg_speed_of(p->id)->blocks[number].parts;
    return !sg->branch_targets[number];
}

/* The same for the block whose hook returns to `site`. True: the hook is done with it, as `p` is within its
 * limit. */
static inline bool sg_branch_meets(sg_processor *p, const void *site)
{
    uintptr_t offset = (uintptr_t)site - sg->text_low;
    if (p->time < SG_TRAP_PARTS || offset > sg->text_high - sg->text_low ||
        !sg_branch_is_news(p, sg->block_index[offset]))
        return false;
    p->time -= SG_TRAP_PARTS;
    return p->time <= p->time_limit;
}

/* The next instructions of `p` need the result of an atomic operation, which completes after everything
 * before it: loop visits before and after it do not overlap. */
void sg_branch_await(const sg_processor *p);

/* The processor in a one-block loop whose rounds currently make no calls; NULL: none. */
extern sg_processor *sg_branch_quiet;
void sg_branch_wake_slow(void);

/* Another processor continues, or execution counts are about to change. */
static inline void sg_branch_wake(void)
{
    if (SG_UNLIKELY(sg_branch_quiet != NULL))
        sg_branch_wake_slow();
}

#endif

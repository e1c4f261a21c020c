/* What an account has been charged since it was last recorded. */
#ifndef SG_TRACE_SHARE_H
#define SG_TRACE_SHARE_H

#include "sg_runtime.h"

/* What has been recorded of an account. */
typedef struct sg_told sg_told;

/* Since the last time: cycles by category, and counts. */
typedef struct sg_share {
    uint64_t categories[SG_CATEGORY_COUNT];
    uint64_t ops, flops, references, misses;
    bool inexact; /* the split among busy categories is a guess: the run was stopped inside a block */
} sg_share;

sg_told *sg_told_new(void);
/* Reports what `account` was charged in the last `cycles` cycles of its processor. */
void sg_told_since(sg_told *told, const sg_account *account, uint64_t cycles, sg_share *share);

#endif

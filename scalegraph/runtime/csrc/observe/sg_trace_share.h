/* What an account has been charged since it was told last. */
#ifndef SG_TRACE_SHARE_H
#define SG_TRACE_SHARE_H

#include "sg_runtime.h"

/* What has been told of an account. */
typedef struct sg_told sg_told;

/* Since the last time: cycles by leaf, and what was counted. */
typedef struct sg_share {
    uint64_t leaves[SG_LEAF_COUNT];
    uint64_t ops, flops, references, misses;
    bool inexact; /* the busy leaves are split by guess: the run was stopped within a block */
} sg_share;

sg_told *sg_told_new(void);
/* Tells what `account` was charged in the last `cycles` cycles of its processor. */
void sg_told_since(sg_told *told, const sg_account *account, uint64_t cycles, sg_share *share);

#endif

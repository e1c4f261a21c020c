/* Where pages are by the program's own wish: what sg_policy.c and sg_numa.c share. */
#ifndef SG_POLICY_H
#define SG_POLICY_H

#include "sg_runtime.h"

/* Weak, so that a program's own library of this name is none. */
#define API          __attribute__((visibility("default"), used, weak))
#define SG_MASK_BITS (8 * sizeof(unsigned long))

/* Sets errno; returns -1. */
int sg_numa_fail(int reason);
sg_policy sg_policy_node(uint32_t node);
sg_policy sg_policy_first_touch(void);
/* Pages go round the nodes of `mask`, or all; a single node is that node. */
sg_policy sg_policy_round(const unsigned long *mask, unsigned long bits);
bool sg_policy_is_empty(const sg_policy *policy);
/* Of the running thread; NULL: where the machine says. */
void sg_policy_set(const sg_policy *policy);

#endif

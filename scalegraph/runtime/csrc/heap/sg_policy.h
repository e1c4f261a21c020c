/* Where the program asked for its pages: shared by sg_policy.c and sg_numa.c. */
#ifndef SG_POLICY_H
#define SG_POLICY_H

#include "sg_numa.h"
#include "sg_runtime.h"

/* Weak, so that a program's own library may define the name. */
#define API          __attribute__((visibility("default"), used, weak))
#define SG_MASK_BITS (8 * sizeof(unsigned long))

/* Sets errno; returns -1. */
int sg_numa_fail(int reason);
sg_policy sg_policy_node(uint32_t node);
sg_policy sg_policy_first_touch(void);
/* Interleaves pages over the nodes of `mask`, or all nodes; with a single node, uses that. */
sg_policy sg_policy_round(const unsigned long *mask, unsigned long bits);
bool sg_policy_is_empty(const sg_policy *policy);
/* For the running thread; NULL: the machine's rule. */
void sg_policy_set(const sg_policy *policy);

#endif

/* References to simulated memory and what they cost: what the runtime's state has of the memory system. */
#ifndef SG_ACCESS_H
#define SG_ACCESS_H

#include <stdint.h>

#include "sg_format.h"

enum sg_access { SG_READ, SG_WRITE, SG_RMW };

/* Cost of slow accesses: sg_mem_try_private and sg_mem_access add to it and never clear it. */
typedef struct sg_outcome {
    uint64_t cycles;                   /* sum of stall[] */
    uint64_t stall[SG_CATEGORY_COUNT]; /* only the memory stall categories are used */
    uint32_t count[SG_COUNTER_COUNT];  /* only memory counters are used (not reads/writes) */
} sg_outcome;

typedef struct sg_mem sg_mem;
typedef struct sg_policy sg_policy;

#endif

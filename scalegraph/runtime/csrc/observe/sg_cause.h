/* What happened, by cause: the program's and the runtime's references separately, copies invalidated per
 * write, misses by class. All of it is fed only from the slow path of a reference, unless misses are
 * classified (sg_miss_class.c). */
#ifndef SG_CAUSE_H
#define SG_CAUSE_H

#include "sg_runtime.h"

/* Of one region and cause, over all processors. The computation's part is the remainder of the accounts and
 * appears only in the result file. */
typedef struct sg_cause_part {
    uint64_t reads, writes;
    uint64_t events[SG_EVENTS];
    uint64_t stall[SG_STALLS];
    uint64_t classes[SG_CLASS_COUNT];
} sg_cause_part;

typedef struct sg_cause_region {
    sg_cause_part part[SG_CAUSE_COUNT];
    uint64_t *widths; /* [cause][copies invalidated by one write]; NULL: none */
} sg_cause_region;

/* Counts a miss of a class under a region and a cause. */
void sg_cause_class(uint32_t region, uint32_t cause, enum sg_miss_class class);

#endif

/* What happened, by cause: references of the program and of the runtime kept apart, copies invalidated by one
 * write, misses by class. Everything here is fed from the slow path of a reference only, unless misses are to
 * be classified (sg_miss_class.c). */
#ifndef SG_CAUSE_H
#define SG_CAUSE_H

#include "sg_runtime.h"

/* Of one region and one cause, over all processors. The computation's part is what remains of the accounts;
 * only the result file has it. */
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

/* Counts a miss of a class in the part of a region and a cause. */
void sg_cause_class(uint32_t region, uint32_t cause, enum sg_miss_class class);

#endif

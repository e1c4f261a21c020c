/* What is scaled in a run with virtual speedups. */
#ifndef SG_WHATIF_H
#define SG_WHATIF_H

#include <stdint.h>

#define MAX_ITEMS 64u /* they must fit in a bit set */

enum kind { CODE, REGION, WITHIN, LOCK, HELD, DATA, HEAP, COST, WHOLE, SECTION, CALL, KINDS };
enum { COMPUTE = 1, MEMORY = 2 };

typedef struct range {
    uint64_t low, high;
} range;

typedef struct item {
    enum kind kind;
    uint32_t parts;
    uint64_t multiplier, divisor;
    range *ranges;
    uint32_t count, size;
} item;

typedef struct sg_scales {
    item items[MAX_ITEMS];
    uint32_t count;
    uint64_t of_kind[KINDS], of_part[3]; /* bit sets of items */
    uint64_t removed;                    /* those that remove everything */
} sg_scales;

/* Reads the run's scale file (written by link/scale.py); ends the run if it is damaged. */
void sg_scales_read(sg_scales *scales);

#endif

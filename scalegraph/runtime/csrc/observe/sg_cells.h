/* Counts that sampling multiplies: what a measured visit of a phase adds to them is added once more for every
 * visit that is skipped (sg_sample.c). Who keeps such counts reports them when it is asked to. */
#ifndef SG_CELLS_H
#define SG_CELLS_H

#include "sg_runtime.h"

/* What is being done with the counts. */
enum sg_cells_step {
    SG_CELLS_COPY,    /* keeps them, and what was kept before as the state before */
    SG_CELLS_RESTORE, /* makes them what was kept */
    SG_CELLS_ADD      /* adds the difference of two states, several times */
};

/* Differences of two states, by range. */
typedef struct sg_difference {
    uint64_t **range;
    size_t *size; /* counts of each */
    size_t *room;
    uint32_t ranges;
} sg_difference;

typedef struct sg_cells sg_cells;

/* The latest clock of all: where a boundary between two states is in time. */
static inline uint64_t sg_latest(void)
{
    uint64_t clock = 0;
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg->processor[i].clock > clock)
            clock = sg->processor[i].clock;
    return clock;
}

/* Reports `count` records of `stride` bytes at `first`, of which `bytes` at the beginning are 64-bit counts.
 * A range is known by `key`, whatever becomes of its place; it grows at its end only. */
void sg_cells_add(sg_cells *cells, const void *key, void *first, size_t stride, size_t bytes, size_t count);

/* Does the step with all counts of the run. */
void sg_cells_copy(void);
void sg_cells_restore(void);
void sg_cells_multiply(const sg_difference *difference, uint64_t times);
/* The two states that were kept last. */
void sg_cells_differ(sg_difference *difference);

#endif

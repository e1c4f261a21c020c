/* Counts that sampling multiplies: what a measured visit of a phase adds to them is added again for every
 * skipped visit (sg_sample.c). Each owner of such counts reports them on request. */
#ifndef SG_CELLS_H
#define SG_CELLS_H

#include "sg_runtime.h"

/* The operation on the counts. */
enum sg_cells_step {
    SG_CELLS_COPY,    /* takes a snapshot; the previous one becomes the state before */
    SG_CELLS_RESTORE, /* restores the snapshot */
    SG_CELLS_ADD      /* adds the difference of two snapshots, several times */
};

/* What changed in a range between two snapshots. */
typedef struct sg_change {
    size_t at; /* number of the count */
    uint64_t by;
} sg_change;

typedef struct sg_changes {
    sg_change *change;
    uint32_t count, room;
} sg_changes;

/* The difference of two snapshots, by range; and the accounts that have one. */
typedef struct sg_difference {
    sg_changes *range;
    uint32_t ranges;
    sg_account **account;
    uint32_t accounts, accounts_room;
} sg_difference;

typedef struct sg_cells sg_cells;

/* The latest clock: the time of a boundary between two snapshots. */
static inline uint64_t sg_latest(void)
{
    uint64_t clock = 0;
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg->processor[i].clock > clock)
            clock = sg->processor[i].clock;
    return clock;
}

/* Reports `count` records of `stride` bytes at `first`, each starting with `bytes` bytes of 64-bit counts.
 * `key` identifies a range even if it moves; it grows only at its end. */
void sg_cells_add(sg_cells *cells, const void *key, void *first, size_t stride, size_t bytes, size_t count);

/* Takes a snapshot of the accounts, and brings `sum` over all of them up to date. */
void sg_cells_copy(sg_cost *sum);
/* Adds all other counts to it; nothing has happened since. */
void sg_cells_complete(void);
/* Restores the last snapshot, a complete one. */
void sg_cells_restore(void);
void sg_cells_multiply(const sg_difference *difference, uint64_t times);
/* The difference of the last two snapshots, both complete. */
void sg_cells_differ(sg_difference *difference);

#endif

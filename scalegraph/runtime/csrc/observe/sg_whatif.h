/* Virtual speedups: what if this line, region, lock or variable were so many times faster?
 *
 * The program runs again, and what the chosen code computes or waits for takes 1/factor of its time; all else
 * follows from that. The remainders of the divisions are kept, so that a sum is exact to a cycle. Nothing of
 * this is touched when the run has no scale file: scaled blocks are trapped by a cost that no block has.
 *
 * The scale file (link/scale.py writes it) has one line for each item and one for each of its ranges:
 *     item KIND PARTS MULTIPLIER DIVISOR     cycles become cycles * multiplier / divisor
 *     range LOW HIGH                         HIGH does not belong to it
 * KIND: code (ranges of return addresses), region (numbers of regions: what is charged to them), within (the
 * same with all that is called inside), lock (addresses of locks: their operations), held (the same: code
 * while one is held), data (addresses of data: misses), heap (return addresses of allocations: misses of the
 * blocks that were made there). PARTS: 1 computation, 2 memory stalls, 3 both. */
#ifndef SG_WHATIF_H
#define SG_WHATIF_H

#include "sg_runtime.h"

/* Reads the scale file if there is one. */
void sg_whatif_open(void);
/* A trapped block: `p` has got SG_TRAP cycles too many. Charges what the block costs now. */
void sg_whatif_block(sg_processor *p, const void *site);
/* The innermost region of the thread that runs on `p`, the thread itself, or the locks that it holds have
 * changed. */
void sg_whatif_changed(sg_processor *p);
/* Scales the stalls in sg->outcome of a reference of `p` to `address`. */
void sg_whatif_stalls(sg_processor *p, uint64_t address);
/* Scales the cycles of a private hit. */
uint64_t sg_whatif_hit(sg_processor *p, uint64_t address, const void *site, uint64_t cycles);
/* The same for a reference of a primitive, all of which is charged to `leaf`. */
void sg_whatif_touch(sg_processor *p, enum sg_leaf leaf);
/* What `cycles` of a primitive cost now: nothing when synchronisation is free, less in a scaled lock. */
uint64_t sg_whatif_primitive(sg_processor *p, enum sg_leaf leaf, uint64_t cycles);
/* The running thread begins or ends an operation on the lock at `object` (critical and atomic sections
 * without a variable: SG_LOCK_CRITICAL, SG_LOCK_ATOMIC). */
void sg_whatif_operation(uint64_t object, bool begins);
/* It got the lock, or is about to give it back. */
void sg_whatif_holds(uint64_t object, bool holds);
/* Busy cycles of block `number` over the whole run. */
uint64_t sg_whatif_busy(uint32_t number);

#define SG_LOCK_CRITICAL 1u
#define SG_LOCK_ATOMIC   2u

#endif

/* Misses of a processor whose pipeline is modelled: how much of their latency is not hidden. */
#ifndef SG_OVERLAP_H
#define SG_OVERLAP_H

#include "sg_state.h"

/* `rows`: what is known of the program's references. */
void sg_overlap_open(const sg_load_row *rows, size_t count);
/* Number of the record of the reference whose hook returns to `address`; 0: none. */
uint32_t sg_overlap_number(uint64_t address);

/* A reference of `p`, made at `site`, takes `cycles` until its data are there: the cycles for which the
 * processor stands still. Only if sg->overlaps. */
uint64_t sg_overlap_miss(sg_processor *p, const sg_site_count *site, uint64_t cycles);
/* The same for a branch in front of block `number` that was not foreseen: it is known only when what it
 * depends on has been loaded. */
uint64_t sg_overlap_branch(sg_processor *p, uint32_t number);
/* A virtual speedup has taken `parts` of a cycle from what `p` was charged. Misses are followed as if it had
 * not: what is made faster waits for memory in the same proportion. Nothing unless sg->overlaps. */
void sg_overlap_spare(sg_processor *p, uint64_t parts);

#endif

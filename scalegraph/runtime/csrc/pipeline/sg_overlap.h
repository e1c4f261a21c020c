/* Misses on a processor with a modelled pipeline: how much of their latency is not hidden. */
#ifndef SG_OVERLAP_H
#define SG_OVERLAP_H

#include "sg_state.h"

/* `rows`: what is known of the program's references. */
void sg_overlap_open(const sg_load_row *rows, size_t count);
/* These rows, and how many there are. */
const sg_load_row *sg_overlap_rows(uint32_t *count);
/* Record number of the reference whose hook returns to `address`; 0: none. */
uint32_t sg_overlap_number(uint64_t address);

/* A reference of `p` at `site` takes `cycles` until its data arrive: returns the cycles of stall. Only if
 * sg->overlaps. */
uint64_t sg_overlap_miss(sg_processor *p, const sg_site_count *site, uint64_t cycles);
/* The same for a mispredicted branch before block `number`: it is resolved only when the data it depends on
 * have been loaded. */
uint64_t sg_overlap_branch(sg_processor *p, uint32_t number);
/* A virtual speedup has removed `parts` of a cycle from the charges of `p`. Misses are tracked as if it had
 * not: code that becomes faster waits for memory in the same proportion. Does nothing unless sg->overlaps. */
void sg_overlap_spare(sg_processor *p, uint64_t parts);

#endif

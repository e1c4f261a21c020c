/* What lies at an address: symbols of the program, heap blocks by the place that allocated them, stacks, and
 * the variables of the simulated runtime; and the misses of each. */
#ifndef SG_VARIABLE_H
#define SG_VARIABLE_H

#include "sg_runtime.h"

typedef struct sg_variables_state sg_variables_state;

void sg_variable_open(void);
/* The allocator has given out, or taken back, `size` bytes at `block`; `caller` is the code address behind
 * the program's call. */
void sg_variable_born(const void *block, uint64_t size, const void *caller, bool large);
void sg_variable_gone(const void *block);
/* The runtime's own variables in [address, address + bytes) belong to `own`. */
void sg_variable_own(uint64_t address, uint64_t bytes, enum sg_own own);

/* How many heap blocks were allocated so far: what lies at an address stays until this changes. */
uint64_t sg_variable_births(void);
/* Is `address` a variable of the runtime that belongs to `a` or `b`? */
bool sg_variable_is_of(uint64_t address, enum sg_own a, enum sg_own b);

/* Number of the variable at `address`, 0 for what is not known; and where it begins. */
uint32_t sg_variable_at(uint64_t address, uint64_t *start, uint64_t *end);
sg_variable *sg_variable_number(uint32_t number);
/* Counts a reference that the memory system has done; `o` is its outcome. */
void sg_variable_note(uint64_t address, const sg_outcome *o);
uint64_t sg_variable_misses(void);
uint64_t sg_variable_put(struct sg_writer *w);

#endif

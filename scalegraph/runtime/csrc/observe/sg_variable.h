/* What is at an address: symbols of the program, heap blocks by the place that allocated them, stacks, and
 * the variables of the simulated runtime; and the misses of each. */
#ifndef SG_VARIABLE_H
#define SG_VARIABLE_H

#include "sg_runtime.h"

typedef struct sg_variables_state sg_variables_state;

/* How many heap blocks were allocated so far: what is at an address stays until this changes. */
uint64_t sg_variable_births(void);
/* Is `address` a variable of the runtime that belongs to `a` or `b`? */
bool sg_variable_is_of(uint64_t address, enum sg_own a, enum sg_own b);

/* Number of the variable at `address`, 0 for what is not known; and where it begins. */
uint32_t sg_variable_at(uint64_t address, uint64_t *start, uint64_t *end);
sg_variable *sg_variable_number(uint32_t number);
uint64_t sg_variable_misses(void);

#endif

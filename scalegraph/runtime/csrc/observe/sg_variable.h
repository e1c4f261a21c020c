/* What is at an address: symbols of the program, heap blocks by allocation site, stacks, and the simulated
 * runtime's variables; and the misses of each. */
#ifndef SG_VARIABLE_H
#define SG_VARIABLE_H

#include "sg_runtime.h"

typedef struct sg_variables_state sg_variables_state;

/* How many heap blocks have been allocated: lookups stay valid until this changes. */
uint64_t sg_variable_births(void);
/* Is `address` a variable of the runtime that belongs to `a` or `b`? */
bool sg_variable_is_of(uint64_t address, enum sg_own a, enum sg_own b);

/* Number of the variable at `address`, 0 if unknown; and its start. */
uint32_t sg_variable_at(uint64_t address, uint64_t *start, uint64_t *end);
sg_variable *sg_variable_number(uint32_t number);
uint64_t sg_variable_misses(void);

#endif

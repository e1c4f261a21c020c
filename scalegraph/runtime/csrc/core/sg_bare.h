/* A copy of the program's code without its hooks, for skimming: only blocks are counted in it. */
#ifndef SG_BARE_H
#define SG_BARE_H

#include <stdbool.h>
#include <stdint.h>

#include "sg_inline.h"

/* Makes the copy. False: the host has no memory for code near the program. */
bool sg_bare_make(void);
/* Where the copy continues in place of a hook. The copy leads back to the code itself where that calls a
 * function, and to a block's call when its slot falls below zero. */
const uint8_t *sg_bare_entry(const sg_inlined *hook);
/* The instruction of the program that was copied to `at`, or that led there; `at` itself if it is not in the
 * copy. */
uintptr_t sg_bare_origin(uintptr_t at);

#endif

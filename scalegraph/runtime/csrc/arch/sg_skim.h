/* Skimming: the program runs nearly as fast as without hooks. References do nothing; blocks are counted for
 * all processors together, and a thread gives way after many of them. */
#ifndef SG_SKIM_H
#define SG_SKIM_H

#include <stdbool.h>
#include <stdint.h>

/* Can this program be skimmed? */
bool sg_skim_can(void);
/* Begins to skim, or ends it; false: the host does not let the code be changed. */
bool sg_skim(bool on);
/* What the blocks executed since the last call cost, in parts of a cycle. */
uint64_t sg_skim_work(void);

#endif

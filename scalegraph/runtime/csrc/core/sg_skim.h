/* Skimming: the program runs nearly as fast as without hooks. References do nothing; blocks are counted for
 * all processors together, and a thread yields after many of them. */
#ifndef SG_SKIM_H
#define SG_SKIM_H

#include <stdbool.h>
#include <stdint.h>

/* Can this program be skimmed? */
bool sg_skim_can(void);
/* Starts or stops skimming; false: the host does not let the code be changed. */
bool sg_skim(bool on);
/* Cost of the blocks executed since the last call, in parts of a cycle. */
uint64_t sg_skim_work(void);

/* A skipped visit begins: skimming began at the clock `begin`, and a part of work takes `pace` cycles. Once
 * it has done more than `most`, the observer of that (`exceeds`) is asked. */
void sg_skim_visit(uint64_t begin, double pace, uint64_t most);
/* While skimming: what must be added to `clock` for the clock at which skimming began, with the time that the
 * work of this visit takes so far. */
int64_t sg_skim_since(uint64_t clock);
/* A library function with this work begins. False: the visit has too much work, so that it is simulated. */
bool sg_skim_library(uint64_t parts);
/* The thread may be waiting in a loop of its own: a fence, a value loaded again. While skimming it lets
 * others run, or it would do more work than when it is simulated. Returns whether the program is skimmed. */
bool sg_skim_pass(const void *site);
/* How many times that was called so far. */
uint64_t sg_skim_passes(void);

#endif

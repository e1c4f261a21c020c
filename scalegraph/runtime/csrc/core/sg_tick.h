/* Clock ticks that take processor time from the program: machine.disturbance. */
#ifndef SG_TICK_H
#define SG_TICK_H

#include "sg_runtime.h"

void sg_tick_begin(void);
/* Runs the handlers of the ticks that have interrupted `p`. */
void sg_tick_handle(sg_processor *p);
/* Skips ticks while `p` had no thread: they took nothing from the program. */
void sg_tick_miss(const sg_processor *p);

#endif

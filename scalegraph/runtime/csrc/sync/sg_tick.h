/* Clock ticks that take processors away from the program: machine.disturbance. */
#ifndef SG_TICK_H
#define SG_TICK_H

#include "sg_runtime.h"

void sg_tick_begin(void);
/* The handlers of the ticks that have interrupted what `p` executes. */
void sg_tick_handle(sg_processor *p);
/* Ticks while `p` had no thread took nothing from the program. */
void sg_tick_miss(const sg_processor *p);

#endif

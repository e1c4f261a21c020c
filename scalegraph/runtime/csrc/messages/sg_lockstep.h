/* SIMD machines: all elements execute one instruction stream.
 *
 * Between two points where all elements are together, a step takes the sum, over the basic blocks, of the
 * cost of one execution times the largest number of executions by any element; an element that executes a
 * block less often is masked off meanwhile (idle_masked). This is exact for loops, and for branches whose
 * paths join again within the enclosing loop: there the instruction stream executes each block as often as
 * the element that needs it most. Cycles charged by the runtime are treated likewise for each place in the
 * program, and so is other time, such as cache misses: the element that needs most counts.
 *
 * Elements run until each has reached a send or a collective operation, waits for a message, or polls for
 * one. Then one instruction goes on, as in the control unit: of the calls the elements have reached, the
 * first in the program's code; a collective operation only when all its members have arrived. The elements at
 * this call send, their messages are carried by one instruction after the other (sg_wire_together.c), and
 * they go on together with the elements that waited for these messages; the others are masked off. When no
 * element is left behind at another call, all are together. */
#ifndef SG_LOCKSTEP_H
#define SG_LOCKSTEP_H

#include "sg_message.h"

/* ---- sg_lockstep.c: exchanges ---- */

/* Call before the ranks begin. `deliver` is called for each message when it has arrived. */
void sg_lockstep_open(void (*deliver)(sg_message *m));
/* The running thread has reached a send, or polls (NULL). Returns when the message has been delivered. */
void sg_lockstep_pass(sg_message *m);
static inline void sg_lockstep_ask(bool in_vain)
{
    if (in_vain && sg->lockstep)
        sg_lockstep_pass(NULL);
}
/* The running thread is about to begin a collective operation of `size` ranks. */
void sg_lockstep_meet(uint32_t context, uint32_t size);

/* ---- sg_step.c: how long a step takes ---- */

/* Call last, just before the ranks begin. */
void sg_step_open(void);
/* All elements are together: brings every rank that has not ended to the end of the step, and returns that
 * clock. */
uint64_t sg_step_end(void);
/* Begins the next step; every rank that has not ended is at this clock. */
void sg_step_begin(uint64_t clock);
/* An exchange between some of the elements has taken these cycles of the step. */
void sg_step_add(uint64_t cycles);
/* Charges waiting to a rank. `here`: at the place where it waits; otherwise the caller charges a place. */
void sg_step_charge(const sg_rank *rank, enum sg_category category, uint64_t cycles, bool here);

#endif

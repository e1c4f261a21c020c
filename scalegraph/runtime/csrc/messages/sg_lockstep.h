/* SIMD machines: all elements execute one instruction stream.
 *
 * What elements execute between two times at which they are together takes the sum over the basic blocks of
 * what one execution costs times the most executions by any element; an element that executes one less often
 * is masked off meanwhile (idle_masked). That is exact for loops and branches whose ways meet again within
 * the enclosing loop: then the instruction stream executes each block as often as the element does that needs
 * it most. Of what the runtime itself charges, the same goes for each place in the program and of other time,
 * such as misses, for the element that needs most.
 *
 * Elements run until each has come to a send or to a collective operation, waits for a message, or asks
 * whether one has come. Then one instruction goes on, as the control unit's does: of the calls at which
 * elements are, the one that stands first in the program's code; a collective operation only when all its
 * members have come. The elements at this call send, one instruction after the other carries their messages
 * (sg_wire_together.c), and they go on together with those that waited for the messages; the others are
 * masked off. When no element is left behind at another call, all are together. */
#ifndef SG_LOCKSTEP_H
#define SG_LOCKSTEP_H

#include "sg_message.h"

/* ---- sg_lockstep.c: exchanges ---- */

/* Before the ranks begin; `deliver` is called for each message when it has arrived. */
void sg_lockstep_open(void (*deliver)(sg_message *m));
/* The running thread is at a send, or asks, with NULL. Returns when the message has been delivered. */
void sg_lockstep_pass(sg_message *m);
static inline void sg_lockstep_ask(bool in_vain)
{
    if (in_vain && sg->lockstep)
        sg_lockstep_pass(NULL);
}
/* It is about to begin a collective operation of `size` ranks. */
void sg_lockstep_meet(uint32_t context, uint32_t size);

/* ---- sg_step.c: how long a step takes ---- */

/* When all else is ready, before the ranks begin. */
void sg_step_open(void);
/* All are together: brings all ranks that have not ended to the end of the step, which it returns. */
uint64_t sg_step_end(void);
/* The next one begins; all ranks that have not ended are at this clock. */
void sg_step_begin(uint64_t clock);
/* An exchange of some elements has taken these cycles of the step. */
void sg_step_add(uint64_t cycles);
/* Charges a rank that waits. `here`: at the place where it waits; else the caller says where. */
void sg_step_charge(const sg_rank *rank, enum sg_category category, uint64_t cycles, bool here);

#endif

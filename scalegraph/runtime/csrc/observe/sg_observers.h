/* The tables of all observers. A new one is one file, one line here and one in sg_observers.c. */
#ifndef SG_OBSERVERS_H
#define SG_OBSERVERS_H

#include "sg_runtime.h"

extern const sg_observer sg_observer_blame;      /* what processors wait for */
extern const sg_observer sg_observer_cause;      /* accounts by cause */
extern const sg_observer sg_observer_class;      /* misses by class; run.collect requests it */
extern const sg_observer sg_observer_message;    /* accounts by communicator and partner */
extern const sg_observer sg_observer_part;       /* parts of the run by the time of the main thread */
extern const sg_observer sg_observer_primitives; /* free or scaled synchronisation */
extern const sg_observer sg_observer_race;       /* hints at data races */
extern const sg_observer sg_observer_resource;   /* how busy network and memory were */
extern const sg_observer sg_observer_trace;      /* traces; trace.file requests it */
extern const sg_observer sg_observer_variable;   /* accounts by variable */
extern const sg_observer sg_observer_whatif;     /* virtual speedups */

#endif

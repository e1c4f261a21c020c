/* The tables of all observers. A new one is one file, plus a line here and one in sg_observers.c. */
#ifndef SG_OBSERVERS_H
#define SG_OBSERVERS_H

#include "sg_runtime.h"

extern const sg_observer sg_observer_blame;   /* what processors wait for */
extern const sg_observer sg_observer_cause;   /* accounts by cause */
extern const sg_observer sg_observer_class;   /* misses by class; on request in run.collect */
extern const sg_observer sg_observer_delay;   /* who made others wait */
extern const sg_observer sg_observer_foreign; /* references to another rank's memory */
extern const sg_observer sg_observer_loop;    /* accounts by loop and schedule, and its chunks */
extern const sg_observer
    sg_observer_loop_lines;                   /* lines used by loop iterations; on request in run.collect */
extern const sg_observer sg_observer_output;  /* which rank printed what */
extern const sg_observer sg_observer_message; /* accounts by communicator and partner */
extern const sg_observer sg_observer_part;    /* parts of the run by the main thread's time */
extern const sg_observer sg_observer_primitives; /* free or scaled synchronisation */
extern const sg_observer sg_observer_race;       /* race hints */
extern const sg_observer sg_observer_resource;   /* utilisation of network and memory */
extern const sg_observer sg_observer_sample;     /* samples of repeated phases; on request in run.collect */
extern const sg_observer sg_observer_trace;      /* traces; on request in trace.file */
extern const sg_observer sg_observer_variable;   /* accounts by variable */
extern const sg_observer sg_observer_whatif;     /* virtual speedups */

/* Opens all observers; registers those that take part. */
void sg_observers_open(void);
void sg_observers_begin(void);
/* The observers' parts of the result file, in order. */
uint32_t sg_observers_parts(const sg_result_part **part, uint32_t most);

/* Iterations on `p` use the line at an address; only when classes are collected. */
void sg_loop_lines_use(const sg_processor *p, uint64_t address);
/* What a processor did in the loop with this account. Moves when another account is created. */
sg_loop_part *sg_loop_part_of(uint32_t account, uint32_t processor);

#endif

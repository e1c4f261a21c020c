/* Traces: what every processor did when, for those runs that ask for it (trace.file).
 *
 * Everything here is called from places that are rarely passed, behind a test of sg->trace, and never changes
 * what the run does: no clock, no account, no address and no order of the processors depends on it. */
#ifndef SG_TRACE_H
#define SG_TRACE_H

#include "sg_runtime.h"

/* Opens the trace if the configuration asks for one; sg->trace stays NULL otherwise. */
void sg_trace_open(void);
/* The program has ended at `end`; the accounts are complete up to each processor's clock. */
void sg_trace_finish(uint64_t end);
/* The run is stopped: tells what is known. */
void sg_trace_stop(void);

/* ---- sg_sched.c ---- */

/* Cuts the shares of `p` if it is time. True: without a trace `p` would not give way now. */
bool sg_trace_yield(sg_processor *p);
/* The limit of `p`, which is `limit` without a trace, so that the next cut comes in time. */
uint64_t sg_trace_limit(sg_processor *p, uint64_t limit);
/* `t` becomes the thread of `p`; called before anything changes. */
void sg_trace_install(sg_processor *p, sg_thread *t);
/* `p` waited until `t` could run on it, and was charged the time in `leaf`. */
void sg_trace_idle(sg_processor *p, const sg_thread *t, enum sg_leaf leaf);
/* `t` runs on `p` from here on. */
void sg_trace_runs(sg_processor *p, const sg_thread *t);
/* The running processor lets `t` go on at time `when`; a thread whose time is over wakes by itself. */
void sg_trace_wake(const sg_thread *t, uint64_t when);
/* `t` leaves `p` but could go on. */
void sg_trace_ready(const sg_thread *t, const sg_processor *p);
/* The running thread ends. */
void sg_trace_thread_end(const sg_thread *t);

/* ---- regions ---- */

/* The regions of the thread of `p` have changed: at the end (one entered, some left), or all of them. */
void sg_trace_regions(sg_processor *p, bool all);

/* ---- what else happens, on the running processor ---- */

/* Tells what the running processor did up to here; what it is charged next is waiting. */
void sg_trace_waits(void);
/* It waited at the barrier `object` for processor `holder`, which came at `released`. */
void sg_trace_waited(uint64_t object, uint32_t holder, uint64_t released);
void sg_trace_lock(uint64_t lock, uint64_t order, enum sg_lock_step step);
/* `number` is 0 as long as the trace has not told the creation of the task. */
void sg_trace_task(uint64_t *number, uint32_t region, enum sg_task_step step);
void sg_trace_mark(enum sg_trace_mark mark, uint64_t value);

#endif

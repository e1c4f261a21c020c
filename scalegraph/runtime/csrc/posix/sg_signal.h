/* Signals of the program, for what waits for them or is interrupted by them. */
#ifndef SG_SIGNAL_H
#define SG_SIGNAL_H

#include "sg_posix.h"
#include "sg_rank.h"

/* Takes a pending signal of `set` (a bit for each) of the running thread or its process; false: none. */
bool sg_signal_take(uint64_t set, siginfo_t *info);
/* Signals that are pending for `t` or its process. */
uint64_t sg_signal_pending(sg_thread *t);
/* Signals that are pending for a rank (NULL: the process) or any of its threads. */
uint64_t sg_signals_of(const sg_rank *rank);
/* From now on the running thread blocks these. */
void sg_signal_block(uint64_t blocked);
/* The set with a bit for each; nobody blocks SIGKILL and SIGSTOP. */
uint64_t sg_signal_bits(const sigset_t *set);
/* The running thread sends a signal to itself, or to its process. */
void sg_signal_raise(int number);
void sg_signal_process(int number, int code, union sigval value);
/* Does the program have a handler for it? */
bool sg_signal_is_handled(int number);
/* The running thread jumps to the stack pointer `target`: out of these handlers. */
void sg_signals_left(uint64_t target);

/* ---- sg_fault.c: the host's part ---- */

/* Ends the program by `number`, as the running thread has caused it. */
void sg_fault_end(int number) __attribute__((noreturn));
/* The running thread raises a signal in itself; sg_signal.c, if it is there. */
extern void (*sg_fault_deliver)(int number);
/* sigaction of the host. */
int sg_fault_action(int number, const struct sigaction *action, struct sigaction *before);
/* The run gets the signal again that a processor raises. */
void sg_fault_watch(int number);

#endif

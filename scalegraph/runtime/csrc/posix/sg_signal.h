/* The program's signals, for code that waits for them or is interrupted by them. */
#ifndef SG_SIGNAL_H
#define SG_SIGNAL_H

#include "sg_posix.h"
#include "sg_rank.h"

/* Takes a pending signal in `set` (a bit set) of the running thread or its process; false: none. */
bool sg_signal_take(uint64_t set, siginfo_t *info);
/* Signals pending for `t` or its process. */
uint64_t sg_signal_pending(sg_thread *t);
/* Signals pending for a rank (NULL: the process) or any of its threads. */
uint64_t sg_signals_of(const sg_rank *rank);
/* Sets the signals that the running thread blocks. */
void sg_signal_block(uint64_t blocked);
/* The set as bits, without SIGKILL and SIGSTOP, which cannot be blocked. */
uint64_t sg_signal_bits(const sigset_t *set);
/* Sends a signal to the running thread, or to its process. */
void sg_signal_raise(int number);
void sg_signal_process(int number, int code, union sigval value);
/* Does the program have a handler for it? */
bool sg_signal_is_handled(int number);
/* The running thread jumps to the stack pointer `target`, leaving the handlers below it. */
void sg_signals_left(uint64_t target);

/* ---- sg_fault.c: the host side ---- */

void sg_fault_open(void);
/* `site`, or, if a library made the call, the newest return address on the stack in the program. */
const void *sg_fault_caller(const void *site);
/* The program raises a signal in itself at p->site. */
void sg_fault_raise(int number);
/* Ends the program with signal `number`, caused by the running thread. */
void sg_fault_end(int number) __attribute__((noreturn));
/* Raises a signal in the running thread; set by sg_signal.c if that is linked. */
extern void (*sg_fault_deliver)(int number);
/* The host's sigaction. */
int sg_fault_action(int number, const struct sigaction *action, struct sigaction *before);
/* The simulator handles this signal again when the processor raises it. */
void sg_fault_watch(int number);

#endif

/* The one place that chooses the header of the architecture. Such a header has the stack switch, the thread
 * pointer, raw system calls, the forwarding of calls and the code's alignment; instrument/architectures.py
 * chooses the decoder of instructions that goes with it. */
#ifndef SG_ARCH_H
#define SG_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* Saves the callee-saved registers on the running stack, stores that stack's pointer at `from` and
 * continues on the stack `to`, which an earlier call (or sg_arch_new_stack) left behind. */
void sg_arch_switch(void **from, void *to);

/* First frame of a coroutine: `entry` is called with an empty, correctly aligned stack. */
void *sg_arch_new_stack(void *top, void (*entry)(void));

#if defined(__x86_64__)
#include "sg_arch_x86_64.h"
#elif defined(__aarch64__)
#include "sg_arch_aarch64.h"
#else
#error "the simulator has no header for this architecture: add sg_arch_NAME.h and choose it here"
#endif

#endif

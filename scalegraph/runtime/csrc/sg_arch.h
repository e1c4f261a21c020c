/* The one place that chooses the header of the architecture. Such a header has the stack switch, the thread
 * pointer, raw system calls, the forwarding of calls and the code's alignment; instrument/architectures.py
 * chooses the decoder of instructions that goes with it. */
#ifndef SG_ARCH_H
#define SG_ARCH_H

#if defined(__x86_64__)
#include "sg_arch_x86_64.h"
#elif defined(__aarch64__)
#include "sg_arch_aarch64.h"
#else
#error "the simulator has no header for this architecture: add sg_arch_NAME.h and choose it here"
#endif

#endif

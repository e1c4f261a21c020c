/* The only place that selects the architecture's header. Such a header defines the stack switch, the thread
 * pointer, raw system calls, call forwarding and the alignment of code; instrument/architectures.py selects
 * the matching instruction decoder. */
#ifndef SG_ARCH_H
#define SG_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* Saves the callee-saved registers on the current stack, stores its pointer at `from` and continues on the
 * stack `to`, left by an earlier call (or sg_arch_new_stack). */
void sg_arch_switch(void **from, void *to);

/* First frame of a coroutine: calls `entry` with an empty, correctly aligned stack. */
void *sg_arch_new_stack(void *top, void (*entry)(void));

/* Four numbers on which the host operates at once. */
typedef uint32_t sg_arch_lanes __attribute__((vector_size(16)));

#if defined(__x86_64__)
#include <emmintrin.h>

#include "sg_arch_x86_64.h"
#elif defined(__aarch64__)
#include "sg_arch_aarch64.h"
#else
#error "the simulator has no header for this architecture: add sg_arch_NAME.h and choose it here"
#endif

/* Bit i: lane i, all of whose bits are alike, is set. */
static inline uint32_t sg_arch_set_lanes(sg_arch_lanes lanes)
{
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)lanes);
#else
    return (lanes[0] & 1) | (lanes[1] & 2) | (lanes[2] & 4) | (lanes[3] & 8);
#endif
}

#endif

/* Tells AddressSanitizer which memory of our heaps is off limits, when the runtime is built with -DSG_FENCES
 * for its own tests (tests/runtime/test_sanitizers.py). Otherwise empty. */
#ifndef SG_FENCE_H
#define SG_FENCE_H

#include "sg_state.h"

#ifdef SG_FENCES
#define SG_FENCE_BYTES 64u
void __asan_poison_memory_region(const volatile void *start, size_t size);
void __asan_unpoison_memory_region(const volatile void *start, size_t size);

/* Before the runtime's context exists, the sanitizer may not be initialised. */
static inline void sg_fence_shut(const void *start, uint64_t size)
{
    if (sg != NULL)
        __asan_poison_memory_region(start, size);
}

static inline void sg_fence_open(const void *start, uint64_t size)
{
    if (sg != NULL)
        __asan_unpoison_memory_region(start, size);
}
#else
#define SG_FENCE_BYTES 0u
static inline void sg_fence_shut(const void *start, uint64_t size)
{
    (void)start, (void)size;
}

static inline void sg_fence_open(const void *start, uint64_t size)
{
    (void)start, (void)size;
}
#endif

#endif

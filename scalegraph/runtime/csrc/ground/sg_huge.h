/* Large memory from the host. */
#ifndef SG_HUGE_H
#define SG_HUGE_H

#include <stddef.h>
#include <sys/mman.h>

/* Zeroed, lazily allocated memory; NULL if the host refuses. */
static inline void *sg_map(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE); /* only a hint */
    return memory;
}

static inline void sg_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

#endif

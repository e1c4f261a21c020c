/* Heaps of the ranks of a program. */
#ifndef SG_ALLOC_H
#define SG_ALLOC_H

#include <stdint.h>

struct sg_heap;

/* A heap at the addresses that the rank's number says. */
struct sg_heap *sg_heap_new(uint32_t rank);
/* The program allocates from `heap` now; NULL: from its first one. */
void sg_alloc_heap(struct sg_heap *heap);

#endif

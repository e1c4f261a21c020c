/* Heaps of the ranks of a program. */
#ifndef SG_ALLOC_H
#define SG_ALLOC_H

#include <stdint.h>

struct sg_heap;

/* A heap at the addresses that the rank's number says. */
struct sg_heap *sg_heap_new(uint32_t rank);
/* The program allocates from `heap` now; NULL: from its first one. */
void sg_alloc_heap(struct sg_heap *heap);
/* What `heap` (NULL: the program's first one) grows by is taken from `left` bytes from now on; `refuse` is
 * called when they are not enough, and does not return. Returns what it has taken before. */
uint64_t sg_alloc_share(struct sg_heap *heap, uint64_t *left, void (*refuse)(uint64_t bytes));

#endif

/* Heaps of the ranks of a program. */
#ifndef SG_ALLOC_H
#define SG_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_heap;

/* A heap at the addresses that the rank's number says. */
struct sg_heap *sg_heap_new(uint32_t rank);
/* The program allocates from `heap` now; NULL: from its first one. */
void sg_alloc_heap(struct sg_heap *heap);
/* What `heap` (NULL: the program's first one) grows by is taken from `left` bytes from now on; `refuse` is
 * called when they are not enough, and does not return. Returns what it has taken before. */
uint64_t sg_alloc_share(struct sg_heap *heap, uint64_t *left, void (*refuse)(uint64_t bytes));

/* Memory of the program's heap for its call before `site`, and its return. */
void *sg_alloc_plain(size_t size, const void *site);
void *sg_alloc_aligned(size_t alignment, size_t size, const void *site);
void sg_alloc_release(void *pointer, const void *site);
/* Do `bytes` from `pointer` on, in a block in use of the running rank's heap, not fit into that? `text` says
 * which block: " of 24 bytes, allocated at 0x.."; its end is not looked at when it is freed. */
bool sg_alloc_exceeds(void *pointer, size_t bytes, char text[96]);
/* Which place in the program a call by a library is due to; NULL: nobody can say yet. */
extern const void *(*sg_alloc_caller)(const void *site);
/* The program has limited its own memory (setrlimit). */
void sg_alloc_set_limit(uint64_t bytes);
/* sg_limits.c: a request for so many bytes was refused for that. */
void sg_limit_met(uint64_t bytes);

#endif

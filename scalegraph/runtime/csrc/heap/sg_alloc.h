/* Heaps of the program's ranks. */
#ifndef SG_ALLOC_H
#define SG_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_heap;

/* A heap at the addresses that follow from the rank's number. */
struct sg_heap *sg_heap_new(uint32_t rank);
/* The program now allocates from `heap`; NULL: its first one. */
void sg_alloc_heap(struct sg_heap *heap);
/* From now on growth of `heap` (NULL: the program's first one) is taken from the `left` bytes; `refuse` is
 * called when they run out, and does not return. Returns the bytes already taken. */
uint64_t sg_alloc_share(struct sg_heap *heap, uint64_t *left, void (*refuse)(uint64_t bytes));

/* While `own` is set, malloc serves the runtime (threads, directories), not the program's heap. Returns the
 * previous value. */
bool sg_alloc_own(bool own);
/* See sg_own_is_much. */
void sg_alloc_own_is_much(void);
/* Zeroed memory from the program's heap (the running rank's, if there are ranks) for the call before `site`;
 * NULL: out of memory. */
void *sg_alloc_for(size_t size, const void *site);
void sg_alloc_limit(uint64_t bytes);
/* Where the program's heap will grow. */
void sg_alloc_ahead(uint64_t *low, uint64_t *high);
/* Copies a string into the program's heap. */
char *sg_alloc_string(const char *text);
/* Allocates or frees memory of the program's heap for its call before `site`. */
void *sg_alloc_plain(size_t size, const void *site);
void *sg_alloc_aligned(size_t alignment, size_t size, const void *site);
void sg_alloc_release(void *pointer, const void *site);
/* Do `bytes` from `pointer` on exceed the block in use (of the running rank's heap) that it points into?
 * `text` receives the block: " of 24 bytes, allocated at 0x..". Freeing the block then skips the check of its
 * end. */
bool sg_alloc_exceeds(void *pointer, size_t bytes, char text[96]);
/* The place in the program that led to a library's call; NULL: cannot tell yet. */
extern const void *(*sg_alloc_caller)(const void *site);
/* The program has limited its own memory (setrlimit); `met`: this made a request for `bytes` fail. */
void sg_alloc_set_limit(uint64_t limit, void (*met)(uint64_t bytes));

#endif

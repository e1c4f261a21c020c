/* The processors that have a thread, the earliest first: a heap with four children to a node. Private to
 * sg_sched.c. */
#ifndef SG_HEAP_H
#define SG_HEAP_H

#include "sg_runtime.h"

/* Puts `key` at the free place `at` or above. */
static inline void heap_rise(uint32_t at, uint64_t key)
{
    uint64_t *heap = sg->heap;
    while (at > 0) {
        uint32_t up = (at - 1) / 4;
        if (heap[up] < key)
            break;
        heap[at] = heap[up];
        at = up;
    }
    heap[at] = key;
}

static inline void heap_push(uint64_t key)
{
    heap_rise(sg->heap_size++, key);
}

/* Puts `key` where the smallest key was. The places behind the last key hold UINT64_MAX. */
static inline void heap_replace_top(uint64_t key)
{
    uint64_t *heap = sg->heap;
    uint32_t at = 0, size = sg->heap_size;
    for (;;) {
        uint32_t child = 4 * at + 1;
        if (child >= size)
            break;
        uint32_t a = child + (heap[child + 1] < heap[child]);
        uint32_t b = child + 2 + (heap[child + 3] < heap[child + 2]);
        uint32_t best = heap[b] < heap[a] ? b : a;
        if (key < heap[best])
            break;
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = key;
}

static inline uint64_t heap_pop(void)
{
    uint64_t top = sg->heap[0], last = sg->heap[--sg->heap_size];
    sg->heap[sg->heap_size] = UINT64_MAX;
    if (sg->heap_size > 0)
        heap_replace_top(last);
    return top;
}

#endif

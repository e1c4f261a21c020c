/* One level of the cache hierarchy: all its instances (one a processor, or one a group of processors).
 *
 * A set has `ways` entries, most recently used first and empty ones last, so the order is the exact LRU
 * order and a search of a sparse set ends early. An entry is line << 2 | state, 0 = empty.
 *
 * The entries lie in one anonymous mapping: a page of it costs host memory when it is first written. The
 * entries of a set of a small cache lie side by side. A large private cache is seldom full, so there the
 * first ways of all sets and processors lie together, then the second ways, and so on: what a program uses
 * is dense, and what it does not use costs nothing. */
#ifndef SG_CACHE_H
#define SG_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "sg_config.h"

/* State of a copy. EXCLUSIVE may be written without telling anybody and then is MODIFIED. */
enum sg_copy { SG_INVALID, SG_SHARED, SG_EXCLUSIVE, SG_MODIFIED };

typedef struct sg_cache {
    uint64_t *entries;
    size_t stride;     /* from one instance to the next, in entries */
    size_t set_stride; /* from one set to the next */
    size_t way_stride; /* from one way to the next */
    size_t bytes;
    uint64_t set_mask;
    uint32_t ways;
    uint32_t line_shift;
    uint32_t hit_cycles;
    uint32_t instances;
} sg_cache;

/* Zeroed memory that costs nothing until it is used; NULL when the host refuses. */
void *sg_map(size_t bytes);
void sg_unmap(void *memory, size_t bytes);

/* Returns 0, or -1 when the host has no memory. */
int sg_cache_create(sg_cache *cache, const sg_cache_level *level, uint32_t instances);
void sg_cache_destroy(sg_cache *cache);

static inline uint64_t sg_entry_line(uint64_t entry)
{
    return entry >> 2;
}

static inline enum sg_copy sg_entry_state(uint64_t entry)
{
    return (enum sg_copy)(entry & 3);
}

static inline uint64_t sg_entry_make(uint64_t line, enum sg_copy state)
{
    return line << 2 | state;
}

/* First entry of the set that `line` belongs to; the others follow at way_stride. */
static inline uint64_t *sg_cache_set(const sg_cache *c, uint32_t instance, uint64_t line)
{
    return c->entries + instance * c->stride + (line & c->set_mask) * c->set_stride;
}

static inline uint64_t *sg_set_at(const sg_cache *c, uint64_t *set, int way)
{
    return set + (size_t)way * c->way_stride;
}

/* Position of `line` in `set`, or -1. */
static inline int sg_set_find(const sg_cache *c, const uint64_t *set, uint64_t line)
{
    uint64_t wanted = line << 2;
    for (uint32_t i = 0; i < c->ways; i++, set += c->way_stride) {
        if (*set == 0)
            return -1;
        if ((*set ^ wanted) < 4)
            return (int)i;
    }
    return -1;
}

static inline void sg_set_front(const sg_cache *c, uint64_t *set, int way)
{
    size_t stride = c->way_stride;
    uint64_t entry = set[(size_t)way * stride];
    for (size_t i = (size_t)way * stride; i > 0; i -= stride)
        set[i] = set[i - stride];
    set[0] = entry;
}

/* Puts `entry` in front; returns the entry that had to leave, or 0. */
static inline uint64_t sg_set_insert(const sg_cache *c, uint64_t *set, uint64_t entry)
{
    for (uint32_t i = 0; i < c->ways; i++, set += c->way_stride) {
        uint64_t old = *set;
        *set = entry;
        if (old == 0)
            return 0;
        entry = old;
    }
    return entry;
}

static inline void sg_set_remove(const sg_cache *c, uint64_t *set, int way)
{
    size_t stride = c->way_stride;
    uint32_t i = (uint32_t)way;
    for (set += i * stride; i + 1 < c->ways && set[stride] != 0; i++, set += stride)
        *set = set[stride];
    *set = 0;
}

#endif

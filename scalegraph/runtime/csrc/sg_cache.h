/* One level of the cache hierarchy: all its instances (one a processor, or one a group of processors).
 *
 * A set is an array of `ways` entries, most recently used first and empty ones last, so the order is the
 * exact LRU order and a search of a sparse set ends early. An entry is line << 2 | state, 0 = empty. The
 * entries lie in one anonymous mapping: a page of it costs host memory when it is first written. */
#ifndef SG_CACHE_H
#define SG_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "sg_config.h"

/* State of a copy. EXCLUSIVE may be written without telling anybody and then is MODIFIED. */
enum sg_copy { SG_INVALID, SG_SHARED, SG_EXCLUSIVE, SG_MODIFIED };

typedef struct sg_cache {
    uint64_t *entries;
    size_t stride; /* entries of one instance */
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

static inline uint64_t *sg_cache_set(const sg_cache *c, uint32_t instance, uint64_t line)
{
    return c->entries + instance * c->stride + (line & c->set_mask) * c->ways;
}

/* Position of `line` in `set`, or -1. */
static inline int sg_set_find(const uint64_t *set, uint32_t ways, uint64_t line)
{
    uint64_t wanted = line << 2;
    for (uint32_t i = 0; i < ways; i++) {
        if ((set[i] ^ wanted) < 4 && set[i] != 0)
            return (int)i;
        if (set[i] == 0)
            return -1;
    }
    return -1;
}

static inline void sg_set_front(uint64_t *set, int way)
{
    uint64_t entry = set[way];
    for (int i = way; i > 0; i--)
        set[i] = set[i - 1];
    set[0] = entry;
}

/* Puts `entry` in front; returns the entry that had to leave, or 0. */
static inline uint64_t sg_set_insert(uint64_t *set, uint32_t ways, uint64_t entry)
{
    uint64_t moved = entry;
    for (uint32_t i = 0; i < ways; i++) {
        uint64_t old = set[i];
        set[i] = moved;
        if (old == 0)
            return 0;
        moved = old;
    }
    return moved;
}

static inline void sg_set_remove(uint64_t *set, uint32_t ways, int way)
{
    uint32_t i = (uint32_t)way;
    for (; i + 1 < ways && set[i + 1] != 0; i++)
        set[i] = set[i + 1];
    set[i] = 0;
}

#endif

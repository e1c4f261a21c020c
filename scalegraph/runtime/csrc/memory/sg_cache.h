/* One level of the cache hierarchy: all its instances (one per processor or per group of processors).
 *
 * A set has `ways` entries, most recently used first and empty ones last, so the order is the exact LRU
 * order and a search of a sparse set ends early. An entry is line | state << 62, 0 = empty.
 *
 * The order of use is kept under every replacement policy, so hits cost the same for all; only the victim
 * differs. Random: any entry, from a generator that starts the same in every run. FIFO and tree-PLRU keep
 * a second list of each set's lines: by age, or by physical way. A tree node's bit points away from the
 * half that holds the last-used way, which the order of use reveals; so the tree is computed at each
 * eviction rather than stored. If the number of ways is not a power of two, the halves differ.
 *
 * The entries are in one anonymous mapping; a page costs host memory when it is first written. There are
 * three layouts, because host memory is the simulation's bottleneck:
 * - first level: the first ways of all sets of a processor are together, as the filter that every
 *   reference searches; the other ways of a set lie side by side;
 * - a large private cache is seldom full, so the first ways of all sets and processors are together, then
 *   the second ways, and so on: what a program uses is dense, and the rest costs nothing. With thousands
 *   of processors this holds for all levels but the first;
 * - otherwise all entries of a set lie side by side. */
#ifndef SG_CACHE_H
#define SG_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "sg_config.h"
#include "sg_divisor.h"

/* State of a copy. An EXCLUSIVE copy may be written without a message and becomes MODIFIED. */
enum sg_copy { SG_INVALID, SG_SHARED, SG_EXCLUSIVE, SG_MODIFIED };

typedef struct sg_cache {
    uint64_t *first, *rest; /* way 0 and way 1 of set 0 of instance 0 */
    size_t stride;          /* between instances, in entries of way 0 */
    size_t set_stride;      /* between sets, in entries of way 0 */
    size_t rest_step;       /* entries of way 1 per entry of way 0 */
    size_t way_stride;      /* between ways, from way 1 on */
    size_t bytes;
    uint64_t sets;
    uint64_t set_mask; /* sets - 1 if a power of two; else 0: use line modulo sets */
    sg_divisor by_sets;
    uint64_t *listed; /* FIFO, tree-PLRU: lines + 1 of each set, 0 = empty */
    size_t listed_bytes;
    uint64_t *random; /* state of the generator */
    enum sg_replacement replacement;
    uint32_t ways;
    uint32_t line_shift;
    uint32_t hit_cycles;
    uint32_t instances;
} sg_cache;

/* The entries of one set: way 0 at `first`, way i at rest[(i - 1) * way_stride]. */
typedef struct sg_set {
    uint64_t *first, *rest;
} sg_set;

/* Returns 0, or -1 if the host is out of memory. `sparse`: the program will use little of it, so host memory
 * matters more than time. */
int sg_cache_create(sg_cache *cache, const sg_cache_level *level, uint32_t instances, int is_first_level,
                    int sparse);
void sg_cache_destroy(sg_cache *cache);

#define SG_STATE_SHIFT 62

static inline uint64_t sg_entry_line(uint64_t entry)
{
    return entry & ((1ull << SG_STATE_SHIFT) - 1);
}

static inline enum sg_copy sg_entry_state(uint64_t entry)
{
    return (enum sg_copy)(entry >> SG_STATE_SHIFT);
}

static inline uint64_t sg_entry_make(uint64_t line, enum sg_copy state)
{
    return line | (uint64_t)state << SG_STATE_SHIFT;
}

/* Is it the entry of `line`, in any state? An empty entry matches only line 0. */
static inline int sg_entry_is(uint64_t entry, uint64_t line)
{
    return (entry ^ line) << (64 - SG_STATE_SHIFT) == 0;
}

static inline sg_set sg_cache_set(const sg_cache *c, uint32_t instance, uint64_t line)
{
    uint64_t number =
        __builtin_expect(c->set_mask != 0, 1) ? line & c->set_mask : sg_remainder(line, &c->by_sets);
    size_t at = instance * c->stride + number * c->set_stride;
    return (sg_set){c->first + at, c->rest + at * c->rest_step};
}

static inline uint64_t *sg_set_at(const sg_cache *c, sg_set set, int way)
{
    return way == 0 ? set.first : set.rest + (size_t)(way - 1) * c->way_stride;
}

/* Position of `line` in `set`, or -1; `stride` is the cache's. */
static inline int sg_set_search(const sg_cache *c, sg_set set, uint64_t line, size_t stride)
{
    const uint64_t *entry = set.rest;
    for (uint32_t i = 1; i < c->ways && *entry != 0; i++, entry += stride)
        if (sg_entry_is(*entry, line))
            return (int)i;
    return -1;
}

static inline int sg_set_find(const sg_cache *c, sg_set set, uint64_t line)
{
    if (*set.first == 0)
        return -1;
    if (sg_entry_is(*set.first, line))
        return 0;
    return c->way_stride == 1 ? sg_set_search(c, set, line, 1) : sg_set_search(c, set, line, c->way_stride);
}

/* Moves the entries before `way` back by one and puts `entry` in front. */
static inline void sg_set_front(const sg_cache *c, sg_set set, int way, uint64_t entry)
{
    if (way > 0) {
        size_t stride = c->way_stride;
        uint64_t *to = set.rest + (size_t)(way - 1) * stride;
        for (; to != set.rest; to -= stride)
            *to = *(to - stride);
        *to = *set.first;
    }
    *set.first = entry;
}

/* Policies other than LRU (sg_cache.c). */
uint64_t sg_set_insert_by_policy(const sg_cache *c, sg_set set, uint64_t entry);
void sg_set_remove_by_policy(const sg_cache *c, sg_set set, uint64_t line);

/* Puts `entry` in front; returns the evicted entry, or 0. */
static inline uint64_t sg_set_insert(const sg_cache *c, sg_set set, uint64_t entry)
{
    if (__builtin_expect(c->replacement != SG_REPLACE_LRU, 0))
        return sg_set_insert_by_policy(c, set, entry);
    uint64_t moved = *set.first;
    *set.first = entry;
    for (uint32_t i = 1; i < c->ways && moved != 0; i++, set.rest += c->way_stride) {
        uint64_t next = *set.rest;
        *set.rest = moved;
        moved = next;
    }
    return moved;
}

static inline void sg_set_remove(const sg_cache *c, sg_set set, int way)
{
    uint64_t *to = sg_set_at(c, set, way);
    if (__builtin_expect(c->listed != NULL, 0))
        sg_set_remove_by_policy(c, set, sg_entry_line(*to));
    uint64_t *from = sg_set_at(c, set, way + 1);
    for (uint32_t i = (uint32_t)way + 1; i < c->ways; i++, from += c->way_stride) {
        uint64_t entry = *from;
        *to = entry;
        if (entry == 0)
            return;
        to = from;
    }
    *to = 0;
}

#endif

/* Memory for the cache levels. */
#include "sg_cache.h"

#include "sg_huge.h"

/* Private caches with at least this many entries store their ways separately (sg_cache.h). */
#define SEPARATE_ENTRIES ((uint64_t)1 << 16)
/* With separate ways of at least this size, all but the first get small host pages: a program uses few of
 * their sets on each processor, so most of a large page, shared by many processors, would be cleared but
 * never used. */
#define SPARSE_BYTES ((size_t)64 << 20)

static int create_policy(sg_cache *cache, uint64_t sets)
{
    if (cache->replacement == SG_REPLACE_LRU)
        return 0;
    if (cache->replacement == SG_REPLACE_RANDOM) {
        cache->random = sg_map(sizeof *cache->random);
        if (!cache->random)
            return -1;
        *cache->random = 0x9e3779b97f4a7c15ull;
        return 0;
    }
    cache->listed_bytes = sets * cache->ways * cache->instances * sizeof(uint64_t);
    cache->listed = sg_map(cache->listed_bytes);
    return cache->listed ? 0 : -1;
}

int sg_cache_create(sg_cache *cache, const sg_cache_level *level, uint32_t instances, int is_first_level,
                    int sparse)
{
    uint64_t sets = level->size_bytes / level->line_bytes / level->ways;
    cache->ways = level->ways;
    cache->sets = sets;
    cache->set_mask = (sets & (sets - 1)) == 0 ? sets - 1 : 0;
    cache->by_sets = sg_divisor_of(sets);
    cache->line_shift = (uint32_t)__builtin_ctz(level->line_bytes);
    cache->hit_cycles = level->hit_cycles;
    cache->instances = instances;
    cache->replacement = level->replacement;
    cache->bytes = sets * level->ways * instances * sizeof(uint64_t);
    cache->first = sg_map(cache->bytes);
    if (!cache->first || create_policy(cache, sets) != 0)
        return -1;
    if (sparse)
        madvise(cache->first, cache->bytes, MADV_NOHUGEPAGE);
    int large = level->shared_by == 1 && sets * level->ways >= SEPARATE_ENTRIES;
    if (large || (sparse && !is_first_level)) {
        cache->stride = sets;
        cache->set_stride = cache->rest_step = 1;
        cache->way_stride = sets * instances;
        cache->rest = cache->first + cache->way_stride;
        size_t way_bytes = cache->way_stride * sizeof(uint64_t);
        if (way_bytes >= SPARSE_BYTES)
            madvise(cache->rest, cache->bytes - way_bytes, MADV_NOHUGEPAGE);
    } else if (is_first_level) {
        cache->stride = sets;
        cache->set_stride = 1;
        cache->rest = cache->first + sets * instances;
        cache->rest_step = level->ways - 1;
        cache->way_stride = 1;
    } else {
        cache->stride = sets * level->ways;
        cache->set_stride = level->ways;
        cache->rest_step = 1;
        cache->way_stride = 1;
        cache->rest = cache->first + 1;
    }
    return 0;
}

void sg_cache_destroy(sg_cache *cache)
{
    sg_unmap(cache->listed, cache->listed_bytes);
    sg_unmap(cache->random, sizeof *cache->random);
    cache->listed = cache->random = NULL;
    sg_unmap(cache->first, cache->bytes);
    cache->first = NULL;
}

/* ---- replacement other than LRU ---- */

static uint64_t *list_of(const sg_cache *c, sg_set set)
{
    return c->listed + (size_t)(set.first - c->first) / c->set_stride * c->ways;
}

/* Position of `line` in a list, or `ways`. */
static uint32_t place_of(const sg_cache *c, const uint64_t *list, uint64_t line)
{
    uint32_t i = 0;
    while (i < c->ways && list[i] != line + 1)
        i++;
    return i;
}

static uint32_t random_below(const sg_cache *c, uint32_t limit)
{
    uint64_t x = *c->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *c->random = x;
    return (uint32_t)((x >> 32) * limit >> 32);
}

/* The physical way that tree-PLRU evicts: from the root on, always the half not used last. */
static uint32_t tree_victim(const sg_cache *c, sg_set set, const uint64_t *list)
{
    uint32_t low = 0, high = c->ways;
    while (high - low > 1) {
        uint32_t half = 1, used = low;
        while (2 * half < high - low)
            half *= 2;
        for (uint32_t i = 0; i < c->ways; i++) {
            used = place_of(c, list, sg_entry_line(*sg_set_at(c, set, (int)i)));
            if (used >= low && used < high)
                break;
        }
        if (used < low + half)
            low += half;
        else
            high = low + half;
    }
    return low;
}

void sg_set_remove_by_policy(const sg_cache *c, sg_set set, uint64_t line)
{
    uint64_t *list = list_of(c, set);
    uint32_t at = place_of(c, list, line);
    if (at == c->ways)
        return;
    list[at] = 0;
    if (c->replacement != SG_REPLACE_FIFO)
        return;
    for (; at + 1 < c->ways; at++)
        list[at] = list[at + 1];
    list[at] = 0;
}

/* Removes the entry at `way` from the set's LRU list and puts `entry` in front. */
static void replace(const sg_cache *c, sg_set set, uint32_t way, uint64_t entry)
{
    for (uint32_t i = way; i > 0; i--)
        *sg_set_at(c, set, (int)i) = *sg_set_at(c, set, (int)i - 1);
    *set.first = entry;
}

uint64_t sg_set_insert_by_policy(const sg_cache *c, sg_set set, uint64_t entry)
{
    uint32_t last = c->ways - 1, at;
    uint64_t gone = *sg_set_at(c, set, (int)last), *list = c->listed ? list_of(c, set) : NULL;
    if (gone == 0) { /* not full: the first empty entry */
        if (list) {
            for (at = 0; list[at] != 0;)
                at++;
            list[at] = sg_entry_line(entry) + 1;
        }
        replace(c, set, last, entry);
        return 0;
    }
    if (c->replacement == SG_REPLACE_RANDOM) {
        at = random_below(c, c->ways);
        gone = *sg_set_at(c, set, (int)at);
    } else {
        uint32_t victim = c->replacement == SG_REPLACE_FIFO ? 0 : tree_victim(c, set, list);
        at = (uint32_t)sg_set_find(c, set, list[victim] - 1);
        gone = *sg_set_at(c, set, (int)at);
        if (c->replacement == SG_REPLACE_FIFO) {
            sg_set_remove_by_policy(c, set, sg_entry_line(gone));
            victim = last;
        }
        list[victim] = sg_entry_line(entry) + 1;
    }
    replace(c, set, at, entry);
    return gone;
}

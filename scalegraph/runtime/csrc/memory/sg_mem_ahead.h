/* Prefetches host memory for a transaction. The run's caches are far larger than the host's, and most of what
 * a transaction reads there depends on the directory entry, so it would wait for one access after the other.
 * Changes nothing. */
#ifndef SG_MEM_AHEAD_H
#define SG_MEM_AHEAD_H

#include "sg_mem_state.h"

/* With more copies the host would wait for the first ones before it could prefetch the last. */
#define SG_AHEAD_COPIES 8u

/* The sets of processor `p` that may hold the coherence line `wide`. */
static SG_ASKS void sg_ahead_copies(const sg_mem *mem, uint32_t p, uint64_t wide)
{
    for (const sg_cache *c = mem->level; c < &mem->level[mem->private_levels]; c++) {
        sg_set set = sg_cache_set(c, p, wide << (mem->line_shift - c->line_shift));
        __builtin_prefetch(set.first, 1);
        __builtin_prefetch(set.rest, 1);
    }
}

/* The copies of `line` at the processors in the bitmap `holders`. */
static SG_ASKS void sg_ahead_others(const sg_mem *mem, const uint64_t *holders, uint64_t line)
{
    for (uint32_t word = 0; word < mem->dir.words; word++)
        for (uint64_t left = holders[word]; left; left &= left - 1)
            sg_ahead_copies(mem, word * 64 + (uint32_t)__builtin_ctzll(left), line);
}

/* The set of a shared cache that may hold `line`. */
static SG_ASKS void sg_ahead_group(const sg_mem *mem, uint32_t group, uint64_t line)
{
    __builtin_prefetch(sg_cache_set(&mem->level[mem->private_levels], group, line).first, 1);
}

/* The shared caches that have `line`. */
static SG_ASKS void sg_ahead_shared(const sg_mem *mem, const sg_line *entry, uint64_t line)
{
    for (uint64_t left = entry->shared_caches; left; left &= left - 1)
        sg_ahead_group(mem, (uint32_t)__builtin_ctzll(left), line);
}

/* A line was searched for up to `at`: programs often continue with the next one. */
static SG_ASKS void sg_ahead_next(const sg_mem *mem, const sg_place *at)
{
    uint32_t last = mem->private_levels - 1, level = at->level < last ? at->level : last;
    __builtin_prefetch(at->set.first + mem->level[level].set_stride, 1);
}

#endif

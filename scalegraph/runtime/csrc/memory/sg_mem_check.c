/* Checks the invariants of the whole memory state from scratch. */
#include <stdarg.h>
#include <stdio.h>

#include "sg_mem_state.h"

typedef struct check {
    sg_mem *mem;
    char *error;
    unsigned error_size;
    uint64_t private_copies, shared_copies; /* as counted by the directory */
} check;

__attribute__((format(printf, 2, 3))) static int broken(check *c, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(c->error, c->error_size, format, list);
    va_end(list);
    return -1;
}

/* Looks up `line` in instance `i` of level `k`; returns its state or SG_INVALID. */
static enum sg_copy state_in(const sg_mem *mem, uint32_t k, uint32_t i, uint64_t line)
{
    const sg_cache *cache = &mem->level[k];
    sg_set set = sg_cache_set(cache, i, line);
    int way = sg_set_find(cache, set, line);
    return way < 0 ? SG_INVALID : sg_entry_state(*sg_set_at(cache, set, way));
}

static int check_holder(check *c, uint64_t number, const sg_line *line, uint32_t p)
{
    enum sg_copy state =
        state_in(c->mem, c->mem->private_levels - 1, p, sg_mem_local_line(c->mem, p, number));
    int owned = line->state == SG_LINE_OWNED;
    if (owned && (line->owner != p || state < SG_EXCLUSIVE))
        return broken(c, "line %#llx: owned by processor %u, but %u has it in state %d",
                      (unsigned long long)number, line->owner, p, (int)state);
    if (!owned && state != SG_SHARED)
        return broken(c, "line %#llx: processor %u shares it, but has it in state %d",
                      (unsigned long long)number, p, (int)state);
    return 0;
}

/* Inclusive shared caches hold all that their processors do; an owned line is only in the owner's. */
static int check_inclusion(check *c, uint64_t number, const sg_line *line)
{
    for (uint32_t p = 0; p < c->mem->processors; p++)
        if (sg_bit(line->holders, p) && !(line->shared_caches >> sg_group_of(c->mem, p) & 1))
            return broken(c, "line %#llx: processor %u has it, but not its shared cache",
                          (unsigned long long)number, p);
    if (line->state == SG_LINE_OWNED && line->shared_caches != 1ull << sg_group_of(c->mem, line->owner))
        return broken(c, "line %#llx: is owned, and in another shared cache", (unsigned long long)number);
    return 0;
}

static int check_line(void *context, uint64_t number, const sg_line *line)
{
    check *c = context;
    const sg_mem *mem = c->mem;
    uint32_t holders = 0;
    for (uint32_t word = 0; word < mem->dir.words; word++)
        for (uint64_t left = line->holders[word]; left; left &= left - 1, holders++)
            if (check_holder(c, number, line, word * 64 + (uint32_t)__builtin_ctzll(left)) != 0)
                return -1;
    int held = line->state == SG_LINE_SHARED || line->state == SG_LINE_DIRTY_SHARED;
    if ((line->state == SG_LINE_OWNED && holders != 1) || (held && holders == 0) ||
        (line->state != SG_LINE_OWNED && !held && holders != 0))
        return broken(c, "line %#llx: %u holders in state %u", (unsigned long long)number, holders,
                      line->state);
    if (line->state == SG_LINE_DIRTY_SHARED && !sg_bit(line->holders, line->owner))
        return broken(c, "line %#llx: is dirty, but its owner %u has no copy", (unsigned long long)number,
                      line->owner);
    if (mem->pointers && holders > mem->pointers && !(mem->broadcast && line->overflowed))
        return broken(c, "line %#llx: %u holders, but the directory has %u pointers",
                      (unsigned long long)number, holders, mem->pointers);
    if (line->overflowed && (!mem->broadcast || line->state == SG_LINE_OWNED))
        return broken(c, "line %#llx: its directory entry is overflowed in state %u",
                      (unsigned long long)number, line->state);
    if (mem->inclusive && check_inclusion(c, number, line) != 0)
        return -1;
    if (line->state == SG_LINE_OWNED && line->shared_caches && !mem->inclusive)
        return broken(c, "line %#llx: has an owner and is in a shared cache", (unsigned long long)number);
    uint32_t dirty = 0;
    for (uint64_t left = line->shared_caches; left; left &= left - 1) {
        enum sg_copy state = state_in(mem, mem->private_levels, (uint32_t)__builtin_ctzll(left), number);
        if (state == SG_INVALID)
            return broken(c, "line %#llx: not in the shared cache that has it", (unsigned long long)number);
        dirty += state == SG_MODIFIED;
        c->shared_copies++;
    }
    if (dirty > 1 || (dirty == 1 && line->state == SG_LINE_DIRTY_SHARED))
        return broken(c, "line %#llx: dirty in %u shared caches", (unsigned long long)number, dirty);
    c->private_copies += holders;
    return 0;
}

/* The second list of a set (sg_cache.h) has the same lines as the set. */
static int check_list(check *c, const sg_cache *cache, sg_set set, uint32_t lines)
{
    if (!cache->listed)
        return 0;
    const uint64_t *list =
        cache->listed + (size_t)(set.first - cache->first) / cache->set_stride * cache->ways;
    for (uint32_t way = 0; way < cache->ways; way++) {
        if (list[way] == 0)
            continue;
        if (lines == 0 || sg_set_find(cache, set, list[way] - 1) < 0)
            return broken(c, "line %#llx: is listed in a set that has it not",
                          (unsigned long long)list[way] - 1);
        lines--;
    }
    return lines == 0 ? 0 : broken(c, "%u lines of a set are not listed", lines);
}

/* One set of one cache: order, inclusion, agreement with the level below. */
static int check_set(check *c, uint32_t k, uint32_t p, sg_set set, uint64_t *copies)
{
    const sg_mem *mem = c->mem;
    const sg_cache *cache = &mem->level[k];
    int ended = 0;
    uint32_t lines = 0;
    for (uint32_t way = 0; way < cache->ways; way++) {
        uint64_t entry = *sg_set_at(cache, set, (int)way), line = sg_entry_line(entry);
        ended |= entry == 0;
        if (entry == 0)
            continue;
        (*copies)++;
        lines++;
        if (ended)
            return broken(c, "level %u of processor %u: a set with a hole", k, p);
        if (sg_entry_state(entry) == SG_INVALID || sg_set_find(cache, set, line) != (int)way)
            return broken(c, "level %u of processor %u: line %#llx is invalid or twice there", k, p,
                          (unsigned long long)line);
        if (k + 1 >= mem->private_levels)
            continue;
        uint64_t below = line << cache->line_shift >> mem->level[k + 1].line_shift;
        if (state_in(mem, k + 1, p, below) != sg_entry_state(entry))
            return broken(c, "level %u of processor %u: line %#llx differs from the level below", k, p,
                          (unsigned long long)line);
    }
    return check_list(c, cache, set, lines);
}

static int check_one(const sg_mem *mem, char *error, unsigned error_size)
{
    check c = {(sg_mem *)mem, error, error_size, 0, 0};
    if (sg_dir_each(&mem->dir, check_line, &c) != 0)
        return -1;
    if (mem->ideal & SG_IDEAL_CACHE)
        return 0; /* too many sets to check each */
    for (uint32_t k = 0; k < mem->private_levels + mem->has_shared; k++) {
        const sg_cache *cache = &mem->level[k];
        uint64_t copies = 0;
        for (uint32_t i = 0; i < cache->instances; i++)
            for (uint64_t s = 0; s < cache->sets; s++)
                if (check_set(&c, k, i, sg_cache_set(cache, i, s), &copies) != 0)
                    return -1;
        if (k + 1 == mem->private_levels && copies != c.private_copies)
            return broken(&c, "the private caches have %llu lines, the directory %llu",
                          (unsigned long long)copies, (unsigned long long)c.private_copies);
        if (k == mem->private_levels && copies != c.shared_copies)
            return broken(&c, "the shared caches have %llu lines, the directory %llu",
                          (unsigned long long)copies, (unsigned long long)c.shared_copies);
    }
    return 0;
}

int sg_mem_check(const sg_mem *mem, char *error, unsigned error_size)
{
    for (uint32_t i = 0; i < mem->nodes; i++)
        if (check_one(mem->node[i], error, error_size) != 0)
            return -1;
    return mem->node ? 0 : check_one(mem, error, error_size);
}

/* Finds the copies of a line in one processor's private caches and changes their state; translates
 * addresses. Private to sg_mem.c. */
#ifndef SG_MEM_PRIVATE_H
#define SG_MEM_PRIVATE_H

#include "sg_mem_state.h"

static inline void change_copy(const sg_cache *c, sg_set set, uint64_t line, enum sg_copy state)
{
    int way = sg_set_find(c, set, line);
    if (way < 0)
        return;
    if (state == SG_INVALID)
        sg_set_remove(c, set, way);
    else
        *sg_set_at(c, set, way) = sg_entry_make(line, state);
}

/* Sets `state` for (or with SG_INVALID removes) the copies of line `wide`, of 1 << shift bytes, in levels
 * below `levels`. */
static inline void change_copies(sg_mem *mem, uint32_t p, uint64_t wide, uint32_t shift, uint32_t levels,
                                 enum sg_copy state)
{
    /* The place that `p` last found stays valid unless it is in a set that changes. */
    uint64_t differs = (mem->found[p].address >> mem->line_shift) ^ wide;
    if (shift != mem->line_shift || (differs & mem->set_bits) == 0)
        mem->found[p].address = 0;
    for (const sg_cache *c = mem->level; c < &mem->level[levels]; c++) {
        uint32_t parts = shift - c->line_shift;
        uint64_t line = wide << parts, end = (wide + 1) << parts;
        do
            change_copy(c, sg_cache_set(c, p, line), line, state);
        while (++line != end);
    }
}

/* Changes the state of the copies in all private levels, given that those before at->level lack the line of
 * `address` and that this one has it at `at`. */
static inline void restate_found(sg_mem *mem, uint32_t p, uint64_t address, const sg_place *at,
                                 enum sg_copy state)
{
    for (uint32_t k = 0; k < mem->private_levels; k++) {
        const sg_cache *c = &mem->level[k];
        uint64_t wide = address >> mem->line_shift;
        uint32_t parts = mem->line_shift - c->line_shift;
        if (parts > 0 || k > at->level)
            for (uint64_t line = wide << parts; line != (wide + 1) << parts; line++)
                change_copy(c, sg_cache_set(c, p, line), line, state);
        else if (k == at->level)
            *sg_set_at(c, at->set, at->way) = sg_entry_make(wide, state);
    }
}

/* Searches the levels from `first` on; those before lack the line. */
static inline void search(const sg_mem *mem, uint32_t processor, uint64_t address, uint32_t first,
                          sg_place *at)
{
    uint64_t cycles = first > 0 ? mem->level[0].hit_cycles : 0;
    uint32_t level = first;
    for (const sg_cache *c = &mem->level[first]; level < mem->private_levels; level++, c++) {
        uint64_t line = address >> c->line_shift;
        at->set = sg_cache_set(c, processor, line);
        at->way = sg_set_find(c, at->set, line);
        cycles += c->hit_cycles;
        if (at->way >= 0)
            break;
    }
    at->level = level;
    at->cycles = cycles;
}

/* Cycles to translate `address`, which missed in the first level. */
static inline uint64_t translate(sg_mem *mem, uint32_t processor, uint64_t address, sg_outcome *out)
{
    if (__builtin_expect(mem->walk_cycles == 0, 1))
        return 0;
    uint64_t page = address >> mem->page_shift, entry = sg_entry_make(page, SG_SHARED);
    if (mem->found[processor].page == page + 1)
        return 0;
    mem->found[processor].page = page + 1;
    sg_set set = sg_cache_set(&mem->pages, processor, page);
    int way = sg_set_find(&mem->pages, set, page);
    if (way >= 0) {
        sg_set_front(&mem->pages, set, way, entry);
        return 0;
    }
    sg_set_insert(&mem->pages, set, entry);
    out->count[SG_COUNTER_TRANSLATION_MISSES]++;
    return mem->walk_cycles;
}

/* Lines enter a processor's private caches one after the other. */
static inline void enter(sg_mem *mem, sg_request *r, sg_outcome *out)
{
    if (__builtin_expect(mem->entrance == NULL, 1) || r->kind == SG_UPGRADE)
        return;
    uint64_t *taken = &mem->entrance[r->processor], now = r->now * 1000;
    if (*taken > now)
        sg_mem_stall(out, SG_CATEGORY_STALL_CONTENTION, (*taken - now + 999) / 1000, &r->now);
    *taken = (*taken > now ? *taken : now) + mem->read_millicycles;
}

#endif

/* What a switch prefetches before the next access. */
#include "sg_mem_ahead.h"

void sg_mem_expect(const sg_mem *mem, uint32_t processor, uint64_t address)
{
    mem = sg_mem_part(mem, &processor);
    const sg_place *at = &mem->found[processor];
    for (uint32_t k = 0; k < mem->private_levels; k++)
        __builtin_prefetch(sg_cache_set(&mem->level[k], processor, address >> mem->level[k].line_shift).first,
                           1);
    if (at->address == address)
        __builtin_prefetch(at->entry, 1);
    else
        sg_dir_expect(&mem->dir, sg_mem_global(mem, processor, address));
    __builtin_prefetch((const void *)(uintptr_t)address);
}

void sg_mem_expect_shared(const sg_mem *mem, uint32_t processor, uint64_t address)
{
    mem = sg_mem_part(mem, &processor);
    if (!mem->has_shared)
        return;
    const sg_place *at = &mem->found[processor];
    const sg_line *entry = at->entry;
    if (at->address != address || at->level < mem->private_levels || entry == NULL)
        return;
    uint64_t line = sg_mem_global(mem, processor, address) >> mem->line_shift;
    if (entry->state == SG_LINE_OWNED) {
        sg_ahead_copies(mem, entry->owner, line);
        sg_ahead_group(mem, sg_group_of(mem, entry->owner), line); /* which keeps the line if it is dirty */
    }
    sg_ahead_shared(mem, entry, line);
}

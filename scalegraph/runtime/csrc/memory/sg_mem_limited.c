/* Limited directories.
 *
 * A limited directory uses the same bitmap, but the simulated hardware sees only part of it. With
 * broadcast, a line that ever had more holders than pointers counts as overflowed until it has an owner
 * again, and is invalidated by messages to all processors. Without broadcast, a read that would exceed the
 * pointers makes the next holder (by number, round-robin) drop its copy. */
#include "sg_mem.h"

#include <string.h>

#include "sg_mem_state.h"

/* A limited directory does not know all holders: a write broadcasts, or a read evicts one copy. */
void sg_limited_targets(sg_mem *mem, const sg_line *entry, sg_request *r)
{
    memset(mem->told, 0, r->words * sizeof *mem->told);
    if (r->kind != SG_FETCH_READ && entry->overflowed) {
        for (uint32_t p = 0; p < mem->processors; p++)
            mem->told[p >> 6] |= 1ull << (p & 63);
        mem->told[r->processor >> 6] &= ~(1ull << (r->processor & 63));
        r->targets = mem->told;
        r->invalidations = mem->processors - 1;
    } else if (r->kind == SG_FETCH_READ && !mem->broadcast && r->copies >= mem->pointers) {
        uint32_t q = r->processor;
        do
            q = q + 1 == mem->processors ? 0 : q + 1;
        while (!sg_bit(mem->others, q) || (r->keeps && q == r->supplier && r->copies > 1));
        mem->told[q >> 6] |= 1ull << (q & 63);
        r->targets = mem->told;
        r->invalidations = 1;
    }
}

/* The holder that a limited directory drops in favour of a new one loses its copy. */
void sg_limited_give_up(sg_mem *mem, sg_line *entry, const sg_request *r, sg_outcome *out)
{
    uint32_t q = 0;
    while (!sg_bit(r->targets, q))
        q++;
    uint64_t line = sg_mem_local_line(mem, q, r->line);
    sg_mem_invalidate(mem, q, line, mem->line_shift, mem->private_levels);
    out->count[SG_COUNTER_INVALIDATIONS]++;
    if (mem->lost)
        mem->lost(mem->first + q, line, 0); /* not because of a write: the directory is full */
    entry->holders[q >> 6] &= ~(1ull << (q & 63));
    if (entry->state == SG_LINE_DIRTY_SHARED && entry->owner == q) {
        entry->state = SG_LINE_SHARED;
        sg_mem_write_back(mem, q, r->line, r->now, out);
    }
}

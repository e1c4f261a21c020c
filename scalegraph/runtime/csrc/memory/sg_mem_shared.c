/* Caches shared by groups of processors: they keep the victims of private caches. */
#include "sg_mem.h"

#include "sg_mem_state.h"

void sg_mem_write_back(sg_mem *mem, uint32_t p, uint64_t line, uint64_t now, sg_outcome *out)
{
    out->count[SG_COUNTER_WRITEBACKS]++;
    if (mem->prefetch)
        sg_prefetch_wrote(mem, p, now);
    if (!(mem->ideal & (SG_IDEAL_CONTENTION | SG_IDEAL_NETWORK | SG_REMOVED)))
        mem->ops->write_back(mem->net, now, p, line, sg_mem_home_of(mem, line << mem->line_shift));
}

/* Puts a private cache's victim into the shared cache of its group. */
void sg_shared_keep(sg_mem *mem, uint32_t p, sg_line *entry, uint64_t line, int dirty, uint64_t now,
                    sg_outcome *out)
{
    const sg_cache *c = &mem->level[mem->private_levels];
    uint32_t group = sg_group_of(mem, p);
    sg_set set = sg_cache_set(c, group, line);
    if (entry->shared_caches >> group & 1) {
        if (dirty)
            *sg_set_at(c, set, sg_set_find(c, set, line)) = sg_entry_make(line, SG_MODIFIED);
        return;
    }
    uint64_t gone = sg_set_insert(c, set, sg_entry_make(line, dirty ? SG_MODIFIED : SG_SHARED));
    entry->shared_caches |= 1ull << group;
    if (!gone)
        return;
    uint64_t address = sg_entry_line(gone) << mem->line_shift;
    sg_line *old = sg_dir_line(&mem->dir, sg_dir_chunk(&mem->dir, address), address);
    old->shared_caches &= ~(1ull << group);
    if (sg_entry_state(gone) == SG_MODIFIED)
        sg_mem_write_back(mem, p, sg_entry_line(gone), now, out);
}

void sg_shared_drop(sg_mem *mem, sg_line *entry, uint64_t line)
{
    const sg_cache *c = &mem->level[mem->private_levels];
    for (uint64_t left = entry->shared_caches; left; left &= left - 1) {
        sg_set set = sg_cache_set(c, (uint32_t)__builtin_ctzll(left), line);
        sg_set_remove(c, set, sg_set_find(c, set, line));
    }
    entry->shared_caches = 0;
}

/* Removes the copies of a line from the processors of `group`. Returns whether one was dirty. */
static int take_back(sg_mem *mem, uint32_t group, sg_line *entry, uint64_t line, sg_outcome *out)
{
    uint32_t first = group * (uint32_t)mem->group.by, end = first + (uint32_t)mem->group.by;
    int dirty = 0;
    for (uint32_t q = first; q < end && q < mem->processors; q++) {
        if (!sg_bit(entry->holders, q))
            continue;
        uint64_t own = sg_mem_local_line(mem, q, line);
        const sg_cache *c = &mem->level[mem->private_levels - 1];
        sg_set set = sg_cache_set(c, q, own);
        int way = sg_set_find(c, set, own);
        dirty |= way >= 0 && sg_entry_state(*sg_set_at(c, set, way)) == SG_MODIFIED;
        dirty |= entry->state == SG_LINE_DIRTY_SHARED && entry->owner == q;
        sg_mem_invalidate(mem, q, own, mem->line_shift, mem->private_levels);
        entry->holders[q >> 6] &= ~(1ull << (q & 63));
        out->count[SG_COUNTER_INVALIDATIONS]++;
        if (mem->lost)
            mem->lost(mem->first + q, own, 0);
    }
    uint64_t any = 0;
    for (uint32_t i = 0; i < mem->dir.words; i++)
        any |= entry->holders[i];
    if (any == 0)
        entry->state = SG_LINE_HOME;
    else if (dirty)
        entry->state = SG_LINE_SHARED;
    return dirty;
}

void sg_shared_include(sg_mem *mem, uint32_t p, sg_line *entry, uint64_t line, uint64_t now, sg_outcome *out)
{
    const sg_cache *c = &mem->level[mem->private_levels];
    uint32_t group = sg_group_of(mem, p);
    if (entry->shared_caches >> group & 1)
        return;
    uint64_t gone = sg_set_insert(c, sg_cache_set(c, group, line), sg_entry_make(line, SG_SHARED));
    entry->shared_caches |= 1ull << group;
    if (!gone)
        return;
    uint64_t other = sg_entry_line(gone), address = other << mem->line_shift;
    sg_line *old = sg_dir_line(&mem->dir, sg_dir_chunk(&mem->dir, address), address);
    old->shared_caches &= ~(1ull << group);
    if (take_back(mem, group, old, other, out) || sg_entry_state(gone) == SG_MODIFIED)
        sg_mem_write_back(mem, p, other, now, out);
}

/* Which shared cache supplies a line that several may have: the one with the dirty copy, or any; -1 if memory
 * is nearer than a clean copy in a network cache. */
int sg_shared_choose(const sg_mem *mem, const sg_line *entry, uint64_t line, int *dirty)
{
    const sg_cache *c = &mem->level[mem->private_levels];
    for (uint64_t left = entry->shared_caches; left; left &= left - 1) {
        int group = __builtin_ctzll(left);
        sg_set set = sg_cache_set(c, (uint32_t)group, line);
        *dirty = sg_entry_state(*sg_set_at(c, set, sg_set_find(c, set, line))) == SG_MODIFIED;
        if (*dirty || !mem->remote_only)
            return group;
    }
    return -1;
}

/* Serves a fetch from the requester's own shared cache; returns the state of the new copy, or SG_INVALID if a
 * transaction is needed anyway. */
enum sg_copy sg_shared_try(sg_mem *mem, sg_line *entry, sg_request *r, sg_outcome *out)
{
    const sg_cache *c = &mem->level[mem->private_levels];
    uint32_t group = sg_group_of(mem, r->processor);
    if (mem->remote_only && r->home == mem->ops->node_of(mem->net, r->processor))
        return SG_INVALID;
    sg_mem_stall(out, SG_CATEGORY_STALL_LOCAL, c->hit_cycles, &r->now);
    if (!(entry->shared_caches >> group & 1))
        return SG_INVALID;
    if (entry->busy > r->now)
        sg_mem_stall(out, SG_CATEGORY_STALL_CONTENTION, entry->busy - r->now, &r->now);
    if (mem->inclusive && (entry->state == SG_LINE_OWNED || entry->state == SG_LINE_DIRTY_SHARED))
        return SG_INVALID; /* a private cache has the data */
    sg_set set = sg_cache_set(c, group, r->line);
    int way = sg_set_find(c, set, r->line);
    enum sg_copy state = sg_entry_state(*sg_set_at(c, set, way)) == SG_MODIFIED ? SG_MODIFIED : SG_EXCLUSIVE;
    if (r->copies == 0 && entry->shared_caches == 1ull << group &&
        (mem->exclusive || r->kind == SG_FETCH_WRITE)) {
        if (mem->inclusive)
            sg_set_front(c, set, way, sg_entry_make(r->line, SG_SHARED)); /* a dirty copy is now above */
        else
            sg_shared_drop(mem, entry, r->line); /* moves up: no other copy exists */
        entry->busy = r->now;
        return r->kind == SG_FETCH_WRITE ? SG_MODIFIED : state;
    }
    if (r->kind == SG_FETCH_READ) {
        sg_set_front(c, set, way, *sg_set_at(c, set, way));
        return SG_SHARED;
    }
    r->from = SG_FROM_OWN_GROUP;
    return SG_INVALID;
}

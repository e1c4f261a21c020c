/* One access to simulated memory: private caches, shared cache, directory protocol.
 *
 * Invariants (sg_mem_check.c): private levels are inclusive and agree on a line's state; the directory
 * knows exactly who holds what; a line with an owner is in no shared cache (these keep victims of the
 * private caches). */
#include "sg_mem.h"

#include <string.h>

#include "sg_mem_ahead.h"
#include "sg_mem_private.h"

/* ---- private caches ---- */

void sg_mem_invalidate(sg_mem *mem, uint32_t p, uint64_t wide, uint32_t shift, uint32_t levels)
{
    change_copies(mem, p, wide, shift, levels, SG_INVALID);
}

/* Sets the state of the copies of a coherence line in the levels below `levels`. */
static __attribute__((noinline)) void restate(sg_mem *mem, uint32_t p, uint64_t line, uint32_t levels,
                                              enum sg_copy state)
{
    change_copies(mem, p, line, mem->line_shift, levels, state);
}

static void leave(sg_mem *mem, uint32_t p, uint64_t entry, uint64_t now, sg_outcome *out);

/* Puts the line of `address` in front in levels `from` .. `to`. */
static inline void fill_levels(sg_mem *mem, uint32_t p, uint64_t address, enum sg_copy state, int from,
                               int to, uint64_t now, sg_outcome *out)
{
    for (int k = from; k >= to; k--) {
        const sg_cache *c = &mem->level[k];
        uint64_t line = address >> c->line_shift;
        sg_set set = sg_cache_set(c, p, line);
        uint64_t gone = sg_set_insert(c, set, sg_entry_make(line, state));
        if (gone && k > 0)
            sg_mem_invalidate(mem, p, sg_entry_line(gone), c->line_shift, (uint32_t)k);
        if (gone && k + 1 == (int)mem->private_levels)
            leave(mem, p, gone, now, out);
    }
}

static void fill(sg_mem *mem, uint32_t p, uint64_t address, enum sg_copy state, int from, uint64_t now,
                 sg_outcome *out)
{
    fill_levels(mem, p, address, state, from, 0, now, out);
}

/* Serves an access from the copy at `at` if that involves nobody else. */
static inline int serve(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                        const sg_place *at, sg_outcome *out)
{
    if (at->level == mem->private_levels)
        return 0;
    const sg_cache *c = &mem->level[at->level];
    uint64_t entry = *sg_set_at(c, at->set, at->way), cycles = at->cycles;
    enum sg_copy state = sg_entry_state(entry);
    if (kind != SG_READ && state != SG_MODIFIED) {
        if (state == SG_SHARED)
            return 0;
        state = SG_MODIFIED;
        entry = sg_entry_make(sg_entry_line(entry), state);
        restate(mem, processor, address >> mem->line_shift, mem->private_levels, state);
    }
    if (at->way > 0)
        sg_set_front(c, at->set, at->way, entry);
    if (at->level > 0) {
        out->count[SG_COUNTER_L1_MISSES]++;
        fill(mem, processor, address, state, (int)at->level - 1, 0, out);
        cycles += translate(mem, processor, address, out);
    }
    out->stall[SG_CATEGORY_STALL_LOCAL] += cycles;
    out->cycles += cycles;
    return 1;
}

static inline int try_from(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                           uint32_t first, sg_outcome *outcome)
{
    /* Host memory is slow with many processors: prefetch the next level's set. */
    for (uint32_t k = first + 1; k < mem->private_levels; k++)
        __builtin_prefetch(sg_cache_set(&mem->level[k], processor, address >> mem->level[k].line_shift).first,
                           1);
    sg_place *at = &mem->found[processor];
    at->address = 0;
    search(mem, processor, address, first, at);
    sg_ahead_next(mem, at);
    int awaited = mem->prefetch && at->level > 0 && sg_prefetch_awaits(mem, processor, address);
    if (!awaited && serve(mem, processor, address, kind, at, outcome))
        return 1;
    at->address = address;
    uint64_t wide = sg_mem_global(mem, processor, address);
    char *chunk = sg_dir_known_chunk(&mem->dir, wide);
    at->entry = NULL;
    if (chunk != NULL) {
        at->home = sg_dir_home(&mem->dir, chunk, wide);
        at->entry = sg_dir_line(&mem->dir, chunk, wide);
        __builtin_prefetch(at->entry, 1);
    }
    return 0;
}

int sg_mem_try_private(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                       sg_outcome *outcome)
{
    mem = sg_mem_part(mem, &processor);
    return try_from(mem, processor, address, kind, 0, outcome);
}

int sg_mem_try_behind(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                      sg_outcome *outcome)
{
    mem = sg_mem_part(mem, &processor);
    return try_from(mem, processor, address, kind, 1, outcome);
}

/* ---- lines that leave ---- */

static int anybody(const sg_mem *mem, const uint64_t *bits)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < mem->dir.words; i++)
        any |= bits[i];
    return any != 0;
}

/* `gone` was evicted from the last private level of `p`. */
static void leave(sg_mem *mem, uint32_t p, uint64_t gone, uint64_t now, sg_outcome *out)
{
    uint64_t own = sg_entry_line(gone), address = sg_mem_global(mem, p, own << mem->line_shift);
    uint64_t line = address >> mem->line_shift;
    sg_line *entry = sg_dir_line(&mem->dir, sg_dir_chunk(&mem->dir, address), address);
    int answers = entry->state == SG_LINE_DIRTY_SHARED && entry->owner == p;
    int dirty = sg_entry_state(gone) == SG_MODIFIED || answers;
    if (mem->lost)
        mem->lost(mem->first + p, own, 0);
    entry->holders[p >> 6] &= ~(1ull << (p & 63));
    int last = entry->state == SG_LINE_OWNED || !anybody(mem, entry->holders);
    if (last)
        entry->state = SG_LINE_HOME;
    else if (answers)
        entry->state = SG_LINE_SHARED;
    if (sg_shared_keeps(mem, p, address)) {
        sg_shared_keep(mem, p, entry, line, dirty, now, out);
    } else if (mem->attraction && last) {
        entry->state = SG_LINE_DISPLACED;
        entry->owner = p;
        sg_mem_write_back(mem, p, line, now, out);
    } else if (dirty) {
        sg_mem_write_back(mem, p, line, now, out);
    }
}

/* ---- the protocol ---- */

/* Charges `reply` of a transaction. */
static void charge(sg_outcome *out, const sg_reply *reply, enum sg_transaction kind)
{
    enum sg_category category = SG_CATEGORY_STALL_LOCAL;
    if (kind == SG_UPGRADE) {
        category = SG_CATEGORY_STALL_UPGRADE;
    } else if (reply->remote) {
        int read = kind == SG_FETCH_READ;
        category = read ? SG_CATEGORY_STALL_REMOTE_READ : SG_CATEGORY_STALL_REMOTE_WRITE;
        out->count[read ? SG_COUNTER_REMOTE_READS : SG_COUNTER_REMOTE_WRITES]++;
    }
    out->stall[category] += reply->cycles;
    out->stall[SG_CATEGORY_STALL_CONTENTION] += reply->contention;
    out->cycles += reply->cycles + reply->contention;
}

static void invalidate_others(sg_mem *mem, uint64_t line, sg_outcome *out)
{
    for (uint32_t word = 0; word < mem->dir.words; word++)
        for (uint64_t left = mem->others[word]; left; left &= left - 1) {
            uint32_t q = word * 64 + (uint32_t)__builtin_ctzll(left);
            uint64_t own = sg_mem_local_line(mem, q, line);
            sg_mem_invalidate(mem, q, own, mem->line_shift, mem->private_levels);
            out->count[SG_COUNTER_INVALIDATIONS]++;
            if (mem->lost)
                mem->lost(mem->first + q, own, 1);
        }
}

/* Chooses who supplies the line of a fetch; a dirty supplier of a read keeps a clean copy (with MOESI, the
 * dirty one). */
static void choose_supplier(sg_mem *mem, sg_line *entry, sg_request *r, sg_outcome *out)
{
    r->from = SG_FROM_HOME;
    if (entry->state == SG_LINE_DIRTY_SHARED) {
        r->from = SG_FROM_CACHE;
        r->supplier = entry->owner;
        r->dirty = 1;
        r->keeps = r->kind == SG_FETCH_READ;
    } else if (entry->state == SG_LINE_OWNED) {
        const sg_cache *c = &mem->level[mem->private_levels - 1];
        uint64_t line = sg_mem_local_line(mem, entry->owner, r->line);
        sg_set set = sg_cache_set(c, entry->owner, line);
        int way = sg_set_find(c, set, line);
        r->from = SG_FROM_CACHE;
        r->supplier = entry->owner;
        r->dirty = way >= 0 && sg_entry_state(*sg_set_at(c, set, way)) == SG_MODIFIED;
        if (r->kind != SG_FETCH_READ)
            return;
        if (way >= 0)
            *sg_set_at(c, set, way) = sg_entry_make(line, SG_SHARED);
        restate(mem, entry->owner, line, mem->private_levels - 1, SG_SHARED);
        r->keeps = r->dirty && mem->owned;
        entry->state = r->keeps ? SG_LINE_DIRTY_SHARED : SG_LINE_SHARED;
        if (r->keeps)
            return;
        if (r->dirty && sg_shared_keeps(mem, entry->owner, r->line << mem->line_shift))
            sg_shared_keep(mem, entry->owner, entry, r->line, 1, r->now, out);
        else if (r->dirty && !mem->attraction)
            out->count[SG_COUNTER_WRITEBACKS]++; /* its latency is part of the transaction */
    } else if (entry->state == SG_LINE_DISPLACED) {
        r->home = entry->owner;
    } else if (entry->shared_caches) {
        int group = sg_shared_choose(mem, entry, r->line, &r->dirty);
        if (group < 0)
            return;
        r->from = SG_FROM_SHARED_CACHE;
        r->supplier = (uint32_t)group * (uint32_t)mem->group.by;
    }
}

/* Attraction memory: a page starts in the cache of the cell that first touches it. */
static void materialise(sg_mem *mem, sg_line *entry, uint64_t address, uint32_t home, uint64_t now,
                        sg_outcome *out)
{
    int last = (int)mem->private_levels - 1;
    const sg_cache *c = &mem->level[last];
    uint64_t line = sg_mem_local(mem, home, address) >> c->line_shift;
    uint64_t gone = sg_set_insert(c, sg_cache_set(c, home, line), sg_entry_make(line, SG_EXCLUSIVE));
    mem->found[home].address = 0;
    entry->state = SG_LINE_OWNED;
    entry->owner = home;
    entry->holders[home >> 6] |= 1ull << (home & 63);
    if (gone) {
        sg_mem_invalidate(mem, home, sg_entry_line(gone), c->line_shift, (uint32_t)last);
        leave(mem, home, gone, now, out);
    }
}

/* Makes `p` a holder of the line in `state`. */
static void hold(sg_line *entry, uint32_t p, enum sg_copy state)
{
    entry->holders[p >> 6] |= 1ull << (p & 63);
    if (state != SG_SHARED) {
        entry->state = SG_LINE_OWNED;
        entry->owner = p;
        entry->overflowed = 0;
    } else if (entry->state != SG_LINE_DIRTY_SHARED) {
        entry->state = SG_LINE_SHARED;
    }
}

static uint32_t touch_page(sg_mem *mem, uint32_t *home, uint64_t address, sg_request *r, sg_outcome *out)
{
    if (*home & SG_DIR_MARKED) {
        sg_balance_fault(mem, home, r, out);
    } else if (*home == 0 || (*home & SG_DIR_PLACED)) {
        *home = *home ? *home & ~SG_DIR_PLACED : sg_homes_choose(mem, r->processor, address);
        mem->touched++;
        out->count[SG_COUNTER_PAGE_MISSES]++;
        sg_mem_stall(out, SG_CATEGORY_STALL_PAGE, mem->page_miss_cycles, &r->now);
    }
    return sg_dir_node(*home);
}

/* Collects a line's other holders in mem->others. */
static void find_others(sg_mem *mem, const sg_line *entry, sg_request *r)
{
    r->holders = r->targets = mem->others;
    r->words = mem->dir.words;
    uint64_t own = 1ull << (r->processor & 63);
    if (r->words == 1) {
        mem->others[0] = entry->holders[0] & ~own;
        r->copies = (uint32_t)__builtin_popcountll(mem->others[0]);
    } else {
        uint64_t *others = mem->others;
        uint32_t copies = 0; /* a local: as far as the compiler knows, the bitmap might alias memory */
        for (uint32_t i = 0, words = r->words; i < words; i++) {
            uint64_t word = entry->holders[i];
            others[i] = word;
            copies += (uint32_t)__builtin_popcountll(word);
        }
        r->copies = copies - (uint32_t)sg_bit(mem->others, r->processor);
        mem->others[r->processor >> 6] &= ~own;
    }
    r->invalidations = r->kind == SG_FETCH_READ ? 0 : r->copies;
    r->groups = entry->shared_caches;
    if (mem->has_shared)
        r->groups &= ~(1ull << sg_group_of(mem, r->processor));
}

/* Starts a request; what transact determines is not set yet. */
static inline void ask(const sg_mem *mem, sg_request *r, uint32_t processor, uint64_t address,
                       enum sg_transaction kind, uint64_t now)
{
    r->now = now;
    r->line = address >> mem->line_shift;
    r->processor = processor;
    r->kind = kind;
    r->from = SG_FROM_HOME;
    r->supplier = 0;
    r->dirty = r->keeps = 0;
    r->claim = SG_CLAIM_READS;
}

/* The state of the copy after the transaction of `r`. */
static inline __attribute__((always_inline)) enum sg_copy transact(sg_mem *mem, sg_line *entry, sg_request *r,
                                                                   sg_outcome *out)
{
    sg_reply reply = {0};
    r->busy = &entry->busy;
    if (mem->ideal & (SG_IDEAL_CONTENTION | SG_IDEAL_NETWORK))
        entry->busy = 0;
    enter(mem, r, out);
    find_others(mem, entry, r);
    if (r->kind != SG_FETCH_READ && r->copies <= SG_AHEAD_COPIES)
        sg_ahead_others(mem, mem->others, r->line);
    if (r->kind != SG_UPGRADE) {
        enum sg_copy state = mem->has_shared ? sg_shared_try(mem, entry, r, out) : SG_INVALID;
        if (state != SG_INVALID)
            return state;
        if (r->from != SG_FROM_OWN_GROUP)
            choose_supplier(mem, entry, r, out);
    }
    if (mem->pointers)
        sg_limited_targets(mem, entry, r);
    if (mem->ideal == 0)
        mem->ops->transact(mem->net, r, &reply);
    else
        sg_ideal_transact(mem, r, &reply);
    charge(out, &reply, r->kind);
    if (r->kind != SG_UPGRADE && r->from == SG_FROM_HOME && !reply.spared && !mem->attraction)
        out->count[SG_COUNTER_MEMORY_LINES]++;
    if (r->kind == SG_FETCH_READ) {
        int sole = r->copies == 0 && entry->shared_caches == 0 && !entry->overflowed;
        if (r->invalidations > 0)
            sg_limited_give_up(mem, entry, r, out);
        else if (mem->pointers && r->copies >= mem->pointers)
            entry->overflowed = 1;
        return sole && mem->exclusive ? SG_EXCLUSIVE : SG_SHARED;
    }
    invalidate_others(mem, r->line, out);
    if (mem->has_shared)
        sg_shared_drop(mem, entry, r->line);
    for (uint32_t i = 0; i < r->words; i++)
        entry->holders[i] = 0;
    return SG_MODIFIED;
}

/* A prefetched line is used: waits for it to arrive, unless it was taken away meanwhile. */
static void await_prefetched(sg_mem *mem, uint32_t p, uint64_t address, const sg_place *at, uint64_t *now,
                             sg_outcome *out)
{
    int remote;
    uint64_t wait = sg_prefetch_use(mem, p, address, *now, &remote);
    if (at->level < mem->private_levels)
        sg_mem_stall(out, remote ? SG_CATEGORY_STALL_REMOTE_READ : SG_CATEGORY_STALL_LOCAL, wait, now);
}

int sg_mem_has(const sg_mem *mem, uint32_t p, uint64_t address)
{
    const sg_cache *c = &mem->level[mem->private_levels - 1];
    uint64_t line = address >> c->line_shift;
    return sg_set_find(c, sg_cache_set(c, p, line), line) >= 0;
}

uint64_t sg_mem_bring(sg_mem *mem, uint32_t p, uint64_t address, uint32_t level, enum sg_claim claim,
                      uint64_t now, sg_outcome *out, int *remote, uint64_t *waited)
{
    uint64_t wide = sg_mem_global(mem, p, address);
    char *chunk = sg_dir_chunk(&mem->dir, wide);
    sg_line *entry = sg_dir_line(&mem->dir, chunk, wide);
    sg_balance_look(mem, now);
    uint32_t *home = sg_dir_home(&mem->dir, chunk, wide);
    sg_outcome own = {0};
    sg_request r;
    ask(mem, &r, p, wide, SG_FETCH_READ, now);
    if ((*home & SG_DIR_MARKED) && !sg_balance_ahead(mem, home, &r, out))
        return SG_BRING_LATER;
    if (*home == 0 || (*home & SG_DIR_PLACED) || (mem->attraction && entry->state == SG_LINE_UNTOUCHED))
        return UINT64_MAX;
    r.home = sg_dir_node(*home);
    r.claim = claim;
    enum sg_copy state = transact(mem, entry, &r, &own);
    hold(entry, p, state);
    fill_levels(mem, p, address, state, (int)mem->private_levels - 1, (int)level, now, &own);
    if (mem->inclusive)
        sg_shared_include(mem, p, entry, r.line, now, &own);
    out->count[SG_COUNTER_INVALIDATIONS] += own.count[SG_COUNTER_INVALIDATIONS];
    out->count[SG_COUNTER_WRITEBACKS] += own.count[SG_COUNTER_WRITEBACKS];
    out->count[SG_COUNTER_MEMORY_LINES] += own.count[SG_COUNTER_MEMORY_LINES];
    *remote = own.count[SG_COUNTER_REMOTE_READS] > 0;
    *waited = own.stall[SG_CATEGORY_STALL_CONTENTION];
    return own.cycles;
}

/* When it is the turn of `processor`: serves an access from the private caches, if they can. */
static __attribute__((noinline)) int serve_now(sg_mem *mem, uint32_t processor, uint64_t address,
                                               enum sg_access kind, uint64_t *now, sg_outcome *outcome)
{
    sg_place *at = &mem->found[processor];
    if (at->address != address) {
        search(mem, processor, address, 0, at);
        at->entry = NULL;
    }
    at->address = 0;
    uint64_t begin = *now;
    int prefetched = mem->prefetch && at->level > 0 && sg_prefetch_awaits(mem, processor, address);
    if (prefetched)
        await_prefetched(mem, processor, address, at, now, outcome);
    if (!serve(mem, processor, address, kind, at, outcome))
        return 0;
    if (prefetched)
        sg_prefetch_next(mem, processor, address, kind != SG_READ, begin, outcome);
    return 1;
}

void sg_mem_access(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind, uint64_t now,
                   sg_outcome *outcome)
{
    mem = sg_mem_part(mem, &processor);
    sg_place *at = &mem->found[processor];
    /* Otherwise the previous search missed, and nothing has changed since. */
    if ((at->address != address || mem->prefetch) && serve_now(mem, processor, address, kind, &now, outcome))
        return;
    at->address = 0;
    int upgrade = at->level < mem->private_levels;
    uint64_t wide = sg_mem_global(mem, processor, address);
    sg_request r;
    ask(mem, &r, processor, wide,
        upgrade           ? SG_UPGRADE
        : kind == SG_READ ? SG_FETCH_READ
                          : SG_FETCH_WRITE,
        now);
    if (at->level > 0)
        outcome->count[SG_COUNTER_L1_MISSES]++;
    sg_mem_stall(outcome, SG_CATEGORY_STALL_LOCAL, at->cycles, &r.now);
    if (at->level > 0)
        sg_mem_stall(outcome, SG_CATEGORY_STALL_LOCAL, translate(mem, processor, address, outcome), &r.now);

    if (at->entry == NULL) {
        char *chunk = sg_dir_chunk(&mem->dir, wide);
        at->home = sg_dir_home(&mem->dir, chunk, wide);
        at->entry = sg_dir_line(&mem->dir, chunk, wide);
    }
    sg_line *entry = at->entry;
    sg_balance_look(mem, r.now);
    r.home = touch_page(mem, at->home, wide, &r, outcome);
    uint64_t seen = r.now; /* by the prefetcher */
    if (r.kind == SG_FETCH_WRITE && mem->claim != SG_CLAIM_READS &&
        sg_prefetch_fills(mem, processor, address))
        r.claim = mem->claim;
    enum sg_copy state = kind == SG_READ ? SG_EXCLUSIVE : SG_MODIFIED;
    int own_page = mem->attraction && entry->state == SG_LINE_UNTOUCHED && r.home == processor;
    if (!own_page) {
        if (mem->attraction && entry->state == SG_LINE_UNTOUCHED)
            materialise(mem, entry, wide, r.home, r.now, outcome);
        outcome->count[SG_COUNTER_MISSES]++;
        if (upgrade)
            outcome->count[SG_COUNTER_UPGRADES]++;
        state = transact(mem, entry, &r, outcome);
    }
    hold(entry, processor, state);
    if (upgrade) {
        restate_found(mem, processor, address, at, state);
        if (at->level > 0 || at->way > 0)
            serve(mem, processor, address, SG_READ, at, &(sg_outcome){0}); /* moves it to the front */
    } else {
        fill(mem, processor, address, state, (int)mem->private_levels - 1, r.now, outcome);
        if (mem->prefetch)
            sg_prefetch_next(mem, processor, address, kind != SG_READ, seen, outcome);
    }
    if (mem->inclusive)
        sg_shared_include(mem, processor, entry, wide >> mem->line_shift, r.now, outcome);
}

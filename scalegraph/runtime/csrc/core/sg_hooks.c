/* What the compiler's instrumentation calls: every shared-memory reference and every basic block. A reference
 * that hits in the filter costs two counters; everything else is in sg_reference. */
#include "sg_inline.h"
#include "sg_overlap.h"
#include "sg_runtime.h"
#include "sg_watch.h"

/* ---- the slow path ---- */

/* Counts and clears the events of sg->outcome that few machines have. */
static inline void absorb_rare(sg_processor *p, enum sg_counter counter)
{
    uint32_t *count = &sg->outcome.count[counter];
    if (SG_UNLIKELY(*count != 0)) {
        sg_count(p, counter, *count);
        *count = 0;
    }
}

/* Counts and clears the events of sg->outcome; returns the misses. */
static inline uint32_t absorb_counts(sg_processor *p)
{
    sg_outcome *restrict o = &sg->outcome;
    uint64_t *restrict events = p->account->events;
    uint32_t misses = o->count[SG_COUNTER_MISSES];
    for (int i = 0; i < SG_EVENTS; i++) {
        events[i] += o->count[SG_COUNTER_L1_MISSES + i];
        o->count[SG_COUNTER_L1_MISSES + i] = 0;
    }
    absorb_rare(p, SG_COUNTER_PREFETCHES);
    for (int rare = SG_COUNTER_TRANSLATION_MISSES; rare <= SG_COUNTER_PAGE_MIGRATIONS; rare++)
        absorb_rare(p, (enum sg_counter)rare);
    o->cycles = 0;
    return misses;
}

/* Adds sg->outcome to the accounts and clears it. */
static inline void absorb(sg_processor *p, sg_site_count *count)
{
    uint64_t *restrict stall = &sg->outcome.stall[SG_CATEGORY_STALL_LOCAL];
    uint64_t *restrict sum = p->account->stall;
    uint64_t cycles = 0;
    for (int i = 0; i < SG_STALLS; i++) {
        sum[i] += stall[i];
        cycles += stall[i];
        stall[i] = 0;
    }
    sg_advance(p, cycles);
    count->cycles[SG_GROUP_MEMORY_STALL] += cycles;
    count->misses += absorb_counts(p);
}

/* The same, with all cycles charged to one category. */
static void absorb_to(sg_processor *p, sg_site_count *count, enum sg_category category)
{
    sg_outcome *o = &sg->outcome;
    uint64_t cycles = 0;
    for (int stall = SG_CATEGORY_STALL_LOCAL; stall <= SG_CATEGORY_STALL_CONTENTION; stall++) {
        cycles += o->stall[stall];
        o->stall[stall] = 0;
    }
    cycles = p->together > 1 ? (cycles + p->together / 2) / p->together : cycles;
    count->cycles[sg_category_group[category]] += sg_charge(p, category, cycles);
    count->misses += absorb_counts(p);
}

/* An out-of-order processor overlaps misses and waits only for a part of each. */
static inline uint64_t overlapped(sg_processor *p, const sg_site_count *site, uint64_t cycles)
{
    uint64_t parallelism = sg->config.memory_parallelism;
    if (SG_UNLIKELY(sg->overlaps))
        return sg_overlap_miss(p, site, cycles);
    return parallelism <= 1000 ? cycles : (cycles * 1000 + parallelism / 2) / parallelism;
}

/* The same for the whole cost of a miss except a page's first touch, which the system handles. Waiting for
 * others is included where misses are tracked individually. */
static __attribute__((noinline)) void overlap_all(sg_processor *p, const sg_site_count *site)
{
    uint64_t *stall = sg->outcome.stall, cycles = 0, page = stall[SG_CATEGORY_STALL_PAGE];
    stall[SG_CATEGORY_STALL_PAGE] = 0;
    for (int category = SG_CATEGORY_STALL_LOCAL; category <= SG_CATEGORY_STALL_CONTENTION; category++)
        cycles += stall[category];
    uint64_t left = cycles != 0 ? sg_overlap_miss(p, site, cycles) : 0, charged = left;
    for (int category = SG_CATEGORY_STALL_CONTENTION; category >= SG_CATEGORY_STALL_LOCAL; category--)
        if (stall[category] != 0) {
            uint64_t share = category == SG_CATEGORY_STALL_LOCAL ? left : stall[category] * charged / cycles;
            stall[category] = share;
            left -= share;
        }
    stall[SG_CATEGORY_STALL_CONTENTION] += left;
    stall[SG_CATEGORY_STALL_PAGE] = page;
}

static inline void overlap(sg_processor *p, const sg_site_count *site)
{
    if (sg->config.memory_parallelism <= 1000)
        return;
    if (SG_UNLIKELY(sg->overlaps)) {
        overlap_all(p, site);
        return;
    }
    for (int category = SG_CATEGORY_STALL_LOCAL; category <= SG_CATEGORY_STALL_UPGRADE; category++)
        sg->outcome.stall[category] = overlapped(p, site, sg->outcome.stall[category]);
}

/* Adds what the memory system did to a site's record. */
static inline void count_at(sg_site_count *site, const sg_pending *r, const sg_outcome *o)
{
    site->remote += o->count[SG_COUNTER_REMOTE_READS] + o->count[SG_COUNTER_REMOTE_WRITES];
    site->upgrades += o->count[SG_COUNTER_UPGRADES];
    site->invalidations += o->count[SG_COUNTER_INVALIDATIONS];
    site->causes[r->cause] += o->count[SG_COUNTER_MISSES];
}

/* Makes the reference `r` of `p`, whose turn it is, at `site`. */
static __attribute__((noinline)) void perform(sg_processor *p, const sg_pending *r, sg_site_count *site)
{
    sg_observe_references(p, r);
    if (!sg->pages_only)
        sg_mem_access(sg->mem, p->id, r->address, (enum sg_access)r->kind, p->clock, &sg->outcome);
    if (SG_UNLIKELY(sg->uncached)) /* without caches nothing can miss */
        memset(sg->outcome.count, 0, sizeof sg->outcome.count);
    if (r->category < 0)
        overlap(p, site);
    sg_observe_scales(p, r);
    count_at(site, r, &sg->outcome);
    if (r->cause != SG_CAUSE_COMPUTATION || sg->outcome.count[SG_COUNTER_INVALIDATIONS] != 0)
        sg_observe_caused(p, r, &sg->outcome);
    sg_observe_referenced(p, r, &sg->outcome);
    if (r->category < 0)
        absorb(p, site);
    else
        absorb_to(p, site, (enum sg_category)r->category);
}

void sg_perform(sg_processor *p)
{
    sg_pending *pending = &p->coroutine->pending;
    perform(p, pending, &sg->sites[p->coroutine->site]);
    pending->address = 0;
}

/* Makes a reference at p->site when it is p's turn; `count` is that site's record. */
static inline __attribute__((always_inline)) void wait_and_perform(sg_processor *p, sg_site_count *count,
                                                                   uint64_t address, uint64_t size,
                                                                   enum sg_access kind, enum sg_cause cause,
                                                                   int16_t category)
{
    if (sg_is_late(p) && (sg_key(p) - sg_first_key() > sg->slack || (sg->grouped && sg_group_waits(p)))) {
        sg_behind behind = sg_behind_of(p->site);
        p->coroutine->site =
            (uint32_t)(count - sg->sites); /* the records may be replaced by then: sg_blame.c */
        p->coroutine->pending =
            (sg_pending){address, (uint32_t)size, (uint8_t)kind, (uint8_t)cause, category};
        sg_behind_take(p, behind);
        sg_turn_slow(p);
        sg_behind_give(behind);
    } else {
        sg_pending r = {address, (uint32_t)size, (uint8_t)kind, (uint8_t)cause, category};
        perform(p, &r, count);
    }
}

static inline void charge_local(sg_processor *p, uint64_t cycles, uint64_t address, const void *site,
                                sg_site_count *count)
{
    cycles = overlapped(p, count, cycles);
    if (SG_UNLIKELY(sg_observed.hit != NULL))
        cycles = sg_observed.hit(p, address, site, cycles);
    sg_advance(p, cycles);
    p->account->stall[0] += cycles;
    count->cycles[SG_GROUP_MEMORY_STALL] += cycles;
}

/* Tries to serve a reference from the private caches of `p`. */
static inline __attribute__((always_inline)) bool serve_privately(sg_processor *p, uint64_t address,
                                                                  enum sg_access kind, const void *site,
                                                                  sg_site_count *count)
{
    sg_outcome *o = &sg->outcome;
    if (p->rest_ways != 0) {
        uint64_t line = address >> p->shift, set = line & p->mask;
        uint64_t *rest = &p->rest[set * p->rest_ways];
        int served = sg_filter_serve(&p->filter[set], rest, p->rest_ways, line, kind == SG_READ);
        if (served > 0) {
            if (p->hit_cycles != 0)
                charge_local(p, p->hit_cycles, address, site, count);
            return true;
        }
        if (served == 0 ? !sg_mem_try_behind(sg->mem, p->id, address, kind, o)
                        : !sg_mem_try_private(sg->mem, p->id, address, kind, o))
            return false;
    } else if (!sg_mem_try_private(sg->mem, p->id, address, kind, o)) {
        return false;
    }
    /* Only cycles of the processor's own node, and perhaps a first-level miss. */
    p->account->events[0] += o->count[SG_COUNTER_L1_MISSES];
    if (o->stall[SG_CATEGORY_STALL_LOCAL] != 0)
        charge_local(p, o->stall[SG_CATEGORY_STALL_LOCAL], address, site, count);
    absorb_rare(p, SG_COUNTER_TRANSLATION_MISSES);
    o->stall[SG_CATEGORY_STALL_LOCAL] = o->cycles = 0;
    o->count[SG_COUNTER_L1_MISSES] = 0;
    return true;
}

/* `size` bytes within one line. */
static inline __attribute__((always_inline)) void access_line(sg_processor *p, uint64_t address,
                                                              uint64_t size, enum sg_access kind,
                                                              const void *site, sg_site_count *count)
{
    if (SG_LIKELY(serve_privately(p, address, kind, site, count))) {
        sg_observe_hits(p, address, size, kind, site);
        return;
    }
    p->site = site;
    wait_and_perform(p, count, address, size, kind, SG_CAUSE_COMPUTATION, -1);
}

/* The same for one of several lines. */
static __attribute__((noinline)) void access_next_line(sg_processor *p, uint64_t address, uint64_t size,
                                                       enum sg_access kind, const void *site)
{
    access_line(p, address, size, kind, site, sg_site_of(site));
}

/* `size` bytes that span lines: the hook has counted one reference. */
static __attribute__((noinline)) void access_lines(sg_processor *p, uint64_t address, uint64_t size,
                                                   enum sg_access kind, const void *site)
{
    uint64_t line = sg->line_bytes, next = (address & ~(line - 1)) + line, end = address + size;
    access_next_line(p, address, next - address, kind, site);
    for (; next < end; next += line) {
        p->site = site;
        sg_count_references(p, kind, 1);
        sg_observe_counts(next, 1);
        access_next_line(p, next, end - next < line ? end - next : line, kind, site);
    }
}

/* Do the `size` bytes extend beyond the first line? */
static inline bool spans_lines(uint64_t address, uint64_t size)
{
    return ((address ^ (address + size - 1)) & -sg->line_bytes) != 0;
}

/* A reference on a machine without a data cache: tells the observers that its pages are used. */
static __attribute__((noinline)) void use_pages(sg_processor *p, uint64_t address, uint64_t size,
                                                enum sg_access kind, const void *site)
{
    uint64_t last = (address + size - 1) >> p->shift;
    for (uint64_t page = address >> p->shift; page <= last; page++) {
        uint64_t *entry = &p->filter[page & p->mask], begin = page << p->shift;
        if (*entry == sg_filter_entry(page))
            continue;
        *entry = sg_filter_entry(page);
        p->site = site;
        sg_pending r = {begin > address ? begin : address, 1, (uint8_t)kind, SG_CAUSE_COMPUTATION, -1};
        sg_observe_referenced(p, &r, &sg->outcome);
    }
}

void sg_reference(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
{
    if (SG_UNLIKELY(p->coroutine == NULL))
        return; /* before or after the simulation */
    sg_site_count *count = sg_site_of(site);
    count->hook = true;
    bool spans = spans_lines(address, size);
    if (sg->pages_only) {
        use_pages(p, address, size, kind, site);
        p->site = site;
        if (spans)
            sg_count_references(p, kind, ((address + size - 1) / sg->line_bytes) - address / sg->line_bytes);
        return;
    }
    sg_observe_counts(address, 1);
    if (SG_UNLIKELY(sg_observed.filter != NULL) && !spans && sg_observed.filter(p, address, size, kind, site))
        return;
    if (SG_LIKELY(!spans))
        access_line(p, address, size, kind, site, count);
    else
        access_lines(p, address, size, kind, site);
}

#define WORDS_OF(address, size) ((((address) + (size) - 1) >> 3) - ((address) >> 3) + 1) /* of 8 bytes */

/* References all lines of a range, counted word by word, at p->site. */
static void reference_lines(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind)
{
    const void *site = p->site;
    uint64_t line = sg->line_bytes, end = address + size;
    sg_count_references(p, kind, WORDS_OF(address, size));
    if (SG_UNLIKELY(sg_watch != NULL))
        sg_watch(p, address, size, kind, site);
    if (sg->pages_only) {
        use_pages(p, address, size, kind, site);
        return;
    }
    for (uint64_t next; address < end; address = next) {
        next = (address & ~(line - 1)) + line;
        if (next > end)
            next = end;
        sg_observe_counts(address, WORDS_OF(address, next - address));
        access_next_line(p, address, next - address, kind, site);
    }
}

void sg_touch(sg_processor *p, uint64_t address, enum sg_access kind, enum sg_category category)
{
    /* With free synchronisation its variables do not move; atomic operations are the program's own. */
    if (SG_UNLIKELY(sg->config.ideal & (SG_IDEAL_SYNC | SG_SKIMMING)) &&
        (category != SG_CATEGORY_PRIM_ATOMIC || (sg->config.ideal & SG_SKIMMING))) {
        sg_turn(p);
        return;
    }
    enum sg_cause cause = sg_observed.cause(p, category, address, kind);
    sg_count_references(p, kind, 1);
    sg_observe_counts(address, kind == SG_RMW ? 2 : 1);
    wait_and_perform(p, sg_site_of(p->site), address, 4, kind, cause, (int16_t)category);
    if (kind != SG_RMW || category != SG_CATEGORY_PRIM_SCHEDULE) /* taking a chunk of a loop orders nothing */
        sg_synchronise();
}

void sg_reference_range(const void *address, size_t size, enum sg_access kind, const void *site)
{
    sg_processor *p = sg_now;
    if (size == 0 || p->coroutine == NULL)
        return;
    uint32_t issue = sg->config.op_millicycles[kind == SG_READ ? SG_OP_LOAD : SG_OP_STORE];
    uint64_t words = (size + 7) / 8, cycles = (sg_moves(words) * issue + 999) / 1000;
    if (SG_UNLIKELY(sg_observed.library != NULL) && sg_observed.library(cycles))
        return;
    sg_count(p, SG_COUNTER_OPS, words);
    p->site = site;
    sg_charge_site(p, SG_CATEGORY_BUSY_MEM, cycles);
    reference_lines(p, (uint64_t)(uintptr_t)address, size, kind);
    if (p->clock > p->limit)
        sg_yield(p, site);
}

/* ---- references ---- */

static inline bool hook(void *address, unsigned size, bool may_span, enum sg_access kind)
{
    sg_processor *p = sg_now;
    uint64_t at = (uint64_t)(uintptr_t)address;
    *(kind == SG_READ ? &p->account->reads : &p->account->writes) += 1;
    return SG_LIKELY(sg_filtered(p, at, kind)) && (!may_span || SG_LIKELY(!spans_lines(at, size)));
}

/* Alternating between two lines of a set is the most frequent reference that the filter misses: swaps the two
 * most recent entries of a first-level set if the second one hits at no cost. */
static inline bool second_answers(const sg_processor *p, uint64_t address, enum sg_access kind)
{
    uint64_t line = address >> p->shift, set = line & p->mask;
    uint64_t *first = &p->filter[set], *second = &p->rest[set * p->rest_ways], entry;
    if (p->hit_cycles != 0 || p->rest_ways == 0 ||
        !sg_filter_answers(entry = *second, line, kind == SG_READ) || entry == 0)
        return false;
    *second = *first;
    *first = entry;
    return true;
}

/* Somebody watches, so the inlined code did not search the filter. */
static __attribute__((noinline)) void watched(void *address, uint64_t size, bool may_span,
                                              enum sg_access kind, const void *site)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!sg_watch(sg_now, at, size, kind, site) && (may_span || !second_answers(sg_now, at, kind)))
        sg_reference(sg_now, at, size, kind, site);
}

/* The slow half of a hook. Inlined hooks call it too; they search the filter themselves and count their
 * references by code segment. The hook jumps to it, so that the program's return address is the same in both,
 * the hook needs no frame, and a hit does no work for a miss. */
#define ACCESS(name, size, may_span, kind)                                                                   \
    SG_API __attribute__((noinline)) void name##_late(void *address)                                         \
    {                                                                                                        \
        if (SG_UNLIKELY(sg_watch != NULL))                                                                   \
            watched(address, size, may_span, kind, SG_CALLER);                                               \
        else if (may_span || !second_answers(sg_now, (uint64_t)(uintptr_t)address, kind))                    \
            sg_reference(sg_now, (uint64_t)(uintptr_t)address, size, kind, SG_CALLER);                       \
    }                                                                                                        \
    SG_API void name(void *address)                                                                          \
    {                                                                                                        \
        if (SG_UNLIKELY(!hook(address, size, may_span, kind)))                                               \
            name##_late(address);                                                                            \
    }
#define ACCESS_BOTH(suffix, size, may_span)                                                                  \
    ACCESS(__tsan_read##suffix, size, may_span, SG_READ)                                                     \
    ACCESS(__tsan_write##suffix, size, may_span, SG_WRITE)
#define ACCESS_VOLATILE(suffix, size, may_span)                                                              \
    ACCESS(__tsan_volatile_read##suffix, size, may_span, SG_READ)                                            \
    ACCESS(__tsan_volatile_write##suffix, size, may_span, SG_WRITE)                                          \
    ACCESS(__tsan_unaligned_volatile_read##suffix, size, true, SG_READ)                                      \
    ACCESS(__tsan_unaligned_volatile_write##suffix, size, true, SG_WRITE)

ACCESS_BOTH(1, 1, false)
ACCESS_BOTH(2, 2, false)
ACCESS_BOTH(4, 4, false)
ACCESS_BOTH(8, 8, false)
ACCESS_BOTH(16, 16, true) /* gcc requires an alignment of only 8 */
ACCESS(__tsan_unaligned_read2, 2, true, SG_READ)
ACCESS(__tsan_unaligned_read4, 4, true, SG_READ)
ACCESS(__tsan_unaligned_read8, 8, true, SG_READ)
ACCESS(__tsan_unaligned_read16, 16, true, SG_READ)
ACCESS(__tsan_unaligned_write2, 2, true, SG_WRITE)
ACCESS(__tsan_unaligned_write4, 4, true, SG_WRITE)
ACCESS(__tsan_unaligned_write8, 8, true, SG_WRITE)
ACCESS(__tsan_unaligned_write16, 16, true, SG_WRITE)
ACCESS_VOLATILE(1, 1, false)
ACCESS_VOLATILE(2, 2, false)
ACCESS_VOLATILE(4, 4, false)
ACCESS_VOLATILE(8, 8, false)
ACCESS_VOLATILE(16, 16, true)

/* One access of any size. The block costs already include its instructions. */
static void hook_range(void *address, size_t size, enum sg_access kind, const void *site)
{
    sg_processor *p = sg_now;
    if (size == 0 || p->coroutine == NULL || (sg->config.ideal & SG_SKIMMING))
        return;
    p->site = site;
    reference_lines(p, (uint64_t)(uintptr_t)address, size, kind);
}

#define RANGE(name, kind)                                                                                    \
    SG_API void name(void *address, size_t size)                                                             \
    {                                                                                                        \
        hook_range(address, size, kind, SG_CALLER);                                                          \
    }
RANGE(__tsan_read_range, SG_READ)
RANGE(__tsan_write_range, SG_WRITE)

SG_API void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    if (!hook(address, 8, false, SG_WRITE))
        sg_reference(sg_now, (uint64_t)(uintptr_t)address, 8, SG_WRITE, SG_CALLER);
}

SG_API void __tsan_vptr_read(void **address)
{
    if (!hook(address, 8, false, SG_READ))
        sg_reference(sg_now, (uint64_t)(uintptr_t)address, 8, SG_READ, SG_CALLER);
}

SG_API void __tsan_init(void)
{
}

SG_API void __tsan_func_entry(void *caller)
{
    (void)caller;
}

SG_API void __tsan_func_exit(void)
{
}

/* ---- basic blocks ---- */

/* Counts the execution and advances time; the block's other costs are added up at the end. */
SG_API void __sanitizer_cov_trace_pc(void)
{
    sg_processor *p = sg_now;
    uint32_t block = p->block_of[(uintptr_t)SG_CALLER];
    p->account->called = true;
    p->account->executions[block]++;
    p->time += p->block_parts[block];
    if (SG_LIKELY(p->time <= p->time_limit) || SG_LIKELY(sg_branch_quickly(p, p->time, SG_CALLER)))
        return;
    if (sg_branch_is_due(p->time))
        sg_branch_pass(p, SG_CALLER);
    else
        sg_yield(p, SG_CALLER);
}

static __attribute__((noinline)) void yield_late(sg_processor *p, const void *site)
{
    sg_behind behind = sg_behind_of(site);
    sg_behind_take(p, behind);
    sg_yield(p, site);
    sg_behind_give(behind);
}

/* The inlined hook has counted the execution and advanced `p` to `time`; both are in these registers. */
SG_API void __sanitizer_cov_trace_pc_late(uint64_t unused, uint64_t unused_too, uint64_t time,
                                          sg_processor *p)
{
    (void)unused, (void)unused_too;
    if (SG_LIKELY(sg_branch_quickly(p, time, SG_CALLER)))
        return;
    if (sg_branch_is_due(time))
        sg_branch_pass(p, SG_CALLER);
    else
        yield_late(p, SG_CALLER);
}

/* The program's atomic operations: a load or store is a reference; a read-modify-write costs what the machine
 * says and counts as a primitive. */
#include "sg_runtime.h"
#include "sg_skim.h"

typedef unsigned __int128 uint128;

static inline void reference(volatile const void *address, unsigned size, enum sg_access kind,
                             const void *site)
{
    sg_processor *p = sg_now;
    uint64_t at = (uint64_t)(uintptr_t)address;
    *(kind == SG_READ ? &p->account->reads : &p->account->writes) += 1;
    if (!sg_filtered(p, at, kind)) {
        if (p->thread != NULL)
            p->thread->synced = UINT64_MAX; /* others may write while it waits for its turn */
        sg_reference(p, at, size, kind, site);
    }
    sg_synchronise();
}

/* The two rules below model current machines, whose misses overlap (sg->overlaps). In-order textbook machines
 * keep the cycle counts that were compared with the papers. */

/* Lines fetched for writing are in flight until a certain clock; the most recent are known. Nobody else gets
 * such a line before it has arrived. */
enum { ON_THEIR_WAY = 256 };
static struct {
    uint64_t line, until;
} on_its_way[ON_THEIR_WAY] = {{0}};

/* Fetches the line of `at` for writing by `p`, after it has reached whoever asked before. */
static void bring(sg_processor *p, uint64_t at)
{
    uint64_t line = at & ~(uint64_t)(sg->line_bytes - 1);
    __typeof__(on_its_way[0]) *way = &on_its_way[line / sg->line_bytes % ON_THEIR_WAY];
    const void *site = p->site;
    while (sg->ranks <= 1 && way->line == line && way->until > p->clock) { /* ranks have separate memory */
        sg_charge_site(p, SG_CATEGORY_STALL_CONTENTION, way->until - p->clock);
        sg_turn(p);
        p->site = site;
    }
    sg_touch(p, at, SG_RMW, SG_CATEGORY_PRIM_ATOMIC);
    way->line = line;
    way->until = sg_now->clock;
}

static void modify(volatile const void *address, const void *site)
{
    sg_processor *p = sg_now;
    if (p->coroutine == NULL)
        return;
    sg_count(p, SG_COUNTER_ATOMICS, 1);
    p->site = site;
    sg_charge_site(p, SG_CATEGORY_PRIM_ATOMIC, sg->config.atomic_cycles);
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (sg_filtered(p, at, SG_RMW) ||
        (SG_UNLIKELY(sg_observed.filter != NULL) && sg_observed.filter(p, at, 4, SG_RMW, site))) {
        sg_count_references(p, SG_RMW, 1);
        sg_observed.cause(p, SG_CATEGORY_PRIM_ATOMIC, at, SG_RMW);
        sg_observe_counts(at, 2);
    } else {
        if (sg->overlaps)
            bring(p, at);
        else
            sg_touch(p, at, SG_RMW, SG_CATEGORY_PRIM_ATOMIC);
    }
}

/* A compare-and-swap has found an unexpected value: usually the thread then loops until somebody else has
 * written. Others with earlier clocks may have done so by now, so they run first; if the thread went on
 * alone, it would see that late by up to the quantum. */
static __attribute__((noinline)) void let_others(const void *site)
{
    sg_processor *p = sg_now;
    if (!sg_skim_pass(site) && sg->overlaps && p->coroutine != NULL)
        sg_give_way(p, site);
}

enum { SPINNING = 64 }; /* cycles between two loads of an empty spin loop */

/* Has this processor just loaded the same value, with no other access since? */
static inline bool again(volatile const void *address, uint64_t value)
{
    static struct {
        const sg_processor *by;
        volatile const void *address;
        uint64_t value, clock;
    } last = {0};
    const sg_processor *p = sg_now;
    bool same =
        last.address == address && last.by == p && last.value == value && p->clock - last.clock < SPINNING;
    last.by = p;
    last.address = address;
    last.value = value;
    last.clock = p->clock;
    return same;
}

#define ATOMIC(bits, type)                                                                                   \
    SG_API type __tsan_atomic##bits##_load(const volatile type *a, int order)                                \
    {                                                                                                        \
        (void)order;                                                                                         \
        reference(a, bits / 8, SG_READ, SG_CALLER);                                                          \
        type value = *a;                                                                                     \
        if (SG_UNLIKELY(again(a, (uint64_t)value)))                                                          \
            let_others(SG_CALLER);                                                                           \
        return value;                                                                                        \
    }                                                                                                        \
    SG_API void __tsan_atomic##bits##_store(volatile type *a, type v, int order)                             \
    {                                                                                                        \
        (void)order;                                                                                         \
        reference(a, bits / 8, SG_WRITE, SG_CALLER);                                                         \
        *a = v;                                                                                              \
    }                                                                                                        \
    SG_API type __tsan_atomic##bits##_exchange(volatile type *a, type v, int order)                          \
    {                                                                                                        \
        (void)order;                                                                                         \
        modify(a, SG_CALLER);                                                                                \
        type old = *a;                                                                                       \
        *a = v;                                                                                              \
        return old;                                                                                          \
    }                                                                                                        \
    FETCH(bits, type, add, old + v)                                                                          \
    FETCH(bits, type, sub, old - v)                                                                          \
    FETCH(bits, type, and, old &v)                                                                           \
    FETCH(bits, type, or, old | v)                                                                           \
    FETCH(bits, type, xor, old ^ v)                                                                          \
    FETCH(bits, type, nand, ~(old & v))                                                                      \
    COMPARE(bits, type, strong)                                                                              \
    COMPARE(bits, type, weak)                                                                                \
    SG_API type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, type v,          \
                                                           int order, int failure)                           \
    {                                                                                                        \
        (void)order, (void)failure;                                                                          \
        modify(a, SG_CALLER);                                                                                \
        type old = *a;                                                                                       \
        if (old == expected)                                                                                 \
            *a = v;                                                                                          \
        else                                                                                                 \
            let_others(SG_CALLER);                                                                           \
        return old;                                                                                          \
    }

#define FETCH(bits, type, name, result)                                                                      \
    SG_API type __tsan_atomic##bits##_fetch_##name(volatile type *a, type v, int order)                      \
    {                                                                                                        \
        (void)order;                                                                                         \
        modify(a, SG_CALLER);                                                                                \
        type old = *a;                                                                                       \
        *a = (type)(result);                                                                                 \
        return old;                                                                                          \
    }

#define COMPARE(bits, type, name)                                                                            \
    SG_API int __tsan_atomic##bits##_compare_exchange_##name(volatile type *a, type *expected, type v,       \
                                                             int order, int failure)                         \
    {                                                                                                        \
        (void)order, (void)failure;                                                                          \
        modify(a, SG_CALLER);                                                                                \
        type old = *a;                                                                                       \
        if (old == *expected) {                                                                              \
            *a = v;                                                                                          \
            return 1;                                                                                        \
        }                                                                                                    \
        *expected = old;                                                                                     \
        let_others(SG_CALLER);                                                                               \
        return 0;                                                                                            \
    }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, uint128)

/* ---- calls of libatomic: objects of any size, and of 16 bytes where the compiler does not inline them ----
 *
 * The object is in one or two lines; libatomic's lock is not simulated. Nobody else runs between the last
 * reference and the copying. */

static void each_line(volatile const void *address, size_t size, bool write, const void *site)
{
    sg_processor *p = sg_now;
    if (p->coroutine == NULL)
        return;
    sg_count(p, SG_COUNTER_ATOMICS, 1);
    p->site = site;
    sg_charge_site(p, SG_CATEGORY_PRIM_ATOMIC, sg->config.atomic_cycles);
    uint64_t at = (uint64_t)(uintptr_t)address, end = at + size, line = sg->line_bytes;
    for (; at < end; at = (at & ~(line - 1)) + line)
        sg_touch(p, at, write ? SG_RMW : SG_READ, SG_CATEGORY_PRIM_ATOMIC);
}

SG_API void sg_atomic_load(size_t size, const void *a, void *result, int order) __asm__("__atomic_load");
SG_API void sg_atomic_load(size_t size, const void *a, void *result, int order)
{
    (void)order;
    each_line(a, size, false, SG_CALLER);
    memcpy(result, a, size);
}

SG_API void sg_atomic_store(size_t size, void *a, const void *value, int order) __asm__("__atomic_store");
SG_API void sg_atomic_store(size_t size, void *a, const void *value, int order)
{
    (void)order;
    each_line(a, size, true, SG_CALLER);
    memcpy(a, value, size);
}

SG_API void sg_atomic_exchange(size_t size, void *a, const void *value, void *result,
                               int order) __asm__("__atomic_exchange");
SG_API void sg_atomic_exchange(size_t size, void *a, const void *value, void *result, int order)
{
    char new[size];
    (void)order;
    each_line(a, size, true, SG_CALLER);
    memcpy(new, value, size); /* may be where the result goes */
    memcpy(result, a, size);
    memcpy(a, new, size);
}

SG_API int sg_atomic_compare_exchange(size_t size, void *a, void *expected, const void *value, int order,
                                      int failure) __asm__("__atomic_compare_exchange");
SG_API int sg_atomic_compare_exchange(size_t size, void *a, void *expected, const void *value, int order,
                                      int failure)
{
    (void)order, (void)failure;
    each_line(a, size, true, SG_CALLER);
    if (memcmp(a, expected, size) == 0) {
        memcpy(a, value, size);
        return 1;
    }
    memcpy(expected, a, size);
    return 0;
}

#define ATOMIC_16(name, result)                                                                              \
    SG_API uint128 sg_atomic_##name##_16(volatile uint128 *a, uint128 v,                                     \
                                         int order) __asm__("__atomic_" #name "_16");                        \
    SG_API uint128 sg_atomic_##name##_16(volatile uint128 *a, uint128 v, int order)                          \
    {                                                                                                        \
        (void)order;                                                                                         \
        modify(a, SG_CALLER);                                                                                \
        uint128 old = *a;                                                                                    \
        *a = (result);                                                                                       \
        return old;                                                                                          \
    }

ATOMIC_16(exchange, v)
ATOMIC_16(fetch_add, old + v)
ATOMIC_16(fetch_sub, old - v)
ATOMIC_16(fetch_and, old &v)
ATOMIC_16(fetch_or, old | v)
ATOMIC_16(fetch_xor, old ^ v)

SG_API uint128 sg_atomic_load_16(const volatile uint128 *a, int order) __asm__("__atomic_load_16");
SG_API uint128 sg_atomic_load_16(const volatile uint128 *a, int order)
{
    (void)order;
    reference(a, 16, SG_READ, SG_CALLER);
    return *a;
}

SG_API void sg_atomic_store_16(volatile uint128 *a, uint128 v, int order) __asm__("__atomic_store_16");
SG_API void sg_atomic_store_16(volatile uint128 *a, uint128 v, int order)
{
    (void)order;
    reference(a, 16, SG_WRITE, SG_CALLER);
    *a = v;
}

SG_API int sg_atomic_compare_exchange_16(volatile uint128 *a, uint128 *expected, uint128 v, int order,
                                         int failure) __asm__("__atomic_compare_exchange_16");
SG_API int sg_atomic_compare_exchange_16(volatile uint128 *a, uint128 *expected, uint128 v, int order,
                                         int failure)
{
    (void)order, (void)failure;
    modify(a, SG_CALLER);
    uint128 old = *a;
    if (old == *expected) {
        *a = v;
        return 1;
    }
    *expected = old;
    let_others(SG_CALLER);
    return 0;
}

SG_API void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    sg_synchronise();
    sg_skim_pass(SG_CALLER);
}

SG_API void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* Each processor's prefetcher. It sees misses that leave the private caches, and the first use of each line
 * that it prefetched. next_line fetches the lines after one that missed. stride tracks a few streams, one per
 * page: two equal distances in a row confirm a stream, and then the lines ahead are fetched, two for each one
 * used, up to the maximum distance. Neither crosses a page. Other processors see a prefetched line in the
 * caches at once, but an early use by its own processor waits for the rest of its latency. */
#include <stdlib.h>

#include "sg_mem_ahead.h"

enum { AWAITED_BITS = 8, AWAITED = 1 << AWAITED_BITS, STREAMS = 8 };

/* A line that was prefetched and not used since. Each line has one slot: if two collide, the first counts as
 * arrived. */
typedef struct awaited {
    uint64_t code; /* see code_of; 0: free */
    uint64_t arrival;
} awaited;

/* Which slots of a processor are not free, side by side for all processors: most lines are in none. */
typedef struct taken {
    uint64_t bits[AWAITED / 64];
} taken;

/* The streams of a processor, in two lines of the host. */
typedef struct watcher {
    uint64_t last[STREAMS]; /* the last line + 1; 0: free */
    int32_t stride[STREAMS];
    int8_t ahead[STREAMS]; /* strides from `last` to the farthest prefetched line */
    uint8_t recent;        /* the stream that was seen last */
    uint8_t next;          /* the stream to be replaced next */
    uint8_t writes;        /* bit set: the last reference seen was a store */
    uint64_t free;         /* when the next line can start, scaled by the maximum number of lines in flight */
} __attribute__((aligned(64))) watcher;

_Static_assert(sizeof(watcher) == 128, "two lines of the host");

struct sg_prefetch {
    enum sg_prefetch_kind kind;
    uint32_t level, degree, distance, under_way;
    int next_page;              /* a stream may continue into the next page */
    uint64_t write_millicycles; /* a written line delays those in flight */
    void *memory;
    watcher *watcher; /* by processor, as the others */
    taken *taken;
    awaited (*awaited)[AWAITED];
};

struct sg_prefetch *sg_prefetch_create(const sg_config *config)
{
    struct sg_prefetch *prefetch = calloc(1, sizeof *prefetch);
    size_t each = sizeof(watcher) + sizeof(taken) + sizeof *prefetch->awaited;
    void *memory = prefetch ? calloc(1, config->processors * each + 64) : NULL;
    if (!memory) {
        free(prefetch);
        return NULL;
    }
    prefetch->memory = memory;
    prefetch->watcher = (watcher *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    prefetch->taken = (taken *)(prefetch->watcher + config->processors);
    prefetch->awaited = (awaited(*)[AWAITED])(prefetch->taken + config->processors);
    prefetch->kind = config->prefetch;
    prefetch->level = config->prefetch_level;
    prefetch->degree = config->prefetch_degree;
    prefetch->distance = config->prefetch_distance;
    prefetch->under_way = config->prefetch_under_way;
    prefetch->next_page = config->prefetch_next_page != 0;
    prefetch->write_millicycles = config->core_write_millicycles;
    return prefetch;
}

void sg_prefetch_destroy(struct sg_prefetch *prefetch)
{
    if (prefetch)
        free(prefetch->memory);
    free(prefetch);
}

/* ---- lines under way ---- */

static inline uint32_t slot_of(uint64_t line)
{
    return (uint32_t)(line * 0x9e3779b97f4a7c15ull >> (64 - AWAITED_BITS));
}

static inline uint64_t code_of(uint64_t line, int remote)
{
    return (line + 1) << 1 | (remote != 0);
}

int sg_prefetch_awaits(const sg_mem *mem, uint32_t p, uint64_t address)
{
    const struct sg_prefetch *prefetch = mem->prefetch;
    uint64_t line = address >> mem->line_shift;
    uint32_t slot = slot_of(line);
    return (prefetch->taken[p].bits[slot / 64] >> slot % 64 & 1) != 0 &&
           (prefetch->awaited[p][slot].code | 1) == code_of(line, 1);
}

uint64_t sg_prefetch_use(sg_mem *mem, uint32_t p, uint64_t address, uint64_t now, int *remote)
{
    struct sg_prefetch *prefetch = mem->prefetch;
    uint32_t slot = slot_of(address >> mem->line_shift);
    const awaited *found = &prefetch->awaited[p][slot];
    prefetch->taken[p].bits[slot / 64] &= ~(1ull << slot % 64);
    *remote = found->code & 1;
    return found->arrival > now ? found->arrival - now : 0;
}

static void await(struct sg_prefetch *prefetch, uint32_t p, uint64_t line, int remote, uint64_t arrival)
{
    uint32_t slot = slot_of(line);
    prefetch->taken[p].bits[slot / 64] |= 1ull << slot % 64;
    prefetch->awaited[p][slot] = (awaited){code_of(line, remote), arrival};
}

/* Arrival of a line that takes `cycles` and is requested at `now`: the number of lines in flight is limited.
 * Time it waits for others does not delay those behind it. */
static uint64_t arrival(const struct sg_prefetch *prefetch, watcher *w, uint64_t now, uint64_t cycles,
                        uint64_t waited)
{
    uint64_t lines = prefetch->under_way;
    if (lines == 0)
        return now + cycles;
    uint64_t begin = w->free > now * lines ? w->free : now * lines;
    w->free = begin + cycles - waited;
    return (begin + lines - 1) / lines + cycles;
}

/* May a stream at `address` fetch the line of `wanted`? */
static inline int may_reach(const sg_mem *mem, uint64_t address, uint64_t wanted)
{
    return mem->prefetch->next_page || wanted >> mem->page_shift == address >> mem->page_shift;
}

/* Fetches one line, if it is in the same page and not here yet. Returns 0 if it may be fetched later: the
 * system has marked its page, and the stream goes on when the program has used it. */
static int bring(sg_mem *mem, uint32_t p, uint64_t address, int64_t lines, enum sg_claim claim, uint64_t now,
                 sg_outcome *out)
{
    struct sg_prefetch *prefetch = mem->prefetch;
    uint64_t wanted = address + ((uint64_t)lines << mem->line_shift);
    if (!may_reach(mem, address, wanted) || sg_mem_has(mem, p, wanted))
        return 1;
    int remote = 0;
    uint64_t waited = 0,
             cycles = sg_mem_bring(mem, p, wanted, prefetch->level, claim, now, out, &remote, &waited);
    if (cycles >= SG_BRING_LATER)
        return cycles != SG_BRING_LATER;
    await(prefetch, p, wanted >> mem->line_shift, remote,
          arrival(prefetch, &prefetch->watcher[p], now, cycles, waited));
    out->count[SG_COUNTER_PREFETCHES]++;
    return 1;
}

/* ---- streams ---- */

/* Is stream `i` in the page of `line`? */
static inline int is_near(const watcher *w, uint32_t i, uint64_t line, uint32_t page_lines_shift)
{
    return ((w->last[i] - 1) ^ line) >> page_lines_shift == 0;
}

/* Does `line` continue stream `i` beyond its page? */
static inline int goes_on(const struct sg_prefetch *prefetch, const watcher *w, uint32_t i, uint64_t line)
{
    return prefetch->next_page && w->stride[i] != 0 && (int64_t)(line - (w->last[i] - 1)) == w->stride[i];
}

/* The stream of this page, of which there is at most one, or the first that goes on here; STREAMS: none. */
static inline uint32_t find_stream(const struct sg_prefetch *prefetch, const watcher *w, uint64_t line,
                                   uint32_t page_lines_shift)
{
    uint32_t i = 0;
    if (is_near(w, w->recent, line, page_lines_shift))
        return w->recent;
    while (i < STREAMS && !is_near(w, i, line, page_lines_shift))
        i++;
    if (i == STREAMS)
        for (i = 0; i < STREAMS && !goes_on(prefetch, w, i, line);)
            i++;
    return i;
}

int sg_prefetch_fills(const sg_mem *mem, uint32_t p, uint64_t address)
{
    const watcher *w = &mem->prefetch->watcher[p];
    uint64_t line = address >> mem->line_shift;
    uint32_t shift = mem->page_shift - mem->line_shift, i = 0;
    while (i < STREAMS && !is_near(w, i, line, shift) && !goes_on(mem->prefetch, w, i, line))
        i++;
    return i < STREAMS && (w->writes >> i & 1) && (w->stride[i] == 1 || w->stride[i] == -1) &&
           (int64_t)(line - (w->last[i] - 1)) == w->stride[i];
}

void sg_prefetch_wrote(sg_mem *mem, uint32_t p, uint64_t now)
{
    const struct sg_prefetch *prefetch = mem->prefetch;
    uint64_t lines = prefetch->under_way, *free = &mem->prefetch->watcher[p].free;
    if (lines == 0 || prefetch->write_millicycles == 0)
        return;
    *free = (*free > now * lines ? *free : now * lines) + prefetch->write_millicycles * lines / 1000;
}

/* Prefetches what the host will read when the stream at `address` fetches the line of `wanted`. */
static inline void expect_line(const sg_mem *mem, uint32_t p, uint64_t address, uint64_t wanted)
{
    if (!may_reach(mem, address, wanted))
        return;
    const sg_cache *c = &mem->level[mem->private_levels - 1];
    uint64_t wide = sg_mem_global(mem, p, wanted);
    __builtin_prefetch(sg_cache_set(c, p, wanted >> c->line_shift).first, 1);
    __builtin_prefetch(&mem->prefetch->awaited[p][slot_of(wanted >> mem->line_shift)], 1);
    sg_dir_expect(&mem->dir, wide);
    if (mem->has_shared)
        sg_ahead_group(mem, sg_group_of(mem, p), wide >> mem->line_shift);
}

void sg_prefetch_next(sg_mem *mem, uint32_t p, uint64_t address, int writes, uint64_t now, sg_outcome *out)
{
    const struct sg_prefetch *prefetch = mem->prefetch;
    const int64_t farthest = (int64_t)prefetch->distance + (int64_t)prefetch->degree - 1;
    if (prefetch->kind != SG_PREFETCH_STRIDE) {
        for (int64_t lines = prefetch->distance; lines <= farthest; lines++)
            bring(mem, p, address, lines, SG_CLAIM_READS, now, out);
        return;
    }
    uint64_t line = address >> mem->line_shift;
    watcher *w = &prefetch->watcher[p];
    uint32_t i = find_stream(prefetch, w, line, mem->page_shift - mem->line_shift);
    if (i == STREAMS) {
        w->recent = (uint8_t)(i = w->next);
        w->next = (uint8_t)((i + 1) % STREAMS);
        w->last[i] = line + 1;
        w->stride[i] = w->ahead[i] = 0;
        w->writes &= (uint8_t)~(1u << i);
        return;
    }
    w->recent = (uint8_t)i;
    int64_t step = (int64_t)(line - (w->last[i] - 1)), ahead = 0;
    if (step == 0)
        return;
    int known = step == w->stride[i], wrote = w->writes >> i & 1;
    if (known && w->ahead[i] > 0)
        ahead = w->ahead[i] - 1;
    w->stride[i] = (int32_t)step;
    w->last[i] = line + 1;
    w->writes = (uint8_t)((w->writes & ~(1u << i)) | (unsigned)(writes != 0) << i);
    enum sg_claim claim = writes && wrote && (step == 1 || step == -1) ? mem->claim : SG_CLAIM_READS;
    if (claim != SG_CLAIM_ONLY) /* otherwise stores claim the lines when they get there */
        for (uint32_t k = 0; known && k < 2 * prefetch->degree && ahead < farthest; k++, ahead++)
            if (!bring(mem, p, address, step * (ahead + 1), claim, now, out))
                break;
    w->ahead[i] = (int8_t)ahead;
    if (known && claim != SG_CLAIM_ONLY)
        expect_line(mem, p, address, address + ((uint64_t)(step * (ahead + 1)) << mem->line_shift));
}

/* Each processor's prefetcher. It sees misses that leave the private caches, and the first use of each line
 * that it prefetched. next_line fetches the lines after one that missed. stride tracks a few streams, one per
 * page: two equal distances in a row confirm a stream, and then the lines ahead are fetched, two for each one
 * used, up to the maximum distance. Neither crosses a page. Other processors see a prefetched line in the
 * caches at once, but an early use by its own processor waits for the rest of its latency. */
#include <stdlib.h>

#include "sg_mem_state.h"

enum { AWAITED_BITS = 8, AWAITED = 1 << AWAITED_BITS, STREAMS = 8 };

typedef struct awaited {
    uint64_t line; /* + 1; 0: free */
    uint64_t arrival;
    int remote;
} awaited;

typedef struct stream {
    uint64_t last;
    int64_t stride;
    int64_t ahead;    /* strides from `last` to the farthest prefetched line */
    int used, writes; /* the last reference seen was a store */
} stream;

typedef struct watcher {
    awaited awaited[AWAITED]; /* each line has one slot: if two collide, the first counts as arrived */
    stream stream[STREAMS];
    uint32_t next_stream;
    uint64_t free; /* when the next line can start, scaled by the maximum number of lines in flight */
} watcher;

struct sg_prefetch {
    enum sg_prefetch_kind kind;
    uint32_t level, degree, distance, under_way;
    int next_page;              /* a stream may continue into the next page */
    uint64_t write_millicycles; /* a written line delays those in flight */
    watcher watcher[];
};

struct sg_prefetch *sg_prefetch_create(const sg_config *config)
{
    struct sg_prefetch *prefetch = calloc(1, sizeof *prefetch + config->processors * sizeof(watcher));
    if (!prefetch)
        return NULL;
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
    free(prefetch);
}

static inline awaited *place_of(const sg_mem *mem, uint32_t p, uint64_t line)
{
    return &mem->prefetch->watcher[p].awaited[line * 0x9e3779b97f4a7c15ull >> (64 - AWAITED_BITS)];
}

static awaited *find(const sg_mem *mem, uint32_t p, uint64_t address)
{
    uint64_t line = address >> mem->line_shift;
    awaited *place = place_of(mem, p, line);
    return place->line == line + 1 ? place : NULL;
}

int sg_prefetch_awaits(const sg_mem *mem, uint32_t p, uint64_t address)
{
    return find(mem, p, address) != NULL;
}

uint64_t sg_prefetch_use(sg_mem *mem, uint32_t p, uint64_t address, uint64_t now, int *remote)
{
    awaited *found = find(mem, p, address);
    found->line = 0;
    *remote = found->remote;
    return found->arrival > now ? found->arrival - now : 0;
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

/* Fetches one line, if it is in the same page and not here yet. Returns 0 if it may be fetched later: the
 * system has marked its page, and the stream goes on when the program has used it. */
static int bring(sg_mem *mem, uint32_t p, uint64_t address, int64_t lines, enum sg_claim claim, uint64_t now,
                 sg_outcome *out)
{
    struct sg_prefetch *prefetch = mem->prefetch;
    uint64_t wanted = address + ((uint64_t)lines << mem->line_shift);
    if ((!prefetch->next_page && wanted >> mem->page_shift != address >> mem->page_shift) ||
        sg_mem_has(mem, p, wanted))
        return 1;
    int remote = 0;
    uint64_t waited = 0,
             cycles = sg_mem_bring(mem, p, wanted, prefetch->level, claim, now, out, &remote, &waited);
    if (cycles >= SG_BRING_LATER)
        return cycles != SG_BRING_LATER;
    watcher *w = &prefetch->watcher[p];
    *place_of(mem, p, wanted >> mem->line_shift) =
        (awaited){(wanted >> mem->line_shift) + 1, arrival(prefetch, w, now, cycles, waited), remote};
    out->count[SG_COUNTER_PREFETCHES]++;
    return 1;
}

/* Does `line` continue the stream beyond its page? */
static int goes_on(const struct sg_prefetch *prefetch, const stream *s, uint64_t line)
{
    return prefetch->next_page && s->used && s->stride != 0 && (int64_t)(line - s->last) == s->stride;
}

/* The stream of this page, created if need be. */
static stream *stream_of(const struct sg_prefetch *prefetch, watcher *w, uint64_t line,
                         uint32_t page_lines_shift)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        if (w->stream[i].used && w->stream[i].last >> page_lines_shift == line >> page_lines_shift)
            return &w->stream[i];
    for (uint32_t i = 0; i < STREAMS; i++)
        if (goes_on(prefetch, &w->stream[i], line))
            return &w->stream[i];
    stream *made = &w->stream[w->next_stream++ % STREAMS];
    *made = (stream){.last = line, .used = 1};
    return made;
}

int sg_prefetch_fills(const sg_mem *mem, uint32_t p, uint64_t address)
{
    uint64_t line = address >> mem->line_shift;
    uint32_t shift = mem->page_shift - mem->line_shift;
    const stream *s = mem->prefetch->watcher[p].stream;
    for (uint32_t i = 0; i < STREAMS; i++, s++)
        if (s->used && (s->last >> shift == line >> shift || goes_on(mem->prefetch, s, line)))
            return s->writes && (s->stride == 1 || s->stride == -1) && (int64_t)(line - s->last) == s->stride;
    return 0;
}

void sg_prefetch_wrote(sg_mem *mem, uint32_t p, uint64_t now)
{
    const struct sg_prefetch *prefetch = mem->prefetch;
    uint64_t lines = prefetch->under_way, *free = &mem->prefetch->watcher[p].free;
    if (lines == 0 || prefetch->write_millicycles == 0)
        return;
    *free = (*free > now * lines ? *free : now * lines) + prefetch->write_millicycles * lines / 1000;
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
    stream *s = stream_of(prefetch, &mem->prefetch->watcher[p], line, mem->page_shift - mem->line_shift);
    int64_t step = (int64_t)(line - s->last);
    if (step == 0)
        return;
    int known = step == s->stride;
    s->ahead = known && s->ahead > 0 ? s->ahead - 1 : 0;
    s->stride = step;
    s->last = line;
    enum sg_claim claim = writes && s->writes && (step == 1 || step == -1) ? mem->claim : SG_CLAIM_READS;
    s->writes = writes;
    if (claim == SG_CLAIM_ONLY)
        return; /* stores claim the lines when they get there */
    for (uint32_t i = 0; known && i < 2 * prefetch->degree && s->ahead < farthest; i++, s->ahead++)
        if (!bring(mem, p, address, step * (s->ahead + 1), claim, now, out))
            break;
}

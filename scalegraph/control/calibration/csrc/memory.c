/* Caches and memory: latency by pointer chasing, overlap by visiting the same places without chasing,
 * bandwidth, first touch of a page, and address translation. Uses large pages if the host has any, so that
 * translation affects only its own measurement. */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct place {
    struct place *next;
    uint64_t value;
    char rest[LINE - sizeof(struct place *) - sizeof(uint64_t)];
} place;

typedef struct walk {
    place *places;   /* the working set */
    uint32_t *order; /* indices of the places in the order of the walk */
    size_t count;    /* places on the walk */
    size_t at;
    place *next;
} walk;

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Links the first `count` places of w->order into one random cycle. */
static void thread_order(walk *w, size_t count)
{
    uint64_t seed = 88172645463325252u;
    w->count = count;
    w->at = 0;
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = next_random(&seed) % (i + 1);
        uint32_t kept = w->order[i];
        w->order[i] = w->order[j];
        w->order[j] = kept;
    }
    for (size_t i = 0; i < count; i++)
        w->places[w->order[i]].next = &w->places[w->order[(i + 1) % count]];
    w->next = &w->places[w->order[0]];
}

/* The same for `count` places, spread over the first `total`. */
static void thread_places(walk *w, size_t total, size_t count)
{
    for (size_t i = 0; i < count; i++)
        w->order[i] = (uint32_t)(i * (total / count));
    thread_order(w, count);
}

/* The same places in sequence, for the prefetcher. */
static void thread_in_order(walk *w, size_t count)
{
    for (size_t i = 0; i < count; i++)
        w->places[i].next = &w->places[(i + 1) % count];
    w->count = count;
    w->next = &w->places[0];
}

static NOINLINE void chase(uint64_t times, void *state)
{
    walk *w = state;
    place *at = w->next;
    for (; times > 0; times--)
        at = at->next;
    __asm__ volatile("" : "+r"(at));
    w->next = at;
}

/* The same places in the same order, but with addresses known in advance. */
static NOINLINE void visit(uint64_t times, void *state)
{
    walk *w = state;
    uint64_t sum = 0;
    size_t at = w->at;
    for (; times > 0; times--) {
        sum += w->places[w->order[at]].value;
        at = at + 1 == w->count ? 0 : at + 1;
    }
    __asm__ volatile("" : "+r"(sum));
    w->at = at;
}

static NOINLINE void stream(uint64_t times, const walk *w)
{
    typedef uint64_t four __attribute__((vector_size(32), aligned(32)));
    for (; times > 0; times--) {
        four sum = {0}, other = {0};
        for (const place *at = w->places, *end = at + w->count; at < end; at++) {
            sum += ((const four *)at)[0];
            other += ((const four *)at)[1];
        }
        sum += other;
        __asm__ volatile("" ::"r"(sum[0] + sum[1] + sum[2] + sum[3]));
    }
}

/* Samples the time of a step of `body` over the first half of the working set `all`, each after reading all
 * of it in sequence, so that the previous level is filled from the second half. Victim caches decide by reuse
 * which lines to keep: they keep lines that are read in sequence, but fewer and fewer of those that only a
 * random walk reuses, which would end up in memory. */
static void measure_steps(const char *name, bench_body *body, walk *half, const walk *all)
{
    uint64_t times = 128;
    double taken = 0;
    while (taken < bench.sample_ns / 2 && times < 1u << 30) {
        times *= 2;
        stream(2, all);
        taken = bench_time(body, half, times);
    }
    double before = bench_clock();
    bench_begin(name, "ns");
    for (uint32_t i = 0; i < bench.samples; i++) {
        stream(2, all);
        bench_sample(bench_time(body, half, times) / (double)times);
    }
    if (all->count * sizeof(place) <= bench.near)
        bench_end_at(before);
    else
        bench_end();
}

static void measure_sizes(walk *w)
{
    char name[64];
    for (uint32_t i = 0; i < bench.sizes_count; i++) {
        size_t lines = bench.sizes[i] / sizeof(place);
        const walk all = {.places = w->places, .count = lines};
        thread_places(w, lines / 2, lines / 2);
        snprintf(name, sizeof name, "chase_%zu", bench.sizes[i]);
        measure_steps(name, chase, w, &all);
        snprintf(name, sizeof name, "visit_%zu", bench.sizes[i]);
        measure_steps(name, visit, w, &all);
        thread_in_order(w, lines);
        snprintf(name, sizeof name, "ordered_%zu", bench.sizes[i]);
        bench_measure(name, chase, w, 1);
    }
}

static void flush(const walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        flush_line(&w->places[w->order[i]]);
    flush_done();
}

/* Latency, and time of a miss among others, for lines in no cache: each is flushed first. */
static void measure_memory(walk *w, size_t total, const char *chased, const char *visited)
{
    size_t count = total < 4096 ? total : 4096;
    thread_places(w, total, count);
    bench_begin(chased, "ns");
    for (uint32_t i = 0; i < bench.samples; i++) {
        flush(w);
        uint64_t start = bench_now();
        chase(count, w);
        bench_sample((double)(bench_now() - start) / (double)count);
    }
    bench_end();
    if (visited == NULL)
        return;
    bench_begin(visited, "ns");
    for (uint32_t i = 0; i < bench.samples; i++) {
        flush(w);
        uint64_t start = bench_now();
        visit(count, w);
        bench_sample((double)(bench_now() - start) / (double)count);
    }
    bench_end();
}

/* ---- bandwidth ---- */

typedef struct reader {
    walk part;
    int processor;
    pthread_barrier_t *together;
    uint64_t start, end;
} reader;

static void *read_part(void *argument)
{
    reader *r = argument;
    bench_pin(r->processor);
    for (size_t i = 0; i < r->part.count; i++)
        flush_line(&r->part.places[i]);
    flush_done();
    pthread_barrier_wait(r->together);
    r->start = bench_now();
    stream(1, &r->part);
    r->end = bench_now();
    return NULL;
}

/* Bytes per nanosecond that `threads` threads together read from memory, each its own part. */
static double read_rate(const walk *w, size_t lines, int threads)
{
    pthread_barrier_t together;
    pthread_t thread;
    reader part[2];
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (int i = 0; i < 2; i++)
        part[i] = (reader){.part = {.places = w->places + (size_t)i * (lines / 2), .count = lines / 2},
                           .processor = i == 0 ? bench.first : bench.second,
                           .together = &together};
    if (threads == 2 && pthread_create(&thread, NULL, read_part, &part[1]) != 0)
        exit(1);
    read_part(&part[0]);
    uint64_t start = part[0].start, end = part[0].end;
    if (threads == 2) {
        pthread_join(thread, NULL);
        start = part[1].start < start ? part[1].start : start;
        end = part[1].end > end ? part[1].end : end;
    }
    pthread_barrier_destroy(&together);
    return (double)threads * (double)(lines / 2) * sizeof(place) / (double)(end - start);
}

static void measure_bandwidth(const walk *w, size_t lines)
{
    uint32_t samples = bench.samples < 9 ? bench.samples : 9; /* each takes long */
    for (int threads = 1; threads <= (bench.second >= 0 ? 2 : 1); threads++) {
        bench_begin(threads == 1 ? "read_by_one" : "read_by_two", "GB/s");
        for (uint32_t i = 0; i < samples; i++)
            bench_sample(read_rate(w, lines, threads));
        bench_end();
    }
}

/* ---- pages ---- */

static void measure_pages(void)
{
    size_t page = 4096, pages = 512;
    bench_begin("page_touch", "ns");
    for (uint32_t i = 0; i < bench.samples; i++) {
        volatile char *memory = bench_map(pages * page, 0);
        uint64_t start = bench_now();
        for (size_t at = 0; at < pages; at++)
            memory[at * page] = 1;
        bench_sample((double)(bench_now() - start) / (double)pages);
        munmap((void *)memory, pages * page);
    }
    bench_end();
}

/* One line of each of `pages` pages, in random order, once with small pages and once with large ones. */
static void measure_translation(void)
{
    enum { PAGE = 4096, LEAST = 256, MOST = 16384, SETS = 61 };
    char name[64];
    for (size_t pages = LEAST; pages <= MOST && pages * PAGE <= bench.large; pages *= 2) {
        uint32_t *order = bench_map(pages * sizeof *order, 1);
        for (int large = 0; large <= 1; large++) {
            walk w = {.places = bench_map(pages * PAGE, large), .order = order};
            if (!large)
                (void)madvise(w.places, pages * PAGE, MADV_NOHUGEPAGE);
            for (size_t i = 0; i < pages; i++) /* not all in one set of a cache */
                order[i] = (uint32_t)(i * (PAGE / LINE) + i % SETS);
            thread_order(&w, pages);
            chase(2 * pages, &w); /* loads them into the caches */
            snprintf(name, sizeof name, "%s_pages_%zu", large ? "large" : "small", pages);
            bench_measure(name, chase, &w, 1);
            munmap(w.places, pages * PAGE);
        }
        munmap(order, pages * sizeof *order);
    }
}

/* Latency of the memory local to `processor`, unless that is -1; uses the order of `w`. */
static void measure_elsewhere(const walk *w, int processor, const char *name)
{
    size_t bytes = 16u << 20, lines = bytes / sizeof(place);
    walk other = *w;
    if (processor < 0)
        return;
    bench_pin(processor);
    other.places = bench_map(bytes, 1);
    thread_places(&other, lines, lines);
    bench_pin(bench.first);
    measure_memory(&other, lines, name, NULL);
    munmap(other.places, bytes);
}

void bench_memory(void)
{
    size_t lines = bench.large / sizeof(place);
    walk w = {.places = bench_map(bench.large, 1), .order = bench_map(lines * sizeof(uint32_t), 1)};
    thread_places(&w, lines, lines); /* and gives every page a place in memory */
    measure_sizes(&w);
    measure_memory(&w, lines, "memory_chase", "memory_visit");
    measure_bandwidth(&w, lines);
    measure_pages();
    measure_translation();
    measure_elsewhere(&w, bench.far, "far_chase");
    measure_elsewhere(&w, bench.beside, "node_chase");
}

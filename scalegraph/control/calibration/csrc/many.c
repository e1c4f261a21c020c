/* What depends on the number of active cores: clock, bandwidth, OpenMP primitives, first touches.
 *
 * The team has one thread on each processor named on the command line; that number ends the names of the
 * measurements. */
#include "bench.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { STEPS = 200, PAGE = 4096, PAGES = 256 };

static omp_lock_t lock;
static double *of_thread;

static void begin(const char *what, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "%s_by_%u", what, bench.team_count);
    bench_begin(name, unit);
}

/* Cycle time of each core while all are active: one sample per thread. */
static void measure_clock(void)
{
#pragma omp parallel
    {
        double least = 1e9;
        for (uint64_t end = bench_now() + (uint64_t)(STEPS * bench.sample_ns); bench_now() < end;) {
            double now = bench_clock();
            least = now < least ? now : least;
        }
        of_thread[omp_get_thread_num()] = least;
    }
    begin("clock", "ns");
    for (uint32_t i = 0; i < bench.team_count; i++)
        bench_sample(of_thread[i]);
    bench_end();
}

static double read_part(const double *own, const double *other, size_t count)
{
    double sum[8] = {0};
    (void)other;
    for (size_t i = 0; i + 8 <= count; i += 8)
        for (int j = 0; j < 8; j++)
            sum[j] += own[i + (size_t)j];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static double copy_part(double *own, const double *other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        own[i] = other[i] + 1; /* a plain copy would become a call of memcpy, which may bypass the caches */
    __asm__ volatile("" ::"r"(own) : "memory");
    return 0;
}

/* Bytes per nanosecond of all threads, each in memory that it touched first; written lines count once. */
static void measure_bandwidth(void)
{
    size_t count = bench.large / 2 / sizeof(double) / bench.team_count;
    double *memory = bench_map(2 * count * bench.team_count * sizeof(double), 1);
    uint32_t samples = bench.samples < 9 ? bench.samples : 9; /* each takes long */
    double sum = 0;
    for (int copies = 0; copies <= 1; copies++) {
        begin(copies ? "copy" : "read", "GB/s");
        uint64_t start = 0;
#pragma omp parallel reduction(+ : sum)
        {
            double *own = memory + 2 * count * (size_t)omp_get_thread_num(), *other = own + count;
            for (size_t i = 0; i < 2 * count && !copies; i += PAGE / sizeof(double))
                own[i] = 1;
            for (uint32_t i = 0; i <= samples; i++) {
#pragma omp barrier
#pragma omp master
                start = bench_now();
#pragma omp barrier
                sum += copies ? copy_part(own, other, count) : read_part(own, other, count);
                sum += copies ? 0 : read_part(other, own, count);
#pragma omp barrier
#pragma omp master
                if (i > 0) /* the first one leaves the caches as the others find them */
                    bench_sample((double)(2 * count * bench.team_count * sizeof(double)) /
                                 (double)(bench_now() - start));
            }
        }
        bench_end();
    }
    if (sum == 1.5)
        fprintf(stderr, " ");
    munmap(memory, 2 * count * bench.team_count * sizeof(double));
}

/* ns per first touch, with all threads doing it at the same time. */
static void measure_pages(void)
{
    begin("page_touch", "ns");
    for (uint32_t i = 0; i < bench.samples; i++) {
        size_t bytes = (size_t)PAGES * PAGE * bench.team_count;
        volatile char *memory = bench_map(bytes, 0);
        (void)madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
        uint64_t start = 0, end = 0;
#pragma omp parallel
        {
            volatile char *own = memory + (size_t)PAGES * PAGE * (size_t)omp_get_thread_num();
#pragma omp barrier
#pragma omp master
            start = bench_now();
#pragma omp barrier
            for (size_t at = 0; at < PAGES; at++)
                own[at * PAGE] = 1;
#pragma omp barrier
#pragma omp master
            end = bench_now();
        }
        bench_sample((double)(end - start) / PAGES);
        munmap((void *)memory, bytes);
    }
    bench_end();
}

static void barriers(uint64_t times, void *state)
{
    (void)state;
#pragma omp parallel
    for (uint64_t i = 0; i < times; i++) {
#pragma omp barrier
    }
}

static void regions(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--) {
#pragma omp parallel
        __asm__ volatile("");
    }
}

/* All threads take one lock, `times` times in total. */
static void locks(uint64_t times, void *state)
{
    (void)state;
#pragma omp parallel
    for (uint64_t i = (uint64_t)omp_get_thread_num(); i < times; i += bench.team_count) {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
}

static void chunks(uint64_t times, void *state)
{
    (void)state;
#pragma omp parallel for schedule(dynamic, 1)
    for (uint64_t i = 0; i < times; i++)
        __asm__ volatile("");
}

static void measure_primitive(const char *what, bench_body *body)
{
    char name[64];
    snprintf(name, sizeof name, "%s_by_%u", what, bench.team_count);
    bench_measure(name, body, NULL, 1);
}

void bench_many(void)
{
    omp_set_dynamic(0);
    omp_set_num_threads((int)bench.team_count);
    omp_init_lock(&lock);
    of_thread = calloc(bench.team_count, sizeof *of_thread);
    if (of_thread == NULL)
        exit(1);
#pragma omp parallel
    bench_pin(bench.team[omp_get_thread_num()]);
    measure_clock();
    measure_bandwidth();
    measure_pages();
    measure_primitive("barrier", barriers);
    measure_primitive("region", regions);
    measure_primitive("lock", locks);
    measure_primitive("chunk", chunks);
    free(of_thread);
    omp_destroy_lock(&lock);
}

/* Measures the host: operations, caches, memory, and communication between two threads.
 *
 *     calibrate samples=N us=MICROSECONDS first=CPU second=CPU far=CPU large=BYTES near=BYTES size=BYTES ...
 *     calibrate pace=1 first=CPU
 *     calibrate samples=N us=MICROSECONDS large=BYTES team=CPU team=CPU ...
 *     calibrate samples=N us=MICROSECONDS pair=1 first=CPU second=CPU
 *
 * Every argument is optional. Built and called by scalegraph.control.calibration. */
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

bench_options bench = {
    .samples = 21, .sample_ns = 200e3, .second = -1, .far = -1, .beside = -1, .large = 64u << 20};

#define CROWDED      1.1  /* cycles of the fastest addition; if longer, another program is running */
#define WAIT_SAMPLES 5000 /* all measurements together wait at most as long as this many of them take */

uint64_t bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double bench_time(bench_body *body, void *state, uint64_t times)
{
    uint64_t start = bench_now();
    body(times, state);
    return (double)(bench_now() - start);
}

void bench_begin(const char *name, const char *unit)
{
    printf("%s %s", name, unit);
}

void bench_sample(double value)
{
    printf(" %.6g", value);
}

void bench_end(void)
{
    printf("\n");
    fflush(stdout);
}

void bench_end_at(double before)
{
    double behind = bench_clock();
    printf(" @%.6g", before < behind ? before : behind); /* interference makes one of them longer */
    bench_end();
}

/* How often to repeat `body` in one sample. */
static uint64_t times_of_sample(bench_body *body, void *state)
{
    uint64_t times = 1;
    double taken = bench_time(body, state, times);
    for (int tries = 0; tries < 9 && taken > bench.sample_ns;
         tries++) { /* somebody else may have used the core */
        double again = bench_time(body, state, times);
        taken = again < taken ? again : taken;
    }
    while (taken < bench.sample_ns / 4 && times < 1u << 30) {
        times *= 2;
        taken = bench_time(body, state, times);
    }
    return (uint64_t)((double)times * bench.sample_ns / (taken > 1 ? taken : 1)) + 1;
}

static void print_samples(const char *name, const double *kept)
{
    bench_begin(name, "ns");
    for (uint32_t i = 0; i < bench.samples; i++)
        bench_sample(kept[i]);
}

static double *take_samples(bench_body *body, void *state, double operations)
{
    static double *kept;
    uint64_t times = times_of_sample(body, state);
    if (kept == NULL && (kept = malloc(bench.samples * sizeof *kept)) == NULL) {
        fprintf(stderr, "calibrate: the host gives no memory for %u samples\n", bench.samples);
        exit(1);
    }
    for (uint32_t i = 0; i < bench.samples; i++)
        kept[i] = bench_time(body, state, times) / ((double)times * operations);
    return kept;
}

void bench_measure(const char *name, bench_body *body, void *state, double operations)
{
    print_samples(name, take_samples(body, state, operations));
    bench_end();
}

/* Is another program using the other hardware thread? Independent additions are slower then. */
static int is_crowded(void)
{
    static double alone = 1e9; /* cycles of the fastest addition so far */
    double cycles = bench_additions() / bench_clock();
    if (cycles < alone)
        alone = cycles;
    return cycles > CROWDED * alone;
}

void bench_cycles(const char *name, bench_body *body, void *state, double operations)
{
    static double waited;
    double before;
    const double *kept;
    do {
        uint64_t start = bench_now();
        double limit = WAIT_SAMPLES * bench.samples * bench.sample_ns;
        while (waited + (double)(bench_now() - start) < limit && is_crowded())
            ;
        waited += (double)(bench_now() - start);
        before = bench_clock();
        kept = take_samples(body, state, operations);
        if (waited >= limit)
            break;
        waited += (double)bench.samples * bench.sample_ns; /* if it has to be repeated */
    } while (is_crowded());
    print_samples(name, kept);
    bench_end_at(before);
}

void bench_pin(int processor)
{
    cpu_set_t set;
    if (processor < 0 || processor >= CPU_SETSIZE)
        return;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

void *bench_map(size_t bytes, int large_pages)
{
    size_t large = 2u << 20; /* aligned for a large page */
    char *memory = mmap(NULL, bytes + large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "calibrate: the host gives no %zu bytes of memory\n", bytes);
        exit(1);
    }
    memory += (large - (uintptr_t)memory % large) % large;
    if (large_pages)
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static int number(const char *argument, const char *key, double *value)
{
    size_t length = strlen(key);
    char *end;
    if (strncmp(argument, key, length) != 0 || argument[length] != '=')
        return 0;
    *value = strtod(argument + length + 1, &end);
    return end != argument + length + 1 && *end == '\0';
}

static int read_argument(const char *argument)
{
    double value;
    if (number(argument, "samples", &value) && value >= 1)
        bench.samples = (uint32_t)value;
    else if (number(argument, "us", &value))
        bench.sample_ns = value * 1e3;
    else if (number(argument, "first", &value))
        bench.first = (int)value;
    else if (number(argument, "second", &value))
        bench.second = (int)value;
    else if (number(argument, "far", &value))
        bench.far = (int)value;
    else if (number(argument, "beside", &value))
        bench.beside = (int)value;
    else if (number(argument, "large", &value) && value >= 1 << 20)
        bench.large = (size_t)value;
    else if (number(argument, "pace", &value))
        bench.pace = value != 0;
    else if (number(argument, "pair", &value))
        bench.pair = value != 0;
    else if (number(argument, "team", &value) && bench.team_count < MOST_TEAM)
        bench.team[bench.team_count++] = (int)value;
    else if (number(argument, "near", &value))
        bench.near = (size_t)value;
    else if (number(argument, "size", &value) && value >= 4096 && bench.sizes_count < 64)
        bench.sizes[bench.sizes_count++] = (size_t)value;
    else
        return 0;
    return 1;
}

int main(int count, char **argument)
{
    for (int i = 1; i < count; i++)
        if (!read_argument(argument[i])) {
            fprintf(stderr, "calibrate: cannot use the argument '%s'\n", argument[i]);
            return 2;
        }
    bench_pin(bench.first);
    if (bench.pace) {
        bench_pace();
        return 0;
    }
    if (bench.pair || bench.team_count > 0) {
        (bench.pair ? bench_pair : bench_many)();
        return 0;
    }
    bench_operations();
    bench_prediction();
    bench_window();
    bench_memory();
    bench_system();
    if (bench.second >= 0)
        bench_threads();
    bench_openmp();
    return 0;
}

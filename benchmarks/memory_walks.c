/* Walks through memory, limited by latency, by outstanding misses and by the prefetcher; prints nanoseconds
 * per step by the program's own clock, the minimum over the repetitions. See memory_walks.py. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef struct place {
    struct place *next;
    uint64_t value;
    char rest[48];
} place;

static place *places;
static uint32_t *order;
static int repeat;
static uint64_t sum;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) uint64_t chase(size_t n)
{
    const place *at = places;
    for (; n > 0; n--)
        at = at->next;
    return (uintptr_t)at;
}

static __attribute__((noinline)) uint64_t lines_in_order(size_t n)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++)
        s += places[i].value;
    return s;
}

static __attribute__((noinline)) uint64_t lines_at_random(size_t n)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++)
        s += places[order[i]].value;
    return s;
}

static __attribute__((noinline)) uint64_t sum_of_doubles(size_t n)
{
    const double *a = (const double *)places;
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i];
    return (uint64_t)s;
}

static __attribute__((noinline)) uint64_t triad(size_t n)
{
    double *a = (double *)places;
    const double *b = a + n, *c = b + n;
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3.0 * c[i];
    return (uint64_t)a[n / 2];
}

/* Rows of 27 elements, as in the sparse matrix of a grid. */
static __attribute__((noinline)) uint64_t sparse_rows(size_t n)
{
    const double *values = (const double *)places, *x = values + n;
    double *y = (double *)places + n + n / 27;
    for (size_t row = 0; row < n / 27; row++) {
        double s = 0;
        for (size_t i = 27 * row; i < 27 * row + 27; i++)
            s += values[i] * x[order[i]];
        y[row] = s;
    }
    return (uint64_t)y[0];
}

static void measure(const char *name, size_t kib, uint64_t (*walk)(size_t), size_t n)
{
    double least = 1e30;
    for (int i = 0; i < repeat; i++) {
        double start = now();
        sum += walk(n);
        double taken = now() - start;
        least = taken < least ? taken : least;
    }
    printf("%s, %zu KiB;%.4f\n", name, kib, least / (double)n);
}

static void thread(size_t n, int random)
{
    uint64_t seed = 88172645463325252u;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; random && i > 0; i--) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        size_t j = seed % (i + 1);
        uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (size_t i = 0; i < n; i++)
        places[order[i]].next = &places[order[(i + 1) % n]];
}

static void walks(size_t kib)
{
    size_t bytes = kib << 10, n = bytes / sizeof(place);
    memset(places, 0, bytes);
    thread(n, 0);
    measure("list in order", kib, chase, n);
    measure("lines in order", kib, lines_in_order, n);
    thread(n, 1);
    measure("list at random", kib, chase, n);
    measure("lines at random", kib, lines_at_random, n);
    memset(places, 0, bytes);
    measure("sum of doubles", kib, sum_of_doubles, bytes / 8);
    measure("triad", kib, triad, bytes / 24);
}

int main(int count, char **argument)
{
    size_t most = (size_t)16 << 20, large = (size_t)2 << 20;
    char *memory = mmap(NULL, most + large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    memory += (large - (uintptr_t)memory % large) % large;
    (void)madvise(memory, most, MADV_HUGEPAGE);
    places = (place *)(void *)memory;
    order = malloc(most / 8 * sizeof *order);
    repeat = count > 1 ? atoi(argument[1]) : 2;
    walks(24);
    walks(512);
    walks(4096);
    size_t elements = 27 * 13824;
    memset(places, 0, most);
    for (size_t i = 0; i < elements; i++)
        order[i] = (uint32_t)(i / 27 + i % 27 * 21) % 13824;
    measure("rows of a sparse matrix", elements * 12 >> 10, sparse_rows, elements);
    fprintf(stderr, "%llu\n", (unsigned long long)sum);
    return 0;
}

/* Loops as found in programs, on data in the first-level cache; prints nanoseconds per round by the program's
 * own clock, the minimum over the repetitions. See memory_walks.py --source. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 512, SHORT = 27, CALLS = 64 };

static double a[4 * COUNT], x[4 * COUNT], row[COUNT], carried;
static char wanted[COUNT], found[COUNT];
static long taken;
static volatile double kept;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A sum of products that skips zeros. */
static __attribute__((noinline)) void sparse_row(int n)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        if (row[j] != 0.0)
            sum += row[j] * x[j];
    kept = sum;
}

static __attribute__((noinline)) void mark(int n)
{
    for (int k = 0; k < n; k++)
        if (wanted[k])
            found[k] = 1;
}

static __attribute__((noinline)) void relax(int n)
{
    for (int k = 1; k < n - 1; k++)
        x[k] += 0.3 * (0.25 * (a[k - 1] + a[k + 1] + a[k + n] + a[k + 2 * n]) - x[k]);
}

static __attribute__((noinline)) void dot(int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += a[k] * x[k];
    kept = sum;
}

static __attribute__((noinline)) void dot_and_count(int n)
{
    dot(n);
    __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) void add_to(double *to, int n)
{
    double sum = *to;
    for (int k = 0; k < n; k++)
        sum += a[k];
    *to = sum;
}

static __attribute__((noinline)) void carry_on(int n)
{
    add_to(&carried, n);
}

/* A chain through conversions, as in floating-point random number generators. */
static __attribute__((noinline)) void convert(int n)
{
    double value = carried;
    for (int k = 0; k < n; k++) {
        double scaled = 16807.0 * value;
        value = scaled - (double)(int)scaled + 0.001;
        x[k] = value;
    }
    carried = value;
}

static void measure(const char *name, int repeat, void (*loop)(int), int n)
{
    double least = 1e30;
    for (int i = 0; i < repeat; i++) {
        double start = now();
        for (int call = 0; call < CALLS; call++)
            loop(n);
        double taken_ns = now() - start;
        least = taken_ns < least ? taken_ns : least;
    }
    printf("%s;%.4f\n", name, least / CALLS / n);
}

int main(int count, char **argument)
{
    int repeat = count > 1 ? atoi(argument[1]) : 25;
    for (int k = 0; k < 4 * COUNT; k++) {
        a[k] = k % 7;
        x[k] = k % 5;
    }
    measure("sum without zeros, all are", repeat, sparse_row, COUNT);
    for (int k = 0; k < COUNT; k++)
        row[k] = k + 1;
    measure("sum without zeros, none is", repeat, sparse_row, COUNT);
    measure("marks, none", repeat, mark, COUNT);
    for (int k = 0; k < COUNT; k++)
        wanted[k] = (unsigned)k * 2654435761u >> 16 & 1;
    measure("marks, half of them at random", repeat, mark, COUNT);
    memset(wanted, 1, sizeof wanted);
    measure("marks, all", repeat, mark, COUNT);
    measure("relaxation", repeat, relax, COUNT);
    measure("dot product, 512", repeat, dot, COUNT);
    measure("dot product, 27", repeat, dot, SHORT);
    measure("dot product, 27, then an atomic addition", repeat, dot_and_count, SHORT);
    measure("sum that is carried on, 27", repeat, carry_on, SHORT);
    measure("conversions", repeat, convert, COUNT);
    fprintf(stderr, "%g %d %ld\n", carried, found[1], taken);
    return 0;
}

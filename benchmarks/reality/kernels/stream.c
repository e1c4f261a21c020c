/* Bandwidth of loops over arrays, each thread over its own part: prints "KERNEL;GB/s" by the program's own clock.
 * Counts the bytes that the loops move; a line read before it is written counts once.
 *   stream KIB ROUNDS KERNEL..    KIB: per thread, over all arrays of the kernel */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel {
    const char *name;
    int arrays, bytes; /* per element: arrays touched, bytes moved */
    double (*loop)(double *a, const double *b, const double *c, const double *d, long n);
};

/* Enough parallel sums that none waits for the previous one. */
static double load(double *a, const double *b, const double *c, const double *d, long n)
{
    enum { SUMS = 32 };
    double sum[SUMS] = {0}, all = 0;
    (void)b, (void)c, (void)d;
    for (long i = 0; i + SUMS <= n; i += SUMS)
        for (int j = 0; j < SUMS; j++)
            sum[j] += a[i + j];
    for (int j = 0; j < SUMS; j++)
        all += sum[j];
    return all;
}

static double copy(double *restrict a, const double *restrict b, const double *c, const double *d, long n)
{
    (void)c, (void)d;
    for (long i = 0; i < n; i++)
        a[i] = b[i];
    return 0;
}

static double update(double *a, const double *b, const double *c, const double *d, long n)
{
    (void)b, (void)c, (void)d;
    for (long i = 0; i < n; i++)
        a[i] = 0.9 * a[i];
    return 0;
}

static double daxpy(double *restrict a, const double *restrict b, const double *c, const double *d, long n)
{
    (void)c, (void)d;
    for (long i = 0; i < n; i++)
        a[i] = a[i] + 0.5 * b[i];
    return 0;
}

static double triad(double *restrict a, const double *restrict b, const double *restrict c, const double *restrict d,
                    long n)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] + c[i] * d[i];
    return 0;
}

static const struct kernel kernels[] = {
    {"load", 1, 8, load},    {"copy", 2, 16, copy},   {"update", 1, 16, update},
    {"daxpy", 2, 24, daxpy}, {"triad", 4, 32, triad},
};

static double measured(const struct kernel *k, double *memory, long kib, int rounds)
{
    double seconds = 0, sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        /* each array begins 13 lines farther into its page than the one before, so that parallel streams do not
         * all need the same memory channel at the same time */
        long n = kib * 128 / k->arrays / 512 * 512 - 512 + 13 * 8, part = kib * 128 + 64;
        double *own = memory + omp_get_thread_num() * part, *at[4] = {own, own, own, own}, start = 0;
        for (int i = 1; i < k->arrays; i++)
            at[i] = own + i * n;
        for (int round = -1; round < rounds; round++) {
            if (round == 0) { /* the previous round has brought in the data, or filled the caches with it */
#pragma omp barrier
                start = omp_get_wtime();
            }
            sum += k->loop(at[0], at[1], at[2], at[3], n);
        }
#pragma omp barrier
#pragma omp master
        seconds = (omp_get_wtime() - start) / rounds / n;
    }
    return sum == 1 ? 0 : k->bytes * (double)omp_get_max_threads() / seconds * 1e-9;
}

int main(int count, char **argument)
{
    if (count < 4)
        return 2;
    long kib = atol(argument[1]), part = kib * 128 + 64, threads = omp_get_max_threads();
    int rounds = atoi(argument[2]);
    double *memory = aligned_alloc(4096, (size_t)(threads * part * 8 + 4095) / 4096 * 4096);
#pragma omp parallel
    for (long i = 0, first = omp_get_thread_num() * part; i < part; i++)
        memory[first + i] = 1e-3;
    for (int i = 3; i < count; i++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            if (strcmp(argument[i], kernels[k].name) == 0)
                printf("%s;%.4f\n", kernels[k].name, measured(&kernels[k], memory, kib, rounds));
    return 0;
}

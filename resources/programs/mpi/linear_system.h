/* The dense system of ge-mpi.c and ge-dp.c: random elements, and a right-hand side with a known
 * solution. */
#include <math.h>

static double element(long i, long j)
{
    return scattered((unsigned)i * 65537u + (unsigned)j);
}

static double solution(long j)
{
    return 1.0 + (double)(j % 7) / 8.0;
}

static double right_side(long i, long n)
{
    double sum = 0.0;
    for (long j = 0; j < n; j++)
        sum += element(i, j) * solution(j);
    return sum;
}

/* Errors in every step-th component from `first` on. */
static int check_solution(const double *x, long n, long first, long step)
{
    int faults = 0;
    for (long j = first; j < n; j += step)
        faults += !(fabs(x[j] - solution(j)) <= 1e-12 * (double)n * (double)n);
    return faults;
}

/* Work of the sequential algorithm: step k has n - 1 - k rows, each with one division and 2 (n - k) flops;
 * the triangle has 2 flops per element and a division per row. 2/3 n^3 + 3/2 n^2 - 7/6 n in total. */
static double work_of(long n)
{
    double work = 0.0;
    for (long k = 0; k < n; k++)
        work += (double)(n - 1 - k) * (double)(1 + 2 * (n - k)) + 2.0 * (double)k + 1.0;
    return work;
}

static void print_result(process me, const double *x, long n, double log_determinant)
{
    double sum = 0.0;
    for (long j = 0; j < n; j++)
        sum += x[j];
    if (me.rank == 0)
        printf("n = %ld, log |determinant| = %.10f, sum of the solution %.8f, work %.0f flops\n", n,
               log_determinant, sum, work_of(n));
}

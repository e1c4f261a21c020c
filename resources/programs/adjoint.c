/* Adjoint convolution: a[i] = factor * sum of b[k] c[i - k] over all k from i to the end.
 *
 * The first iteration of the parallel loop adds up all elements and the last one only one, so equal shares of
 * the iterations are far from equal shares of the work; the loop is executed once. OMP_SCHEDULE sets how
 * iterations are distributed.
 *
 *     adjoint N [verify]     N * N elements; with `verify` compares with the result in closed form
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACTOR 0.5

/* b[k] = r^k and c[-k] = r^-k, so that b[k] c[i - k] = r^i whatever k is. */
static double ratio(long length)
{
    return 1.0 + 1.0 / (double)length;
}

/* Element `lag` of `c` is c[-lag]. */
static void convolve(double *a, double *b, double *c, long length)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (long k = 0; k < length; k++) {
            b[k] = pow(ratio(length), (double)k);
            c[k] = 1.0 / b[k];
        }
#pragma omp for schedule(runtime)
        for (long i = 0; i < length; i++) {
            double sum = 0.0;
            for (long k = i; k < length; k++)
                sum += b[k] * c[k - i];
            a[i] = FACTOR * sum;
        }
    }
}

static double largest_error(const double *a, long length)
{
    double error = 0.0;
    for (long i = 0; i < length; i++) {
        double expected = FACTOR * (double)(length - i) * pow(ratio(length), (double)i);
        error = fmax(error, fabs(a[i] / expected - 1.0));
    }
    return error;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 0;
    if (n < 1 || n > 30000) {
        fprintf(stderr, "usage: %s N [verify]     N up to 30000\n", argv[0]);
        return 2;
    }
    long length = n * n;
    double *a = malloc(3 * (size_t)length * sizeof *a);
    double *b = a + length, *c = b + length;
    convolve(a, b, c, length);
    printf("%ld elements, first %.6f, middle %.6f, last %.6f\n", length, a[0], a[length / 2], a[length - 1]);
    int wrong = 0;
    if (argc > 2 && strcmp(argv[2], "verify") == 0) {
        double error = largest_error(a, length);
        wrong = !(error < 1e-10);
        printf("largest relative error %.0e, %s\n", error, wrong ? "WRONG: too large" : "as expected");
    }
    free(a);
    return wrong;
}

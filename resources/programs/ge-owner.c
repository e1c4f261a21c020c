/* Gauss elimination in which the owner of a row normalises it; nobody pivots. Compare ge1.c and ge2.c.
 *
 * Compiled with ROWS_MOVE (ge1-owner), the remaining rows are redistributed at every step, one by one,
 * beginning with the row below the pivot. So a processor works on a row that another one changed in the
 * previous step, and has to fetch it first. Without it (ge2-owner), row i belongs to processor i mod N
 * throughout, so a row stays in its owner's caches and only the pivot row travels.
 *
 *     ge-owner N [verify]      eliminates a dense N x N system; with `verify` also solves it
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A diagonally dominant matrix needs no pivoting; the last column is the right-hand side, chosen so
 * that the solution is all ones. */
static void initialize_row(float *row, int i, int n)
{
    float sum = 0.0f;
    for (int j = 0; j < n; j++) {
        row[j] = (float)((i * 7 + j * 13) % 101) / 101.0f - 0.5f;
        if (i == j)
            row[j] += (float)n;
        sum += row[j];
    }
    row[n] = sum;
}

static void normalize_pivot_row(float *row, int k, int n)
{
    float inverse = 1.0f / row[k];
    for (int j = k + 1; j <= n; j++)
        row[j] *= inverse;
}

static void eliminate_row(float *row, const float *pivot_row, int k, int n)
{
    float factor = row[k];
    for (int j = k + 1; j <= n; j++)
        row[j] -= factor * pivot_row[j];
}

#ifdef ROWS_MOVE
static void eliminate(float **a, int n)
{
#pragma omp parallel
    {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < n; i++) {
            initialize_row(a[i], i, n);
            if (i == 0)
                normalize_pivot_row(a[0], 0, n);
        }
        for (int k = 0; k < n; k++) {
#pragma omp for schedule(static, 1)
            for (int i = k + 1; i < n; i++) {
                eliminate_row(a[i], a[k], k, n);
                if (i == k + 1)
                    normalize_pivot_row(a[i], i, n);
            }
        }
    }
}
#else
static void eliminate(float **a, int n)
{
#pragma omp parallel
    {
        int processors = omp_get_num_threads();
        int self = omp_get_thread_num();

        for (int i = self; i < n; i += processors)
            initialize_row(a[i], i, n);
#pragma omp barrier
        for (int k = 0; k < n; k++) {
            if (k % processors == self)
                normalize_pivot_row(a[k], k, n);
#pragma omp barrier
            int first = k + 1 + (self - (k + 1) % processors + processors) % processors;
            for (int i = first; i < n; i += processors)
                eliminate_row(a[i], a[k], k, n);
        }
    }
}
#endif

/* Solves the triangular system; returns the largest error of the solution (should be all ones). */
static double solution_error(float **a, int n)
{
    double error = 0.0;
    double *x = malloc((size_t)n * sizeof *x);
    for (int i = n - 1; i >= 0; i--) {
        x[i] = a[i][n];
        for (int j = i + 1; j < n; j++)
            x[i] -= a[i][j] * x[j];
        error = fmax(error, fabs(x[i] - 1.0));
    }
    free(x);
    return error;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: %s N [verify]\n", argv[0]);
        return 2;
    }
    float *elements = malloc((size_t)n * (size_t)(n + 1) * sizeof *elements);
    float **a = malloc((size_t)n * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = elements + (size_t)i * (size_t)(n + 1);

    eliminate(a, n);

    double log_determinant = 0.0;
    for (int k = 0; k < n; k++)
        log_determinant += log(fabs(a[k][k]));
    printf("n = %d, log |determinant| = %.10f\n", n, log_determinant);
    if (argc > 2 && strcmp(argv[2], "verify") == 0)
        printf("largest error of the solution: %.1e\n", solution_error(a, n));
    free(a);
    free(elements);
    return 0;
}

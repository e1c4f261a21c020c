/* Jacobi iteration for a dense system of which only the first fifth of the rows is filled.
 *
 * The other rows have nothing beside the diagonal, but they are searched all the same. So the iterations of
 * the parallel loop differ in length, in the same way every time. All threads read the whole vector of
 * unknowns, which one processor copies between steps. OMP_SCHEDULE sets how rows are distributed.
 *
 *     jacobi N STEPS [verify]     N unknowns; with `verify` checks the solution
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The diagonal is three times the rest of its row; the solution is all ones. */
static void initialize_row(double *row, int i, int n, double *right)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++) {
        unsigned random = ((unsigned)i * 65599u + (unsigned)j) * 2654435761u;
        random ^= random >> 15;
        random *= 2246822519u;
        random ^= random >> 13;
        row[j] = j != i && i < (n + 4) / 5 ? (random % 1000u + 1) / 1000.0 : 0.0;
        sum += row[j];
    }
    row[i] = 3.0 * sum + 1.0;
    *right = sum + row[i];
}

static double new_value(const double *row, int i, int n, double right, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        if (row[j] != 0.0 && j != i)
            sum += row[j] * x[j];
    return (right - sum) / row[i];
}

static void iterate(double *a, double *right, double *x, double *next, int n, int steps)
{
#pragma omp parallel
    {
#pragma omp for schedule(runtime)
        for (int i = 0; i < n; i++) {
            initialize_row(a + (size_t)i * (size_t)n, i, n, &right[i]);
            x[i] = 0.0;
        }
        for (int step = 0; step < steps; step++) {
#pragma omp for schedule(runtime)
            for (int i = 0; i < n; i++)
                next[i] = new_value(a + (size_t)i * (size_t)n, i, n, right[i], x);
#pragma omp single
            for (int i = 0; i < n; i++)
                x[i] = next[i];
        }
    }
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0;
    int steps = argc > 2 ? atoi(argv[2]) : -1;
    if (n < 1 || steps < 0) {
        fprintf(stderr, "usage: %s N STEPS [verify]\n", argv[0]);
        return 2;
    }
    double *a = malloc((size_t)n * (size_t)n * sizeof *a);
    double *right = malloc((size_t)n * sizeof *right);
    double *x = malloc((size_t)n * sizeof *x);
    double *next = malloc((size_t)n * sizeof *next);
    iterate(a, right, x, next, n, steps);
    printf("%d unknowns, %d steps, the first is %.15f\n", n, steps, x[0]);
    int wrong = 0;
    if (argc > 3 && strcmp(argv[3], "verify") == 0) {
        double error = 0.0,
               expected = pow(3.0, -steps) + 1e-12; /* each step divides the error by at least three */
        for (int i = 0; i < n; i++)
            error = fmax(error, fabs(x[i] - 1.0));
        wrong = !(error <= expected);
        printf("largest error %.3e, %s\n", error, wrong ? "WRONG: too large" : "as expected");
    }
    free(next);
    free(x);
    free(right);
    free(a);
    return wrong;
}

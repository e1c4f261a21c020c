/* Successive over-relaxation on a square grid, in two colours.
 *
 * Points are coloured like a chessboard; a sweep relaxes the points of one colour, then those of the other,
 * and within a colour the order does not matter. All rows take equally long, and every sweep processes each
 * row again: a balanced loop whose iterations are best kept on the same processor. OMP_SCHEDULE sets how rows
 * are distributed.
 *
 *     sor N SWEEPS [verify]     N x N inner points; with `verify` checks that the error has fallen
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exact solution: it obeys Laplace's equation, on the grid too. */
static double solution(int row, int column, int n)
{
    double x = (double)column / (n + 1), y = (double)row / (n + 1);
    return x * x - y * y + 3.0 * x * y + 1.0;
}

static double *row_of(double *grid, int row, int n)
{
    return grid + (size_t)row * (size_t)(n + 2);
}

/* The borders hold the solution's values, the interior is 0. */
static void initialize_row(double *a, int row, int n)
{
    for (int column = 0; column < n + 2; column++)
        a[column] =
            row == 0 || row == n + 1 || column == 0 || column == n + 1 ? solution(row, column, n) : 0.0;
}

static void relax_row(double *grid, int row, int colour, int n, double factor)
{
    const double *above = row_of(grid, row - 1, n), *below = row_of(grid, row + 1, n);
    double *own = row_of(grid, row, n);
    for (int column = 1 + (row + colour) % 2; column <= n; column += 2) {
        double mean = 0.25 * (above[column] + below[column] + own[column - 1] + own[column + 1]);
        own[column] += factor * (mean - own[column]);
    }
}

static void relax(double *grid, int n, int sweeps)
{
    double factor = 2.0 / (1.0 + sin(3.14159265358979323846 / (n + 1)));
#pragma omp parallel
    {
#pragma omp for schedule(runtime)
        for (int row = 0; row < n + 2; row++)
            initialize_row(row_of(grid, row, n), row, n);
        for (int sweep = 0; sweep < sweeps; sweep++)
            for (int colour = 0; colour < 2; colour++) {
#pragma omp for schedule(runtime)
                for (int row = 1; row <= n; row++)
                    relax_row(grid, row, colour, n, factor);
            }
    }
}

static double largest_error(double *grid, int n)
{
    double error = 0.0;
#pragma omp parallel for schedule(runtime) reduction(max : error)
    for (int row = 1; row <= n; row++)
        for (int column = 1; column <= n; column++)
            error = fmax(error, fabs(row_of(grid, row, n)[column] - solution(row, column, n)));
    return error;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0;
    int sweeps = argc > 2 ? atoi(argv[2]) : -1;
    if (n < 1 || sweeps < 0) {
        fprintf(stderr, "usage: %s N SWEEPS [verify]\n", argv[0]);
        return 2;
    }
    double *grid = malloc((size_t)(n + 2) * (size_t)(n + 2) * sizeof *grid);
    relax(grid, n, sweeps);
    printf("%d x %d points, %d sweeps, the middle is %.12f\n", n, n, sweeps,
           row_of(grid, (n + 1) / 2, n)[(n + 1) / 2]);
    int wrong = 0;
    if (argc > 3 && strcmp(argv[3], "verify") == 0) {
        /* Errors fall by about exp(-2 pi / (n + 1)) per sweep, after an initial growth by a factor of
         * `sweeps`. */
        double error = largest_error(grid, n);
        double expected = 4.0 * (1.0 + sweeps) * exp(-6.0 * sweeps / (n + 1)) + 1e-12;
        wrong = !(error <= expected);
        printf("largest error %.3e, %s\n", error, wrong ? "WRONG: too large" : "as expected");
    }
    free(grid);
    return wrong;
}

/* Multiplication of two dense matrices.
 *
 * The parallel loop runs over all elements of the product, which all take equally long, and is executed once:
 * there is nothing to gain by keeping an iteration on the same processor, and nothing to balance.
 * OMP_SCHEDULE sets how elements are distributed.
 *
 *     matmul N [verify]     N x N matrices; with `verify` multiplies the product by a vector as well
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small integers: every sum of products is exact. */
static double left_element(int i, int j)
{
    return (i * 7 + j * 13) % 17 - 8;
}

static double right_element(int i, int j)
{
    return (i * 5 + j * 11) % 19 - 9;
}

static double dot(const double *row, const double *column, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += row[k] * column[(size_t)k * (size_t)n];
    return sum;
}

static void multiply(const double *a, const double *b, double *c, int n)
{
#pragma omp parallel for collapse(2) schedule(runtime)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[(size_t)i * (size_t)n + (size_t)j] = dot(a + (size_t)i * (size_t)n, b + j, n);
}

static void initialize(double *a, double *b, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[(size_t)i * (size_t)n + (size_t)j] = left_element(i, j);
            b[(size_t)i * (size_t)n + (size_t)j] = right_element(i, j);
        }
}

static void apply(const double *matrix, const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0.0;
        for (int j = 0; j < n; j++)
            y[i] += matrix[(size_t)i * (size_t)n + (size_t)j] * x[j];
    }
}

/* Compares C x with A (B x); returns the number of elements that differ. */
static int wrong_elements(const double *a, const double *b, const double *c, int n)
{
    double *x = malloc(4 * (size_t)n * sizeof *x);
    double *bx = x + n, *abx = bx + n, *cx = abx + n;
    int wrong = 0;
    for (int i = 0; i < n; i++)
        x[i] = i * i % 23 - 11;
    apply(b, x, bx, n);
    apply(a, bx, abx, n);
    apply(c, x, cx, n);
    for (int i = 0; i < n; i++)
        wrong += abx[i] != cx[i];
    free(x);
    return wrong;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: %s N [verify]\n", argv[0]);
        return 2;
    }
    size_t elements = (size_t)n * (size_t)n;
    double *a = malloc(3 * elements * sizeof *a);
    double *b = a + elements, *c = b + elements;
    initialize(a, b, n);
    multiply(a, b, c, n);
    double trace = 0.0;
    for (int i = 0; i < n; i++)
        trace += c[(size_t)i * (size_t)n + (size_t)i];
    printf("n = %d, trace of the product %.0f\n", n, trace);
    int wrong = 0;
    if (argc > 2 && strcmp(argv[2], "verify") == 0) {
        wrong = wrong_elements(a, b, c, n);
        printf("wrong elements: %d\n", wrong);
    }
    free(a);
    return wrong != 0;
}

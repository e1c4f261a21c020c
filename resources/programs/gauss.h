/* Gauss elimination with partial pivoting, as described in the latency-metric paper (4.5) and the
 * semi-empirical paper (3.2.1): shared by ge1.c and ge2.c. In every step the main thread finds the pivot row,
 * moves it into place and computes the pivot column, while all others wait; then all eliminate.
 *
 * Elements have 4 or 8 bytes, single or double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gauss {
    int n;
    size_t width; /* elements per row: n and the right-hand side */
    int bytes;    /* per element */
    unsigned seed;
    void *elements;
} gauss;

/* A number in [-0.5, 0.5) computed from the element's position and the seed. */
static double element(const gauss *g, int i, int j)
{
    if (g->seed == 0)
        return ((i * 7 + j * 13) % 101) / 101.0 - 0.5 + (i == j ? g->n : 0);
    unsigned random = ((unsigned)i * 65537u + (unsigned)j + 1u) * 2654435761u ^ g->seed * 2246822519u;
    random ^= random >> 15;
    random *= 2246822519u;
    random ^= random >> 13;
    random *= 3266489917u;
    random ^= random >> 16;
    return random / 4294967296.0 - 0.5;
}

#define REAL     float
#define OF(name) name##_float
#include "gauss_rows.h"
#undef REAL
#undef OF
#define REAL     double
#define OF(name) name##_double
#include "gauss_rows.h"
#undef REAL
#undef OF

static void initialize_row(const gauss *g, int i)
{
    if (g->bytes == 4)
        initialize_row_float(g, i);
    else
        initialize_row_double(g, i);
}

/* The main thread's work at the start of a step, while all others wait. */
static void pivot(const gauss *g, int k)
{
    int found = g->bytes == 4 ? find_pivot_float(g, k) : find_pivot_double(g, k);
    if (g->bytes == 4) {
        if (found != k)
            swap_rows_float(g, k, found);
        compute_factors_float(g, k);
    } else {
        if (found != k)
            swap_rows_double(g, k, found);
        compute_factors_double(g, k);
    }
}

static void eliminate_row(const gauss *g, int i, int k)
{
    if (g->bytes == 4)
        eliminate_row_float(g, i, k);
    else
        eliminate_row_double(g, i, k);
}

static double value_of(const gauss *g, int i, int j)
{
    return g->bytes == 4 ? value_of_float(g, i, j) : value_of_double(g, i, j);
}

/* Solves the triangular system and prints the solution, one number per line. */
static void print_solution(const gauss *g)
{
    double *x = malloc((size_t)g->n * sizeof *x);
    for (int i = g->n - 1; i >= 0; i--) {
        x[i] = value_of(g, i, g->n);
        for (int j = i + 1; j < g->n; j++)
            x[i] -= value_of(g, i, j) * x[j];
        x[i] /= value_of(g, i, i);
    }
    for (int i = 0; i < g->n; i++)
        printf("%.17g\n", x[i]);
    free(x);
}

/* The program except for its elimination, which differs in how rows are distributed to threads. */
static int gauss_main(int argc, char **argv, void (*eliminate)(const gauss *))
{
    gauss g = {.n = argc > 1 ? atoi(argv[1]) : 0, .bytes = argc > 2 ? atoi(argv[2]) : 4};
    g.seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    if (g.n < 1 || (g.bytes != 4 && g.bytes != 8)) {
        fprintf(stderr, "usage: %s N [4|8 [SEED [verify]]]\n", argv[0]);
        return 2;
    }
    g.width = (size_t)g.n + 1;
    g.elements = malloc((size_t)g.n * g.width * (size_t)g.bytes);

    eliminate(&g);

    double log_determinant = 0.0;
    for (int k = 0; k < g.n; k++)
        log_determinant += log(fabs(value_of(&g, k, k)));
    printf("n = %d, log |determinant| = %.10f\n", g.n, log_determinant);
    if (argc > 4 && strcmp(argv[4], "verify") == 0)
        print_solution(&g);
    free(g.elements);
    return 0;
}

/* Gauss elimination in data-parallel style, as on the CM-5 (semi-empirical paper, 3.2.1 and 4.3.1).
 *
 * The elements of each row are distributed in blocks: rank r holds the same columns of all rows, the
 * right-hand side is the last column. Rows are processed one after another, each by all ranks at once. So
 * columns left of the pivot are idle, and towards the end whole ranks are. Rank 0 initialises the matrix, as
 * the CM-5's control processor does. Each phase is a function:
 *
 *     initialize            rank 0 makes each row and deals it out
 *     pivot_column          the owner of column k finds the pivot and computes the factors of all rows
 *     broadcast_factors     the pivot row's number and the factors go to all ranks
 *     eliminate_columns     `eliminate_row` for each row below the pivot: own elements only
 *     solve_triangle        for each unknown a sum over all ranks
 *
 *     ge-dp N               a dense system of N unknowns, double precision, partial pivoting
 *
 * Work: see linear_system.h; 2/3 n^3 + 3/2 n^2 - 7/6 n flops. The sum of the solution differs between numbers
 * of ranks by up to 1e-9 of its size, due to the order of summation; the determinant does not.
 */
#include "program.h"
#include "linear_system.h"

typedef struct gauss {
    process me;
    long n, first, own; /* own columns: first .. first + own - 1 of n + 1 */
    double *rows;       /* n rows of own elements */
    double *factors;    /* [0]: number of the pivot row, [1]: the pivot, then a factor for each row below k */
    double log_determinant;
} gauss;

static double *row_of(const gauss *g, long i)
{
    return g->rows + i * g->own;
}

static int owner_of(const gauss *g, long column)
{
    int owner = (int)(column * g->me.ranks / (g->n + 1));
    while (block_begin(g->n + 1, owner + 1, g->me.ranks) <= column)
        owner++;
    while (block_begin(g->n + 1, owner, g->me.ranks) > column)
        owner--;
    return owner;
}

static void initialize(gauss *g)
{
    int *counts = memory(g->me.ranks, sizeof *counts), *begins = memory(g->me.ranks, sizeof *begins);
    double *row = memory(g->n + 1, sizeof *row);
    for (int r = 0; r < g->me.ranks; r++) {
        begins[r] = (int)block_begin(g->n + 1, r, g->me.ranks);
        counts[r] = (int)block_begin(g->n + 1, r + 1, g->me.ranks) - begins[r];
    }
    g->first = begins[g->me.rank];
    g->own = counts[g->me.rank];
    g->rows = memory(g->n * g->own, sizeof(double));
    g->factors = memory(g->n + 2, sizeof(double));
    for (long i = 0; i < g->n; i++) {
        if (g->me.rank == 0) {
            for (long j = 0; j < g->n; j++)
                row[j] = element(i, j);
            row[g->n] = right_side(i, g->n);
        }
        MPI_Scatterv(row, counts, begins, MPI_DOUBLE, row_of(g, i), (int)g->own, MPI_DOUBLE, 0,
                     MPI_COMM_WORLD);
    }
    free(counts);
    free(begins);
    free(row);
}

static void pivot_column(gauss *g, long k)
{
    long column = k - g->first, pivot = k;
    for (long i = k + 1; i < g->n; i++)
        if (fabs(row_of(g, i)[column]) > fabs(row_of(g, pivot)[column]))
            pivot = i;
    double size = row_of(g, pivot)[column];
    g->factors[0] = (double)pivot;
    g->factors[1] = size;
    for (long i = k + 1; i < g->n; i++)
        g->factors[2 + i - k - 1] = row_of(g, i == pivot ? k : i)[column] / size;
}

static void broadcast_factors(gauss *g, long k, int owner)
{
    MPI_Bcast(g->factors, (int)(g->n - k + 1), MPI_DOUBLE, owner, MPI_COMM_WORLD);
}

static void exchange_rows(const gauss *g, long one, long other)
{
    double *a = row_of(g, one), *b = row_of(g, other);
    for (long j = 0; j < g->own && a != b; j++) {
        double kept = a[j];
        a[j] = b[j];
        b[j] = kept;
    }
}

static void eliminate_row(double *row, const double *pivot, double factor, long begin, long end)
{
    for (long j = begin; j < end; j++)
        row[j] -= factor * pivot[j];
}

static void eliminate_columns(gauss *g, long k)
{
    long begin = k + 1 > g->first ? k + 1 - g->first : 0;
    for (long i = k + 1; i < g->n; i++)
        eliminate_row(row_of(g, i), row_of(g, k), g->factors[2 + i - k - 1], begin, g->own);
}

static void solve_triangle(gauss *g, double *x)
{
    int last = g->first + g->own == g->n + 1 && g->own > 0; /* holds the right-hand side */
    for (long k = g->n - 1; k >= 0; k--) {
        const double *row = row_of(g, k);
        double own[2] = {last ? row[g->own - 1] : 0.0, 0.0}, all[2];
        long end = last ? g->own - 1 : g->own;
        for (long j = k + 1 > g->first ? k + 1 - g->first : 0; j < end; j++)
            own[0] -= row[j] * x[g->first + j];
        if (k >= g->first && k < g->first + g->own)
            own[1] = row[k - g->first];
        MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x[k] = all[0] / all[1];
    }
}

static void gauss_elimination(gauss *g, double *x)
{
    for (long k = 0; k < g->n; k++) {
        int owner = owner_of(g, k);
        if (g->me.rank == owner)
            pivot_column(g, k);
        broadcast_factors(g, k, owner);
        exchange_rows(g, k, (long)g->factors[0]);
        eliminate_columns(g, k);
        g->log_determinant += log(fabs(g->factors[1]));
    }
    solve_triangle(g, x);
}

int main(int argc, char **argv)
{
    gauss g = {.me = begin(&argc, &argv), .n = number(argc, argv, 1, -1)};
    if (g.n < 1 || g.n > 1000000)
        return refuse(g.me, "ge-dp N");
    initialize(&g);
    double *x = memory(g.n, sizeof *x);
    gauss_elimination(&g, x);
    int faults = check_solution(x, g.n, g.me.rank, g.me.ranks);
    print_result(g.me, x, g.n, g.log_determinant);
    free(g.rows);
    free(g.factors);
    free(x);
    return finish(g.me, faults);
}

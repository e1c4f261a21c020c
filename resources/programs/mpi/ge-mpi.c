/* Gauss elimination by message passing: row i of the matrix belongs to rank i mod N.
 *
 * As described in the semi-empirical paper (3.2.1): every step determines the pivot row and eliminates with
 * it. Each phase is a function:
 *
 *     find_pivot       the largest element of the column: own rows, then a reduction with MPI_MAXLOC
 *     exchange_rows    the pivot row and row k change places, by messages where they have two owners
 *     broadcast_row    the pivot row goes to all ranks
 *     eliminate        own rows below the pivot
 *     solve_triangle   back substitution; each unknown goes to all ranks
 *
 *     ge-mpi N         a dense system of N unknowns, double precision, partial pivoting
 *
 * A row undergoes the same operations on any number of ranks, so all printed digits are the same. Work: see
 * linear_system.h; 2/3 n^3 + 3/2 n^2 - 7/6 n flops.
 */
#include "program.h"
#include "linear_system.h"

typedef struct gauss {
    process me;
    long n, width, own; /* width: elements per row, including the right-hand side; own: rows of this rank */
    double *rows;       /* row j is row rank + j * ranks of the matrix */
    double *pivot_row;
    double *spare;
    double log_determinant;
} gauss;

static double *row_of(const gauss *g, long i)
{
    return g->rows + i / g->me.ranks * g->width;
}

/* The first own row at or after row i of the matrix. */
static long own_from(const gauss *g, long i)
{
    return i <= g->me.rank ? g->me.rank : i + (g->me.rank - i % g->me.ranks + g->me.ranks) % g->me.ranks;
}

static void initialize(gauss *g)
{
    g->width = g->n + 1;
    g->own = g->me.rank < g->n ? (g->n - 1 - g->me.rank) / g->me.ranks + 1 : 0;
    g->rows = memory(g->own * g->width, sizeof(double));
    g->pivot_row = memory(g->width, sizeof(double));
    g->spare = memory(g->width, sizeof(double));
    for (long i = g->me.rank; i < g->n; i += g->me.ranks) {
        double *row = row_of(g, i);
        for (long j = 0; j < g->n; j++)
            row[j] = element(i, j);
        row[g->n] = right_side(i, g->n);
    }
}

static long find_pivot(const gauss *g, long k)
{
    struct {
        double size;
        int row;
    } mine = {-1.0, (int)g->n}, all;
    for (long i = own_from(g, k); i < g->n; i += g->me.ranks)
        if (fabs(row_of(g, i)[k]) > mine.size) {
            mine.size = fabs(row_of(g, i)[k]);
            mine.row = (int)i;
        }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    return all.row;
}

/* Sends `row` of this rank to the owner of row `other` and receives that row in return. */
static void trade(const gauss *g, long row, long other, long k)
{
    int partner = (int)(other % g->me.ranks), count = (int)(g->width - k);
    MPI_Sendrecv_replace(row_of(g, row) + k, count, MPI_DOUBLE, partner, (int)(k & 0x7fff), partner,
                         (int)(k & 0x7fff), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange_rows(gauss *g, long k, long pivot)
{
    int owns_pivot = pivot % g->me.ranks == g->me.rank, owns_k = k % g->me.ranks == g->me.rank;
    size_t bytes = (size_t)(g->width - k) * sizeof(double);
    if (pivot == k)
        return;
    if (owns_pivot && owns_k) {
        memcpy(g->spare, row_of(g, k) + k, bytes);
        memcpy(row_of(g, k) + k, row_of(g, pivot) + k, bytes);
        memcpy(row_of(g, pivot) + k, g->spare, bytes);
    } else if (owns_pivot) {
        trade(g, pivot, k, k);
    } else if (owns_k) {
        trade(g, k, pivot, k);
    }
}

static void broadcast_row(gauss *g, long k)
{
    int owner = (int)(k % g->me.ranks);
    if (g->me.rank == owner)
        memcpy(g->pivot_row + k, row_of(g, k) + k, (size_t)(g->width - k) * sizeof(double));
    MPI_Bcast(g->pivot_row + k, (int)(g->width - k), MPI_DOUBLE, owner, MPI_COMM_WORLD);
}

static void eliminate(gauss *g, long k)
{
    const double *pivot = g->pivot_row;
    for (long i = own_from(g, k + 1); i < g->n; i += g->me.ranks) {
        double *row = row_of(g, i), factor = row[k] / pivot[k];
        for (long j = k + 1; j < g->width; j++)
            row[j] -= factor * pivot[j];
    }
}

static void solve_triangle(gauss *g, double *x)
{
    for (long k = g->n - 1; k >= 0; k--) {
        int owner = (int)(k % g->me.ranks);
        if (g->me.rank == owner)
            x[k] = row_of(g, k)[g->n] / row_of(g, k)[k];
        MPI_Bcast(&x[k], 1, MPI_DOUBLE, owner, MPI_COMM_WORLD);
        for (long i = g->me.rank; i < k; i += g->me.ranks)
            row_of(g, i)[g->n] -= row_of(g, i)[k] * x[k];
    }
}

static void gauss_elimination(gauss *g, double *x)
{
    for (long k = 0; k < g->n; k++) {
        exchange_rows(g, k, find_pivot(g, k));
        broadcast_row(g, k);
        eliminate(g, k);
        g->log_determinant += log(fabs(g->pivot_row[k]));
    }
    solve_triangle(g, x);
}

int main(int argc, char **argv)
{
    gauss g = {.me = begin(&argc, &argv), .n = number(argc, argv, 1, -1)};
    if (g.n < 1 || g.n > 1000000)
        return refuse(g.me, "ge-mpi N");
    initialize(&g);
    double *x = memory(g.n, sizeof *x);
    gauss_elimination(&g, x);
    int faults = check_solution(x, g.n, g.me.rank, g.me.ranks);
    print_result(g.me, x, g.n, g.log_determinant);
    free(g.rows);
    free(g.pivot_row);
    free(g.spare);
    free(x);
    return finish(g.me, faults);
}

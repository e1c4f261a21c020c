/* Jacobi iteration on a square two-dimensional grid, with a halo exchange before each step.
 *
 * SIZE x SIZE points are distributed in rectangles to a Cartesian grid of ranks. Each step has two phases,
 * which are functions: `exchange` sends the four edges (columns as a vector datatype) and receives the halo,
 * `update` averages the four neighbours of each point. With `overlap`, inner points are updated while the
 * messages are in flight.
 *
 *     halo2d SIZE STEPS [wait|overlap]
 *
 * The grid starts as a product of two sines; each step multiplies it by (cos(h) + cos(2 h)) / 2, h = pi /
 * (SIZE + 1), and every rank checks all its points against that. Printed numbers differ between numbers of
 * ranks by 1e-11 of their size, due to the order of summation.
 *
 * Work of the sequential algorithm: 4 flops per point and step (3 additions, 1 multiplication).
 */
#include "program.h"
#include <math.h>

typedef struct grid {
    process me;
    MPI_Comm ranks;
    MPI_Datatype column;
    long size;         /* points per side of the whole grid */
    long first[2];     /* own rectangle: first row and column, from 0 */
    long own[2];       /* rows and columns */
    long width;        /* of a row in memory: columns plus a halo on either side */
    int neighbours[4]; /* north, south, west, east */
    double *now, *next;
} grid;

static double mode(long i, long n, int waves)
{
    return sin(waves * acos(-1.0) * (double)(i + 1) / (double)(n + 1));
}

static void make_grid(grid *g)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, place[2];
    MPI_Dims_create(g->me.ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &g->ranks);
    MPI_Cart_coords(g->ranks, g->me.rank, 2, place);
    MPI_Cart_shift(g->ranks, 0, 1, &g->neighbours[0], &g->neighbours[1]);
    MPI_Cart_shift(g->ranks, 1, 1, &g->neighbours[2], &g->neighbours[3]);
    for (int d = 0; d < 2; d++) {
        g->first[d] = block_begin(g->size, place[d], dims[d]);
        g->own[d] = block_begin(g->size, place[d] + 1, dims[d]) - g->first[d];
    }
    g->width = g->own[1] + 2;
    MPI_Type_vector((int)g->own[0], 1, (int)g->width, MPI_DOUBLE, &g->column);
    MPI_Type_commit(&g->column);
    g->now = memory((g->own[0] + 2) * g->width, sizeof(double));
    g->next = memory((g->own[0] + 2) * g->width, sizeof(double));
    for (long i = 0; i < g->own[0]; i++)
        for (long j = 0; j < g->own[1]; j++)
            g->now[(i + 1) * g->width + j + 1] =
                mode(g->first[0] + i, g->size, 1) * mode(g->first[1] + j, g->size, 2);
}

/* Starts the messages of a step: rows to north and south, columns to west and east. */
static void begin_exchange(grid *g, MPI_Request requests[8])
{
    long rows = g->own[0], columns = g->own[1], w = g->width;
    double *a = g->now;
    double *inner[4] = {&a[w + 1], &a[rows * w + 1], &a[w + 1], &a[w + columns]};
    double *halo[4] = {&a[1], &a[(rows + 1) * w + 1], &a[w], &a[w + columns + 1]};
    for (int side = 0; side < 4; side++) {
        int count = side < 2 ? (int)columns : 1;
        MPI_Datatype type = side < 2 ? MPI_DOUBLE : g->column;
        MPI_Irecv(halo[side], count, type, g->neighbours[side], side, g->ranks, &requests[side]);
    }
    for (int side = 0; side < 4; side++) {
        int count = side < 2 ? (int)columns : 1;
        MPI_Datatype type = side < 2 ? MPI_DOUBLE : g->column;
        /* what goes north is the southern halo there: 0 and 1 are swapped, and so are 2 and 3 */
        MPI_Isend(inner[side], count, type, g->neighbours[side], side ^ 1, g->ranks, &requests[4 + side]);
    }
}

static void exchange(grid *g)
{
    MPI_Request requests[8];
    begin_exchange(g, requests);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* New values of rows [top, bottom) and columns [left, right), counted from 1. */
static void update(grid *g, long top, long bottom, long left, long right)
{
    long w = g->width;
    for (long i = top; i < bottom; i++) {
        const double *row = g->now + i * w;
        double *out = g->next + i * w;
        for (long j = left; j < right; j++)
            out[j] = 0.25 * (row[j - w] + row[j + w] + row[j - 1] + row[j + 1]);
    }
}

static void step_with_overlap(grid *g)
{
    long rows = g->own[0], columns = g->own[1];
    MPI_Request requests[8];
    begin_exchange(g, requests);
    update(g, 2, rows, 2, columns);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    update(g, 1, 2, 1, columns + 1);
    if (rows > 1)
        update(g, rows, rows + 1, 1, columns + 1);
    update(g, 2, rows, 1, 2);
    if (columns > 1)
        update(g, 2, rows, columns, columns + 1);
}

static void iterate(grid *g, long steps, int overlaps)
{
    for (long step = 0; step < steps; step++) {
        if (overlaps) {
            step_with_overlap(g);
        } else {
            exchange(g);
            update(g, 1, g->own[0] + 1, 1, g->own[1] + 1);
        }
        double *before = g->now;
        g->now = g->next;
        g->next = before;
    }
}

/* Errors at the own points; adds up the squares of their values. */
static int check(const grid *g, long steps, double *squares)
{
    double angle = acos(-1.0) / (double)(g->size + 1);
    double factor = pow((cos(angle) + cos(2.0 * angle)) / 2.0, (double)steps);
    int faults = 0;
    *squares = 0.0;
    for (long i = 0; i < g->own[0]; i++)
        for (long j = 0; j < g->own[1]; j++) {
            double value = g->now[(i + 1) * g->width + j + 1];
            double expected = factor * mode(g->first[0] + i, g->size, 1) * mode(g->first[1] + j, g->size, 2);
            faults += !(fabs(value - expected) <= 1e-12 * (double)(steps + 1));
            *squares += value * value;
        }
    return faults;
}

int main(int argc, char **argv)
{
    grid g = {.me = begin(&argc, &argv), .size = number(argc, argv, 1, -1)};
    long steps = number(argc, argv, 2, -1);
    int overlaps = given(argc, argv, 3, "overlap");
    if (g.size < g.me.ranks || g.size > 1 << 20 || steps < 0 ||
        (argc > 3 && !overlaps && !given(argc, argv, 3, "wait")))
        return refuse(g.me, "halo2d SIZE STEPS [wait|overlap], SIZE at least the number of ranks");
    make_grid(&g);
    iterate(&g, steps, overlaps);
    double own = 0.0, squares = 0.0;
    int faults = check(&g, steps, &own);
    MPI_Reduce(&own, &squares, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (g.me.rank == 0)
        printf("%ld x %ld points, %ld steps: sum of squares %.12g, work %.0f flops\n", g.size, g.size, steps,
               squares, 4.0 * (double)g.size * (double)g.size * (double)steps);
    MPI_Type_free(&g.column);
    MPI_Comm_free(&g.ranks);
    free(g.now);
    free(g.next);
    return finish(g.me, faults);
}

/* SLALOM, modified: radiation between the diffuse surfaces of a box, by Gauss elimination (isospeed paper,
 * sections IV.A, IV.C and IV.D).
 *
 * The six faces are cut into n patches; a patch reflects a part of what the others send it. This gives a
 * dense system of order n with three right-hand sides, one per colour. Its matrix is scattered over a grid of
 * P x Q ranks, as square as possible (2 x 4 for 8): element (i, j) belongs to the rank at (i mod P, j mod Q).
 * The seven tasks in the paper's figures are functions:
 *
 *     reader    box, reflectivity and emission go from rank 0 to all
 *     region    how many patches each face has, by its area
 *     setup1    the own patches: rows and columns of the matrix that this rank holds
 *     setup2    form factors from the middle of a patch to another patch, in closed form
 *     setup3    row sums of the form factors, which are one in a closed box; matrix and right-hand sides
 *     solver    `factor`: in each step the pivot row goes down the columns of the grid, the column of
 *               factors along its rows. The matrix needs no pivoting: the rest of a row adds up to less
 *               than its diagonal. `backsolve`: for each unknown a sum along a row of the grid and a
 *               broadcast down a column
 *     storer    mean radiosities to rank 0
 *
 *     slalom PATCHES [checked|unchecked]
 *
 * Work of the sequential algorithm:
 *
 *     setup2      76 flops for a pair of patches on opposite faces, 31 on perpendicular ones: about 34 n^2
 *     setup3      2 n^2
 *     factor      2/3 n^3 + 5/2 n^2 - 19/6 n, right-hand sides included
 *     backsolve   3 n^2
 *
 * n = 276: 17.15 Mflop, of which 14.02 are 2/3 n^3; n = 490: 88.31 and 78.43. Memory: 8 n^2 / N bytes per
 * rank plus O(n / sqrt(N)).
 *
 * Each rank checks its row sums and, unless `unchecked`, the equations of some of its rows. Printed numbers
 * differ between numbers of ranks by 1e-11 of their size, due to the order of summation.
 */
#include "program.h"
#include "form_factors.h"

enum { FACES = 6, COLOURS = 3, CHECKED = 3 };

typedef struct problem {
    box room;
    double reflectivity[FACES];
    double emission[FACES][COLOURS];
} problem;

typedef struct slalom {
    process me;
    MPI_Comm row, column; /* ranks in the same row or column of the grid */
    int rows, columns;    /* of the grid of ranks */
    int i, j;             /* position in the grid */
    long n;
    problem given;
    long patches[FACES];
    long own_rows, own_columns;
    patch *of_row, *of_column;
    double *matrix;
    double *right;    /* COLOURS per row, the same on all ranks of a grid row */
    double *solution; /* COLOURS per column */
    double *pivot, *factors;
    double mean[COLOURS];
    int faults;
} slalom;

static void make_grid(slalom *s)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1}, place[2];
    MPI_Comm grid;
    MPI_Dims_create(s->me.ranks, 2, dims);
    s->rows = dims[1]; /* the larger number comes first: more columns than rows */
    s->columns = dims[0];
    int shape[2] = {s->rows, s->columns};
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periods, 0, &grid);
    MPI_Cart_coords(grid, s->me.rank, 2, place);
    s->i = place[0];
    s->j = place[1];
    MPI_Cart_sub(grid, (int[]){0, 1}, &s->row);
    MPI_Cart_sub(grid, (int[]){1, 0}, &s->column);
    MPI_Comm_free(&grid);
}

/* How many of the indices below `end` belong to place `which` of `places`. */
static long count_below(long end, int which, int places)
{
    return end > which ? (end - 1 - which) / places + 1 : 0;
}

static void reader(slalom *s)
{
    if (s->me.rank == 0)
        s->given =
            (problem){.room = {{8.0, 4.0, 3.0}},
                      .reflectivity = {0.55, 0.65, 0.5, 0.7, 0.25, 0.8},
                      .emission = {{0, 0, 0}, {0.1, 0, 0.2}, {0, 0.3, 0}, {0, 0, 0}, {0, 0, 0}, {4, 3.5, 3}}};
    MPI_Bcast(&s->given, (int)(sizeof s->given / sizeof(double)), MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static double side(const slalom *s, int face, int which)
{
    int normal = face / 2;
    return s->given.room.size[which == 0 ? (normal == 0 ? 1 : 0) : (normal == 2 ? 1 : 2)];
}

/* Patches per face in proportion to its area, at least one each; the rounding remainder goes to the last
 * face. */
static void region(slalom *s)
{
    double all = 0.0, before = 0.0;
    long dealt = 0;
    for (int face = 0; face < FACES; face++)
        all += side(s, face, 0) * side(s, face, 1);
    for (int face = 0; face < FACES; face++) {
        before += side(s, face, 0) * side(s, face, 1);
        long end = face == FACES - 1 ? s->n : lround(before / all * (double)(s->n - FACES)) + face + 1;
        s->patches[face] = end - dealt;
        dealt = end;
    }
}

/* Patch `index`: faces are cut into strips, strips into patches; all patches of a face have the same
 * area. */
static patch patch_at(const slalom *s, long index)
{
    int face = 0;
    for (; index >= s->patches[face]; face++)
        index -= s->patches[face];
    long all = s->patches[face];
    double wide = side(s, face, 0), high = side(s, face, 1);
    long strips = lround(sqrt((double)all * wide / high));
    strips = strips < 1 ? 1 : strips > all ? all : strips;
    long strip = 0;
    while (block_begin(all, strip + 1, strips) <= index)
        strip++;
    long first = block_begin(all, strip, strips), end = block_begin(all, strip + 1, strips);
    double height = high / (double)(end - first);
    patch made = {.face = face,
                  .low = {wide * (double)first / (double)all, height * (double)(index - first)},
                  .high = {wide * (double)end / (double)all, height * (double)(index - first + 1)}};
    return made;
}

static void setup1(slalom *s)
{
    s->own_rows = count_below(s->n, s->i, s->rows);
    s->own_columns = count_below(s->n, s->j, s->columns);
    s->of_row = memory(s->own_rows, sizeof(patch));
    s->of_column = memory(s->own_columns, sizeof(patch));
    s->matrix = memory(s->own_rows * s->own_columns, sizeof(double));
    s->right = memory(s->own_rows * COLOURS, sizeof(double));
    s->solution = memory(s->own_columns * COLOURS, sizeof(double));
    s->pivot = memory(s->own_columns + COLOURS, sizeof(double));
    s->factors = memory(s->own_rows, sizeof(double));
    for (long r = 0; r < s->own_rows; r++)
        s->of_row[r] = patch_at(s, s->i + r * s->rows);
    for (long c = 0; c < s->own_columns; c++)
        s->of_column[c] = patch_at(s, s->j + c * s->columns);
}

static void setup2(slalom *s)
{
    for (long r = 0; r < s->own_rows; r++)
        for (long c = 0; c < s->own_columns; c++)
            s->matrix[r * s->own_columns + c] = form_factor(&s->given.room, &s->of_row[r], &s->of_column[c]);
}

static void setup3(slalom *s)
{
    double *sums = memory(s->own_rows, sizeof *sums);
    for (long r = 0; r < s->own_rows; r++)
        for (long c = 0; c < s->own_columns; c++)
            sums[r] += s->matrix[r * s->own_columns + c];
    MPI_Allreduce(MPI_IN_PLACE, sums, (int)s->own_rows, MPI_DOUBLE, MPI_SUM, s->row);
    for (long r = 0; r < s->own_rows; r++) {
        int face = s->of_row[r].face;
        s->faults += !(fabs(sums[r] - 1.0) <= 1e-12 * (double)s->n);
        for (long c = 0; c < s->own_columns; c++) {
            double *place = &s->matrix[r * s->own_columns + c];
            *place *= -s->given.reflectivity[face];
            if (s->i + r * s->rows == s->j + c * s->columns)
                *place = 1.0; /* a patch does not see itself */
        }
        memcpy(&s->right[r * COLOURS], s->given.emission[face], sizeof s->given.emission[face]);
    }
    free(sums);
}

/* The pivot row from column k on and its right-hand sides go down the columns of the grid. */
static void send_pivot_row(slalom *s, long k, long begin)
{
    int owner = (int)(k % s->rows);
    long count = s->own_columns - begin;
    if (s->i == owner) {
        long r = k / s->rows;
        memcpy(s->pivot, &s->matrix[r * s->own_columns + begin], (size_t)count * sizeof(double));
        memcpy(s->pivot + count, &s->right[r * COLOURS], COLOURS * sizeof(double));
    }
    MPI_Bcast(s->pivot, (int)count + COLOURS, MPI_DOUBLE, owner, s->column);
}

/* The factors of the own rows below k go along the rows of the grid. */
static void send_factors(slalom *s, long k, long first)
{
    int owner = (int)(k % s->columns);
    if (s->j == owner)
        for (long r = first, c = k / s->columns; r < s->own_rows; r++)
            s->factors[r] = s->matrix[r * s->own_columns + c] / s->pivot[0];
    MPI_Bcast(s->factors + first, (int)(s->own_rows - first), MPI_DOUBLE, owner, s->row);
}

static void eliminate(slalom *s, long first, long begin, long behind)
{
    const double *right = s->pivot + s->own_columns - begin;
    for (long r = first; r < s->own_rows; r++) {
        double factor = s->factors[r], *row = &s->matrix[r * s->own_columns];
        for (long c = behind; c < s->own_columns; c++)
            row[c] -= factor * s->pivot[c - begin];
        for (int colour = 0; colour < COLOURS; colour++)
            s->right[r * COLOURS + colour] -= factor * right[colour];
    }
}

static void factor(slalom *s)
{
    for (long k = 0; k < s->n; k++) {
        long first = count_below(k + 1, s->i, s->rows), begin = count_below(k, s->j, s->columns);
        send_pivot_row(s, k, begin);
        send_factors(s, k, first);
        eliminate(s, first, begin, count_below(k + 1, s->j, s->columns));
    }
}

/* The ranks of a grid row each subtract the contribution of their own columns; only their sum matters. */
static void backsolve(slalom *s)
{
    if (s->j != 0)
        memset(s->right, 0, (size_t)(s->own_rows * COLOURS) * sizeof(double));
    for (long k = s->n - 1; k >= 0; k--) {
        int holds_row = s->i == k % s->rows, holds_column = s->j == k % s->columns;
        long r = k / s->rows, c = k / s->columns;
        double sum[COLOURS] = {0}, *x = &s->solution[holds_column ? c * COLOURS : 0];
        if (holds_row)
            MPI_Reduce(&s->right[r * COLOURS], sum, COLOURS, MPI_DOUBLE, MPI_SUM, (int)(k % s->columns),
                       s->row);
        if (!holds_column)
            continue;
        for (int colour = 0; colour < COLOURS && holds_row; colour++)
            x[colour] = sum[colour] / s->matrix[r * s->own_columns + c];
        MPI_Bcast(x, COLOURS, MPI_DOUBLE, (int)(k % s->rows), s->column);
        for (long above = 0, end = count_below(k, s->i, s->rows); above < end; above++)
            for (int colour = 0; colour < COLOURS; colour++)
                s->right[above * COLOURS + colour] -= s->matrix[above * s->own_columns + c] * x[colour];
    }
}

static void solver(slalom *s)
{
    factor(s);
    backsolve(s);
}

static double area(const patch *one)
{
    return (one->high[0] - one->low[0]) * (one->high[1] - one->low[1]);
}

/* Radiosities of the three colours, weighted by the areas of patches. */
static void storer(slalom *s)
{
    double own[COLOURS + 1] = {0}, all[COLOURS + 1];
    for (long c = 0; c < s->own_columns && s->i == 0; c++) {
        double weight = area(&s->of_column[c]);
        own[COLOURS] += weight;
        for (int colour = 0; colour < COLOURS; colour++)
            own[colour] += weight * s->solution[c * COLOURS + colour];
    }
    MPI_Reduce(own, all, COLOURS + 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int colour = 0; colour < COLOURS && s->me.rank == 0; colour++)
        s->mean[colour] = all[colour] / all[COLOURS];
}

static void seven_tasks(slalom *s)
{
    reader(s);
    region(s);
    setup1(s);
    setup2(s);
    setup3(s);
    solver(s);
    storer(s);
}

/* Errors in the first, middle and last own row: emission plus reflected light must give its
 * radiosity. */
static int check(const slalom *s)
{
    double sums[CHECKED * COLOURS] = {0};
    long rows[CHECKED] = {0, s->own_rows / 2, s->own_rows - 1};
    int faults = 0;
    for (int which = 0; which < CHECKED && s->own_rows > 0; which++) {
        const patch *one = &s->of_row[rows[which]];
        for (long c = 0; c < s->own_columns; c++) {
            double part =
                form_factor(&s->given.room, one, &s->of_column[c]) * s->given.reflectivity[one->face];
            int is_itself = s->i + rows[which] * s->rows == s->j + c * s->columns;
            for (int colour = 0; colour < COLOURS; colour++)
                sums[which * COLOURS + colour] += (is_itself - part) * s->solution[c * COLOURS + colour];
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, CHECKED * COLOURS, MPI_DOUBLE, MPI_SUM, s->row);
    for (int which = 0; which < CHECKED && s->own_rows > 0; which++)
        for (int colour = 0; colour < COLOURS; colour++) {
            double emitted = s->given.emission[s->of_row[rows[which]].face][colour];
            faults += !(fabs(sums[which * COLOURS + colour] - emitted) <= 1e-12 * (double)s->n);
        }
    return faults;
}

static double work_of(const slalom *s)
{
    double n = (double)s->n, work = n * n * n * 2.0 / 3.0 + n * n * (2.5 + 3.0 + 2.0) - n * 19.0 / 6.0;
    for (int one = 0; one < FACES; one++)
        for (int other = 0; other < FACES; other++)
            if (one != other)
                work += (double)s->patches[one] * (double)s->patches[other] *
                        (one / 2 == other / 2 ? FLOPS_PARALLEL : FLOPS_PERPENDICULAR);
    return work;
}

int main(int argc, char **argv)
{
    slalom s = {.me = begin(&argc, &argv), .n = number(argc, argv, 1, -1)};
    int is_checked = !given(argc, argv, 2, "unchecked");
    if (s.n < FACES || s.n > 100000 || (argc > 2 && is_checked && !given(argc, argv, 2, "checked")))
        return refuse(s.me, "slalom PATCHES [checked|unchecked], at least 6");
    make_grid(&s);
    seven_tasks(&s);
    s.faults += is_checked ? check(&s) : 0;
    if (s.me.rank == 0)
        printf("%ld patches: mean radiosities %.10g %.10g %.10g, work %.0f flops\n", s.n, s.mean[0],
               s.mean[1], s.mean[2], work_of(&s));
    free(s.of_row);
    free(s.of_column);
    free(s.matrix);
    free(s.right);
    free(s.solution);
    free(s.pivot);
    free(s.factors);
    MPI_Comm_free(&s.row);
    MPI_Comm_free(&s.column);
    return finish(s.me, s.faults);
}

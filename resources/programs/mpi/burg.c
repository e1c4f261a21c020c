/* Burg's algorithm: fits an autoregressive model to a time series (isospeed paper, section IV.B).
 *
 * The series is distributed in blocks (nCUBE 2) or scattered, point t to rank t mod N (MasPar MP-1). Each lag
 * of the main loop has the paper's three phases, each a function of its own:
 *
 *     shift_and_calculate   aligns the backward errors by one point, by a message to the next rank (of one
 *                           number in blocks, of all points if scattered); then sums own products
 *     global_sum            adds up two numbers over all ranks
 *     update                new forward and backward errors of its own points
 *
 * In blocks, messages do not depend on the number of points and the load is balanced: the conditions of
 * Theorem 1.
 *
 *     burg POINTS [LAGS [block|scattered [checked|unchecked]]]
 *
 * Default: 10 lags in blocks; -DSINGLE computes with floats.
 *
 * Work of the sequential algorithm: a point costs 10 flops a lag (6 in the sums: 3 multiplications and 3
 * additions; 4 in the update: 2 and 2), lag m has n - m points, the energy of the series costs 2 flops a
 * point:
 *
 *     W = 2 n + 10 sum(n - m) + sum(2 m + 3), m = 1..M
 *
 * With M = 10 that is 44,470 for n = 440 and 293,350 for n = 2,880: 101.1 and 101.9 per point. N x T x 0.85
 * MFLOPS with the times of Table II is 46,308 (4 nodes) and 291,584 (16 nodes): 4 % more and 0.6 % less.
 *
 * Unless `unchecked`, each rank checks the errors of some of its points, including those at the ends of
 * blocks, against the fitted model applied to the series, and the energy of each lag against the previous
 * one. Printed numbers differ between numbers of ranks only by the order of summation: by 1e-11 of their size
 * (2e-4 with -DSINGLE) up to 1,000 points per rank, and beyond that in proportion to the points.
 */
#include "program.h"
#include <math.h>

#ifdef SINGLE
typedef float real;
#define MPI_REAL_TYPE MPI_FLOAT
static const double near_enough = 2e-4;
#else
typedef double real;
#define MPI_REAL_TYPE MPI_DOUBLE
static const double near_enough = 1e-11;
#endif

enum { MOST_LAGS = 64, SHIFT = 11 };

typedef struct series {
    process me;
    long points;      /* of the whole series */
    long own;         /* of this rank */
    long first, step; /* own point j is point first + j step of the series */
    int is_block;
    int to, from; /* ranks of the shift */
    real *f;      /* forward errors */
    real *b;      /* backward errors; in blocks b[-1] is the previous rank's last one */
    real *late;   /* late[j] is the backward error of the point before own point j */
} series;

typedef struct model {
    int lags;
    double energy[MOST_LAGS + 1]; /* sum of squared errors at the start of lag m */
    double lost[MOST_LAGS + 1];   /* squares of the two errors that lag m drops */
    double k[MOST_LAGS + 1];      /* reflection coefficients */
    double power;                 /* of the model's residual */
    double a[MOST_LAGS + 1];      /* x[t] is about - sum a[i] x[t - i] */
} model;

/* Point t of the series: two triangular waves and noise. */
static real point(long t)
{
    double slow = labs(t % 46 - 23) / 23.0 - 0.5, fast = labs(t % 18 - 9) / 9.0 - 0.5;
    return (real)(slow + 0.5 * fast + 0.1 * scattered((unsigned)t));
}

static void make_series(series *s)
{
    if (s->is_block) {
        s->first = block_begin(s->points, s->me.rank, s->me.ranks);
        s->own = block_begin(s->points, s->me.rank + 1, s->me.ranks) - s->first;
        s->step = 1;
        s->to = s->me.rank + 1 < s->me.ranks ? s->me.rank + 1 : MPI_PROC_NULL;
        s->from = s->me.rank > 0 ? s->me.rank - 1 : MPI_PROC_NULL;
    } else {
        s->first = s->me.rank;
        s->step = s->me.ranks;
        s->own = (s->points - s->first + s->step - 1) / s->step;
        s->to = (s->me.rank + 1) % s->me.ranks;
        s->from = (s->me.rank + s->me.ranks - 1) % s->me.ranks;
    }
    /* one extra place: rank 0 receives, if scattered, what belongs to the next point */
    s->f = memory(s->own, sizeof(real));
    s->b = memory(s->own + 1, sizeof(real));
    s->late = s->is_block ? s->b : memory(s->own + 1, sizeof(real));
    s->b++;
    for (long j = 0; j < s->own; j++)
        s->f[j] = s->b[j] = point(s->first + j * s->step);
}

/* The first own point that takes part in lag m: those before m do not. */
static long begin_of(const series *s, int m)
{
    return m <= s->first ? 0 : (m - s->first + s->step - 1) / s->step;
}

/* Energy of the series. */
static double energy_of(const series *s)
{
    real own = 0;
    for (long j = 0; j < s->own; j++)
        own += s->f[j] * s->f[j];
    double mine = own, sum = 0.0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void shift(series *s)
{
    if (s->is_block) {
        MPI_Sendrecv(&s->b[s->own - 1], 1, MPI_REAL_TYPE, s->to, SHIFT, &s->b[-1], 1, MPI_REAL_TYPE, s->from,
                     SHIFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    /* the points before rank 0's belong to the last rank, one place earlier */
    real *place = s->late + (s->me.rank == 0);
    MPI_Sendrecv(s->b, (int)s->own, MPI_REAL_TYPE, s->to, SHIFT, place, (int)s->own + 1, MPI_REAL_TYPE,
                 s->from, SHIFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Phase 1: alignment, then the two sums over the own points. */
static void shift_and_calculate(series *s, int m, real sums[2])
{
    shift(s);
    real numerator = 0, denominator = 0;
    const real *f = s->f, *late = s->late;
    for (long j = begin_of(s, m); j < s->own; j++) {
        numerator += f[j] * late[j];
        denominator += f[j] * f[j] + late[j] * late[j];
    }
    sums[0] = numerator;
    sums[1] = denominator;
}

/* Phase 2. */
static void global_sum(real sums[2])
{
    real own[2] = {sums[0], sums[1]};
    MPI_Allreduce(own, sums, 2, MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD);
}

/* Phase 3: from the last point down, because in blocks late and b are the same array, shifted by one. */
static void update(series *s, int m, real k)
{
    real *f = s->f, *b = s->b;
    const real *late = s->late;
    for (long j = s->own - 1, first = begin_of(s, m); j >= first; j--) {
        real forward = f[j], backward = late[j];
        f[j] = forward + k * backward;
        b[j] = backward + k * forward;
    }
}

/* Levinson's recursion; every rank computes it for itself. */
static void extend(model *fit, int m, double k)
{
    double before[MOST_LAGS + 1];
    memcpy(before, fit->a, sizeof before);
    for (int i = 1; i < m; i++)
        fit->a[i] = before[i] + k * before[m - i];
    fit->a[m] = k;
    fit->power *= 1.0 - k * k;
}

/* Saves the squares of the two errors that the next lag drops, on the ranks that have them: for the check. */
static void keep_ends(const series *s, model *fit, int m)
{
    long begin = begin_of(s, m), last = s->own - 1;
    if (begin <= last && s->first + begin * s->step == m)
        fit->lost[m] += s->f[begin] * s->f[begin];
    if (s->first + last * s->step == s->points - 1)
        fit->lost[m] += s->b[last] * s->b[last];
}

static void burg(series *s, model *fit)
{
    fit->power = energy_of(s) / (double)s->points;
    for (int m = 1; m <= fit->lags; m++) {
        real sums[2];
        shift_and_calculate(s, m, sums);
        global_sum(sums);
        real k = sums[1] > 0 ? (real)-2 * sums[0] / sums[1] : 0;
        update(s, m, k);
        keep_ends(s, fit, m);
        fit->energy[m] = sums[1];
        fit->k[m] = k;
        extend(fit, m, k);
    }
}

/* Errors at own point j: they must be those of the model applied to the series. */
static int check_point(const series *s, const model *fit, long j)
{
    long t = s->first + j * s->step;
    double forward = point(t), backward = point(t - fit->lags);
    if (t < fit->lags)
        return 0;
    for (int i = 1; i <= fit->lags; i++) {
        forward += fit->a[i] * point(t - i);
        backward += fit->a[i] * point(t - fit->lags + i);
    }
    return !(fabs(forward - s->f[j]) <= 10.0 * near_enough) +
           !(fabs(backward - s->b[j]) <= 10.0 * near_enough);
}

/* The update of a lag removes k^2 of the energy, and the next lag has one point less at either end. */
static int check_energy(const series *s, const model *fit)
{
    double lost[MOST_LAGS + 1],
        rounding = near_enough * (1.0 + (double)s->own / 1000.0); /* long sums lose digits */
    int faults = 0;
    MPI_Allreduce(fit->lost, lost, fit->lags + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int m = 1; m <= fit->lags; m++) {
        double left = fit->energy[m] * (1.0 - fit->k[m] * fit->k[m]) - lost[m];
        faults += !(fabs(fit->k[m]) <= 1.0 + near_enough);
        faults += m < fit->lags && !(fabs(left - fit->energy[m + 1]) <= rounding * fit->energy[1]);
    }
    return faults;
}

static int check(const series *s, const model *fit)
{
    int faults = check_energy(s, fit);
    long stride = s->own / 16 + 1;
    for (long j = 0; j < s->own; j += j < 3 || j >= s->own - 4 ? 1 : stride)
        faults += check_point(s, fit, j);
    return faults + check_point(s, fit, s->own - 1);
}

int main(int argc, char **argv)
{
    series s = {.me = begin(&argc, &argv), .points = number(argc, argv, 1, -1)};
    model fit = {.lags = (int)number(argc, argv, 2, 10)};
    int is_checked = !given(argc, argv, 4, "unchecked");
    s.is_block = argc <= 3 || given(argc, argv, 3, "block");
    if (fit.lags < 1 || fit.lags > MOST_LAGS || s.points <= fit.lags || s.points < s.me.ranks ||
        (!s.is_block && !given(argc, argv, 3, "scattered")) ||
        (argc > 4 && is_checked && !given(argc, argv, 4, "checked")))
        return refuse(s.me, "burg POINTS [LAGS [block|scattered [checked|unchecked]]], up to 64 lags, more "
                            "points than lags, a point a rank");
    make_series(&s);
    burg(&s, &fit);
    int faults = is_checked ? check(&s, &fit) : 0;
    if (s.me.rank == 0) {
        double n = (double)s.points, lags = fit.lags;
        double work = 2.0 * n + 10.0 * (n * lags - lags * (lags + 1.0) / 2.0) + lags * (lags + 4.0);
        printf("%ld points, %d lags: power %.12g, a[1] %.12g, a[%d] %.12g, work %.0f flops\n", s.points,
               fit.lags, fit.power, fit.a[1], fit.lags, fit.a[fit.lags], work);
    }
    if (!s.is_block)
        free(s.late);
    free(s.f);
    free(s.b - 1);
    return finish(s.me, faults);
}

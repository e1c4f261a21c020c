/* Electromagnetic scattering from a conducting plane with two loaded slots, by the method of moments and in
 * data-parallel style (semi-empirical paper, 3.2.3 and 4.3.2: EM on the CM-5).
 *
 * A plane wave falls on the plane y = 0. Its two slots are cut into I and J pulses of equivalent magnetic
 * current; a microwave network behind the plane joins the slots. The voltages of the pulses solve a dense
 * complex system of order I + J; they give the field on a grid of M x N points. Parallel data (I + J pulses,
 * M x N points) are distributed in blocks; ranks without elements idle. Each phase is a function:
 *
 *     imitate_slots         places and widths of the pulses
 *     admittance_matrix     own rows of the equivalent admittance of region A (y > 0), with the network
 *     excitation            what the incident wave does to the own pulses
 *     coefficients          elimination and substitution; the row of each pulse goes to all ranks
 *     strength_matrix       strength of the field at own points of the grid
 *     visualize             largest strength of each of the M columns of the grid, over all ranks
 *
 *     em I J M N
 *
 * The paper has I, J = 5 .. 10 and M, N = 20 .. 256. It says what is computed but gives no equations; we use
 * those of textbooks: a strip of magnetic current on a conducting plane radiates k / 2 H(k r), lengths in
 * wavelengths.
 *
 * Work of the sequential algorithm, with p = I + J: matrix 38 p^2, elimination and substitution 8/3 p^3 +
 * 19/2 p^2 - 7/6 p, field (45 p + 16) M N. A complex product counts 6 flops, a sum 2, a quotient 11, H 32.
 *
 * Each rank checks the equations of its pulses and, by the C library's Bessel functions, the field at some of
 * its points. The printed mean differs between numbers of ranks by 1e-11 of its size, due to the order of
 * summation; the other numbers do not.
 */
#include "program.h"
#include "hankel.h"

enum { MOST_PULSES = 4096 };

static const double wave_number = 6.283185307179586; /* lengths are in wavelengths */
static const double incidence = 0.35;                /* angle to the normal */
static const double slot_middle[2] = {-0.6, 0.7}, slot_width[2] = {0.4, 0.5};

typedef struct scattering {
    process me;
    long in_slot[2], pulses; /* I, J and their sum */
    long columns, points;    /* of the grid: M, and N per column */
    long first, own;         /* pulses of this rank */
    long first_point, own_points;
    double *place;          /* of each pulse */
    double complex *given;  /* own rows of the system, right-hand side last */
    double complex *system; /* the same after elimination */
    double complex *row;    /* of the pulse being eliminated */
    double complex *voltage;
    double *strength; /* at own points */
    double *largest;  /* of each column of the grid */
} scattering;

static int slot_of(const scattering *s, long pulse)
{
    return pulse >= s->in_slot[0];
}

static double width_of(const scattering *s, long pulse)
{
    int slot = slot_of(s, pulse);
    return slot_width[slot] / (double)s->in_slot[slot];
}

static void imitate_slots(scattering *s)
{
    for (long p = 0; p < s->pulses; p++) {
        int slot = slot_of(s, p);
        double number_in_slot = (double)(slot ? p - s->in_slot[0] : p);
        s->place[p] = slot_middle[slot] - 0.5 * slot_width[slot] + (number_in_slot + 0.5) * width_of(s, p);
    }
}

/* Effect of a unit of magnetic current of pulse `from` on pulse `to`, from its middle; on itself: the mean
 * over it. */
static double complex radiated(const scattering *s, long to, long from)
{
    double width = width_of(s, from), distance = fabs(s->place[to] - s->place[from]);
    if (to != from)
        return 0.5 * wave_number * width * hankel(wave_number * distance);
    double logarithm = log(0.25 * 1.781072418 * wave_number * width) - 1.0;
    return 0.5 * wave_number * width * (1.0 - I * 2.0 / acos(-1.0) * logarithm);
}

/* The network: a load in each slot, spread over its pulses, and a line that joins the slots. */
static double complex network(const scattering *s, long to, long from)
{
    double spread = width_of(s, from) / slot_width[slot_of(s, from)];
    return (slot_of(s, to) == slot_of(s, from) ? 0.8 - 0.3 * I : 0.1 + 0.2 * I) * spread;
}

static void admittance_matrix(scattering *s)
{
    for (long r = 0; r < s->own; r++)
        for (long q = 0; q < s->pulses; q++)
            s->given[r * (s->pulses + 1) + q] = radiated(s, s->first + r, q) + network(s, s->first + r, q);
}

static double complex wave(double x)
{
    double angle = wave_number * x * sin(incidence);
    return cos(angle) + I * sin(angle);
}

static void excitation(scattering *s)
{
    for (long r = 0; r < s->own; r++)
        s->given[r * (s->pulses + 1) + s->pulses] = 2.0 * wave(s->place[s->first + r]);
}

static int owner_of(const scattering *s, long pulse)
{
    int owner = 0;
    while (block_begin(s->pulses, owner + 1, s->me.ranks) <= pulse)
        owner++;
    return owner;
}

/* The real part of the matrix is positive definite, so no pivoting is needed. */
static void eliminate(scattering *s, long k)
{
    long width = s->pulses + 1, begin = k + 1 > s->first ? k + 1 - s->first : 0;
    int owner = owner_of(s, k);
    if (s->me.rank == owner)
        memcpy(s->row + k, s->system + (k - s->first) * width + k, (size_t)(width - k) * sizeof *s->row);
    MPI_Bcast(s->row + k, (int)(width - k), MPI_C_DOUBLE_COMPLEX, owner, MPI_COMM_WORLD);
    for (long r = begin; r < s->own; r++) {
        double complex *row = s->system + r * width, factor = row[k] / s->row[k];
        for (long q = k + 1; q < width; q++)
            row[q] -= factor * s->row[q];
    }
}

static void substitute(scattering *s, long k)
{
    long width = s->pulses + 1;
    int owner = owner_of(s, k);
    if (s->me.rank == owner) {
        const double complex *row = s->system + (k - s->first) * width;
        s->voltage[k] = row[s->pulses] / row[k];
    }
    MPI_Bcast(&s->voltage[k], 1, MPI_C_DOUBLE_COMPLEX, owner, MPI_COMM_WORLD);
    for (long r = 0; r < s->own && s->first + r < k; r++)
        s->system[r * width + s->pulses] -= s->system[r * width + k] * s->voltage[k];
}

static void coefficients(scattering *s)
{
    memcpy(s->system, s->given, (size_t)(s->own * (s->pulses + 1)) * sizeof *s->system);
    for (long k = 0; k < s->pulses; k++)
        eliminate(s, k);
    for (long k = s->pulses - 1; k >= 0; k--)
        substitute(s, k);
}

static double x_of(const scattering *s, long point)
{
    return 4.0 * ((double)(point / s->points) + 0.5) / (double)s->columns - 2.0;
}

static double y_of(const scattering *s, long point)
{
    return 0.1 + 4.0 * (double)(point % s->points) / (double)s->points;
}

/* Incident and reflected wave. */
static double complex standing(double x, double y)
{
    return 2.0 * cos(wave_number * y * cos(incidence)) * wave(x);
}

static void strength_matrix(scattering *s)
{
    for (long o = 0; o < s->own_points; o++) {
        double x = x_of(s, s->first_point + o), y = y_of(s, s->first_point + o);
        double complex field = 0.0;
        for (long p = 0; p < s->pulses; p++) {
            double dx = x - s->place[p];
            field -= width_of(s, p) * s->voltage[p] * hankel(wave_number * sqrt(dx * dx + y * y));
        }
        s->strength[o] = cabs(standing(x, y) + 0.5 * wave_number * field);
    }
}

static void visualize(scattering *s)
{
    for (long o = 0; o < s->own_points; o++) {
        double *column = &s->largest[(s->first_point + o) / s->points];
        *column = s->strength[o] > *column ? s->strength[o] : *column;
    }
    MPI_Allreduce(MPI_IN_PLACE, s->largest, (int)s->columns, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void simulate_scattering(scattering *s)
{
    imitate_slots(s);
    admittance_matrix(s);
    excitation(s);
    coefficients(s);
    strength_matrix(s);
    visualize(s);
}

static void deal_out(scattering *s)
{
    long all = s->columns * s->points;
    s->first = block_begin(s->pulses, s->me.rank, s->me.ranks);
    s->own = block_begin(s->pulses, s->me.rank + 1, s->me.ranks) - s->first;
    s->first_point = block_begin(all, s->me.rank, s->me.ranks);
    s->own_points = block_begin(all, s->me.rank + 1, s->me.ranks) - s->first_point;
    s->place = memory(s->pulses, sizeof *s->place);
    s->given = memory(s->own * (s->pulses + 1), sizeof *s->given);
    s->system = memory(s->own * (s->pulses + 1), sizeof *s->system);
    s->row = memory(s->pulses + 1, sizeof *s->row);
    s->voltage = memory(s->pulses, sizeof *s->voltage);
    s->strength = memory(s->own_points, sizeof *s->strength);
    s->largest = memory(s->columns, sizeof *s->largest);
}

/* Errors at own point o, whose field is recomputed by other functions. */
static int check_point(const scattering *s, long o)
{
    double x = x_of(s, s->first_point + o), y = y_of(s, s->first_point + o), size = 0.0;
    double complex field = 0.0;
    for (long p = 0; p < s->pulses; p++) {
        double r = wave_number * hypot(x - s->place[p], y);
        field -= 0.5 * wave_number * width_of(s, p) * s->voltage[p] * (j0(r) - I * y0(r));
        size += wave_number * width_of(s, p) * cabs(s->voltage[p]);
    }
    return !(fabs(cabs(standing(x, y) + field) - s->strength[o]) <= 1e-6 * size);
}

static int check(const scattering *s)
{
    int faults = 0;
    for (long r = 0; r < s->own; r++) {
        const double complex *row = s->given + r * (s->pulses + 1);
        double complex rest = row[s->pulses];
        for (long q = 0; q < s->pulses; q++)
            rest -= row[q] * s->voltage[q];
        faults += !(cabs(rest) <= 1e-11 * (double)s->pulses);
    }
    for (long o = 0; o < s->own_points; o += s->own_points / 8 + 1)
        faults += check_point(s, o);
    for (long o = 0; o < s->own_points; o++)
        faults += !(s->strength[o] <= s->largest[(s->first_point + o) / s->points]);
    return faults;
}

static double work_of(const scattering *s)
{
    double p = (double)s->pulses, grid = (double)s->columns * (double)s->points;
    double work = (FLOPS_HANKEL + 6.0) * p * p + (FLOPS_HANKEL + 13.0) * p * grid + 16.0 * grid;
    for (double below = 0; below < p;
         below++) /* a factor and a product per row; then an unknown and its products */
        work += below * (11.0 + 8.0 * (below + 1.0)) + 11.0 + 8.0 * below;
    return work;
}

static void print_result(const scattering *s)
{
    double own = 0.0, sum = 0.0, most = 0.0, voltage = 0.0;
    for (long o = 0; o < s->own_points; o++)
        own += s->strength[o];
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (long i = 0; i < s->columns; i++)
        most = s->largest[i] > most ? s->largest[i] : most;
    for (long p = 0; p < s->pulses; p++)
        voltage += cabs(s->voltage[p]);
    if (s->me.rank == 0)
        printf("%ld + %ld pulses, %ld x %ld points: mean voltage %.10g, largest strength %.10g, mean %.10g, "
               "work %.0f flops\n",
               s->in_slot[0], s->in_slot[1], s->columns, s->points, voltage / (double)s->pulses, most,
               sum / (double)(s->columns * s->points), work_of(s));
}

int main(int argc, char **argv)
{
    scattering s = {.me = begin(&argc, &argv)};
    s.in_slot[0] = number(argc, argv, 1, -1);
    s.in_slot[1] = number(argc, argv, 2, -1);
    s.columns = number(argc, argv, 3, -1);
    s.points = number(argc, argv, 4, -1);
    s.pulses = s.in_slot[0] + s.in_slot[1];
    if (s.in_slot[0] < 1 || s.in_slot[1] < 1 || s.pulses > MOST_PULSES || s.columns < 1 || s.points < 1 ||
        s.columns > 1 << 20 || s.points > 1 << 20)
        return refuse(s.me, "em I J M N");
    deal_out(&s);
    simulate_scattering(&s);
    int faults = check(&s);
    print_result(&s);
    free(s.place);
    free(s.given);
    free(s.system);
    free(s.row);
    free(s.voltage);
    free(s.strength);
    free(s.largest);
    return finish(s.me, faults);
}

/* Electromagnetic scattering from a conducting plane with two loaded slots, by the method of moments, with
 * threads (semi-empirical paper, 3.2.3, 4.2.3 and Fig. 4: EM on the KSR-1).
 *
 * The physics, the equations and the printed numbers are those of mpi/em.c. Here a single cluster of threads
 * goes through all phases, with a barrier at the end of each; all phases but one are loops distributed in
 * blocks:
 *
 *     imitate_slots         loop over the I + J pulses: their places
 *     admittance_matrix     loop over the (I + J)^2 elements of the equivalent admittance, with the network
 *     coefficients          loop over the pulses: the voltage of each, from a factorisation that every thread
 *                           makes of its own, since so small a system is not worth a barrier a row
 *     strength_matrix       loop over the M x N points of the grid
 *     add_strengths         critical section: each thread adds the sum of its strengths, and its largest
 *     visualize             loop over the points: decibels below the largest strength
 *
 *     em-shared I J M N [verify]     the paper has I, J = 5 .. 10 and M, N = 20 .. 256; with `verify` the
 *                                    equations and the field, by the Bessel functions of the C library, are
 *                                    checked
 *
 * The mean differs between numbers of threads by 1e-11 of its size, due to the order of summation.
 */
#include "mpi/hankel.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PULSES = 4096 };

static const double wave_number = 6.283185307179586; /* lengths are in wavelengths */
static const double incidence = 0.35;                /* angle to the normal */
static const double slot_middle[2] = {-0.6, 0.7}, slot_width[2] = {0.4, 0.5};

typedef struct scattering {
    long in_slot[2], pulses;     /* I, J and their sum */
    long columns, points;        /* of the grid: M, and N per column */
    double *place;               /* of each pulse */
    double complex *admittance;  /* pulses x pulses */
    double complex *voltage;     /* of each pulse */
    double *strength, *decibels; /* at the points of the grid */
    double sum, largest;         /* of all strengths */
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
#pragma omp for schedule(static)
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
#pragma omp for schedule(static)
    for (long cell = 0; cell < s->pulses * s->pulses; cell++) {
        long to = cell / s->pulses, from = cell % s->pulses;
        s->admittance[cell] = radiated(s, to, from) + network(s, to, from);
    }
}

static double complex wave(double x)
{
    double angle = wave_number * x * sin(incidence);
    return cos(angle) + I * sin(angle);
}

static double complex excitation(const scattering *s, long pulse)
{
    return 2.0 * wave(s->place[pulse]);
}

/* Factors the admittance A into L U, in place in the copy `a`. The real part of the matrix is positive
 * definite, so no pivoting is needed. */
static void factorize(double complex *a, long order)
{
    for (long k = 0; k < order; k++)
        for (long r = k + 1; r < order; r++) {
            double complex factor = a[r * order + k] / a[k * order + k];
            a[r * order + k] = factor;
            for (long q = k + 1; q < order; q++)
                a[r * order + q] -= factor * a[k * order + q];
        }
}

/* The voltage of one pulse: the excitation weighted by its row of the inverse, which solves y L U = unit row.
 */
static double complex voltage_of(const scattering *s, const double complex *a, double complex *y, long pulse)
{
    long order = s->pulses;
    double complex voltage = 0.0;
    for (long k = 0; k < order; k++) {
        y[k] = k == pulse;
        for (long q = 0; q < k; q++)
            y[k] -= y[q] * a[q * order + k];
        y[k] /= a[k * order + k];
    }
    for (long k = order - 1; k >= 0; k--) {
        for (long q = k + 1; q < order; q++)
            y[k] -= y[q] * a[q * order + k];
        voltage += y[k] * excitation(s, k);
    }
    return voltage;
}

/* `factors` and `row` are the thread's own memory. */
static void coefficients(scattering *s, double complex *factors, double complex *row)
{
    memcpy(factors, s->admittance, (size_t)(s->pulses * s->pulses) * sizeof *factors);
    factorize(factors, s->pulses);
#pragma omp for schedule(static)
    for (long p = 0; p < s->pulses; p++)
        s->voltage[p] = voltage_of(s, factors, row, p);
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

static void strength_matrix(scattering *s, double *sum, double *largest)
{
#pragma omp for schedule(static)
    for (long point = 0; point < s->columns * s->points; point++) {
        double x = x_of(s, point), y = y_of(s, point);
        double complex field = 0.0;
        for (long p = 0; p < s->pulses; p++) {
            double dx = x - s->place[p];
            field -= width_of(s, p) * s->voltage[p] * hankel(wave_number * sqrt(dx * dx + y * y));
        }
        double strength = s->strength[point] = cabs(standing(x, y) + 0.5 * wave_number * field);
        *sum += strength;
        *largest = strength > *largest ? strength : *largest;
    }
}

static void add_strengths(scattering *s, double sum, double largest)
{
#pragma omp critical
    {
        s->sum += sum;
        s->largest = largest > s->largest ? largest : s->largest;
    }
#pragma omp barrier
}

static void visualize(scattering *s)
{
#pragma omp for schedule(static)
    for (long point = 0; point < s->columns * s->points; point++)
        s->decibels[point] = 20.0 * log10(s->strength[point] / s->largest);
}

static void simulate_scattering(scattering *s)
{
    size_t order = (size_t)s->pulses;
#pragma omp parallel
    {
        double complex *factors = malloc(order * (order + 1) * sizeof *factors);
        double sum = 0.0, largest = 0.0;
        imitate_slots(s);
        admittance_matrix(s);
        coefficients(s, factors, factors + order * order);
        strength_matrix(s, &sum, &largest);
        add_strengths(s, sum, largest);
        visualize(s);
        free(factors);
    }
}

/* Errors at a point, whose field is recomputed by other functions. */
static int check_point(const scattering *s, long point)
{
    double x = x_of(s, point), y = y_of(s, point), size = 0.0;
    double complex field = 0.0;
    for (long p = 0; p < s->pulses; p++) {
        double r = wave_number * hypot(x - s->place[p], y);
        field -= 0.5 * wave_number * width_of(s, p) * s->voltage[p] * (j0(r) - I * y0(r));
        size += wave_number * width_of(s, p) * cabs(s->voltage[p]);
    }
    double expected = cabs(standing(x, y) + field);
    double shown = s->largest * pow(10.0, s->decibels[point] / 20.0);
    return !(fabs(expected - s->strength[point]) <= 1e-6 * size) +
           !(fabs(shown - s->strength[point]) <= 1e-12);
}

static int check(const scattering *s)
{
    int faults = 0;
    double sum = 0.0;
    for (long p = 0; p < s->pulses; p++) {
        double complex rest = excitation(s, p);
        for (long q = 0; q < s->pulses; q++)
            rest -= s->admittance[p * s->pulses + q] * s->voltage[q];
        faults += !(cabs(rest) <= 1e-11 * (double)s->pulses);
    }
    for (long point = 0; point < s->columns * s->points; point++) {
        faults += !(s->strength[point] <= s->largest) + check_point(s, point);
        sum += s->strength[point];
    }
    return faults + !(fabs(sum - s->sum) <= 1e-9 * sum);
}

static void print_result(const scattering *s)
{
    double voltage = 0.0;
    for (long p = 0; p < s->pulses; p++)
        voltage += cabs(s->voltage[p]);
    printf("%ld + %ld pulses, %ld x %ld points: mean voltage %.10g, largest strength %.10g, mean %.10g\n",
           s->in_slot[0], s->in_slot[1], s->columns, s->points, voltage / (double)s->pulses, s->largest,
           s->sum / (double)(s->columns * s->points));
}

int main(int argc, char **argv)
{
    scattering s = {0};
    s.in_slot[0] = argc > 4 ? atol(argv[1]) : 0;
    s.in_slot[1] = argc > 4 ? atol(argv[2]) : 0;
    s.columns = argc > 4 ? atol(argv[3]) : 0;
    s.points = argc > 4 ? atol(argv[4]) : 0;
    s.pulses = s.in_slot[0] + s.in_slot[1];
    if (s.in_slot[0] < 1 || s.in_slot[1] < 1 || s.pulses > MOST_PULSES || s.columns < 1 || s.points < 1 ||
        s.columns > 1 << 15 || s.points > 1 << 15) {
        fprintf(stderr, "usage: %s I J M N [verify]\n", argv[0]);
        return 2;
    }
    size_t order = (size_t)s.pulses, grid = (size_t)(s.columns * s.points);
    s.place = malloc(order * sizeof *s.place);
    s.admittance = malloc(order * order * sizeof *s.admittance);
    s.voltage = malloc(order * sizeof *s.voltage);
    s.strength = malloc(grid * sizeof *s.strength);
    s.decibels = malloc(grid * sizeof *s.decibels);
    simulate_scattering(&s);
    print_result(&s);
    int faults = 0;
    if (argc > 5 && strcmp(argv[5], "verify") == 0) {
        faults = check(&s);
        printf("faults: %d\n", faults);
    }
    free(s.place);
    free(s.admittance);
    free(s.voltage);
    free(s.strength);
    free(s.decibels);
    return faults != 0;
}

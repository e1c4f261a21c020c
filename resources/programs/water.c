/* Water molecules in a periodic box: molecular dynamics in the manner of Splash Water.
 *
 * A molecule is an oxygen and two hydrogen atoms that carry charges and are held together by springs; atoms
 * of different molecules attract and repel one another up to a cut-off distance. Every processor owns a
 * block of molecules and computes the forces between each of them and the half of the others that follow it
 * in the array, so each pair is handled once; the force on the partner, which mostly belongs to another
 * processor, is added under the partner's lock. Forces are summed in fixed point, so their order does not
 * matter.
 *
 * Units: angstrom, atomic mass unit, kJ/mol, hence 0.1 ps; elementary charge.
 *
 *     water MOLECULES STEPS
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OXYGEN, HYDROGEN_1, HYDROGEN_2, ATOMS };

#define SPACING     3.1     /* between molecules at the start: the density of water */
#define TIME_STEP   0.005   /* 0.5 fs */
#define COULOMB     1389.35 /* energy of two elementary charges one angstrom apart */
#define SIGMA       3.166   /* Lennard-Jones distance and energy of two oxygen atoms */
#define EPSILON     0.650
#define BOND        1.0 /* lengths and springs */
#define BOND_SPRING 4637.0
#define SPAN        1.633 /* between the hydrogen atoms */
#define SPAN_SPRING 836.0
#define CUT_OFF     8.5
#define FIXED_POINT 0x1p32

static const double charge[ATOMS] = {-0.82, 0.41, 0.41};
static const double mass[ATOMS] = {15.999, 1.008, 1.008};

typedef struct molecule {
    double position[ATOMS][3];
    double velocity[ATOMS][3];
    int64_t force[ATOMS][3];
    omp_lock_t lock;
} molecule;

typedef struct box {
    int num_molecules;
    double side;
    double cut_off;
    molecule *molecules;
} box;

typedef double forces[ATOMS][3];

/* A number from -0.5 to 0.5. */
static double random_number(unsigned i)
{
    unsigned x = i * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return x * 0x1p-32 - 0.5;
}

static void place_molecule(molecule *m, int i, int per_side)
{
    static const double shape[ATOMS][3] = {
        {0.0, 0.0, 0.0}, {SPAN / 2, 0.57722, 0.0}, {-SPAN / 2, 0.57722, 0.0}};
    int place[3] = {i % per_side, i / per_side % per_side, i / per_side / per_side};
    for (int d = 0; d < 3; d++) {
        double drift = random_number((unsigned)i * 3 + (unsigned)d);
        for (int a = 0; a < ATOMS; a++) {
            m->position[a][d] = (place[d] + 0.5) * SPACING + shape[a][d];
            m->velocity[a][d] = drift;
            m->force[a][d] = 0;
        }
    }
    omp_init_lock(&m->lock);
}

static void initialize(box *b, int num_molecules)
{
    int per_side = 1;
    while (per_side * per_side * per_side < num_molecules)
        per_side++;
    b->num_molecules = num_molecules;
    b->side = per_side * SPACING;
    /* A molecule must not interact with two images of another one. */
    b->cut_off = fmin(CUT_OFF, b->side / 2 - SPAN);
    b->molecules = malloc((size_t)num_molecules * sizeof *b->molecules);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < num_molecules; i++)
        place_molecule(&b->molecules[i], i, per_side);
}

static void add_force(molecule *m, forces added)
{
    omp_set_lock(&m->lock);
    for (int a = 0; a < ATOMS; a++)
        for (int d = 0; d < 3; d++)
            m->force[a][d] += (int64_t)(added[a][d] * FIXED_POINT);
    omp_unset_lock(&m->lock);
}

/* Adds a spring's forces on two atoms; returns its energy. */
static double stretch(const molecule *m, int a, int b, double length, double spring, forces force)
{
    double between[3], square = 0.0;
    for (int d = 0; d < 3; d++) {
        between[d] = m->position[a][d] - m->position[b][d];
        square += between[d] * between[d];
    }
    double distance = sqrt(square);
    double pull = -spring * (distance - length) / distance;
    for (int d = 0; d < 3; d++) {
        force[a][d] += pull * between[d];
        force[b][d] -= pull * between[d];
    }
    return 0.5 * spring * (distance - length) * (distance - length);
}

static double forces_within(const molecule *m, forces force)
{
    return stretch(m, OXYGEN, HYDROGEN_1, BOND, BOND_SPRING, force) +
           stretch(m, OXYGEN, HYDROGEN_2, BOND, BOND_SPRING, force) +
           stretch(m, HYDROGEN_1, HYDROGEN_2, SPAN, SPAN_SPRING, force);
}

/* Energy of two atoms of different molecules, and the force along their distance, divided by it. Charges
 * are screened so that both vanish at the cut-off. */
static double interaction(int a, int b, double square, double cut_off, double *force)
{
    double distance = sqrt(square);
    double product = COULOMB * charge[a] * charge[b];
    double energy = product * (1 / distance - 1 / cut_off + (distance - cut_off) / (cut_off * cut_off));
    double along = product * (1 / square - 1 / (cut_off * cut_off));
    if (a == OXYGEN && b == OXYGEN) {
        double ratio = SIGMA * SIGMA / square;
        double sixth = ratio * ratio * ratio;
        energy += 4 * EPSILON * (sixth * sixth - sixth);
        along += 24 * EPSILON * (2 * sixth * sixth - sixth) / distance;
    }
    *force = along / distance;
    return energy;
}

/* Computes the forces of two molecules on each other. Returns their energy, and whether they are near. */
static double forces_between(const box *b, const molecule *m, const molecule *n, forces on_m, forces on_n,
                             int *near)
{
    double shift[3], apart = 0.0, energy = 0.0;
    for (int d = 0; d < 3; d++) {
        double between = m->position[OXYGEN][d] - n->position[OXYGEN][d];
        shift[d] = -b->side * floor(between / b->side + 0.5); /* to the nearest image */
        apart += (between + shift[d]) * (between + shift[d]);
    }
    *near = 0;
    if (apart > (b->cut_off + 2.5 * BOND) * (b->cut_off + 2.5 * BOND))
        return 0.0;
    for (int i = 0; i < ATOMS; i++)
        for (int j = 0; j < ATOMS; j++) {
            double between[3], square = 0.0, force;
            for (int d = 0; d < 3; d++) {
                between[d] = m->position[i][d] - n->position[j][d] + shift[d];
                square += between[d] * between[d];
            }
            if (square >= b->cut_off * b->cut_off)
                continue;
            energy += interaction(i, j, square, b->cut_off, &force);
            *near = 1;
            for (int d = 0; d < 3; d++) {
                on_m[i][d] += force * between[d];
                on_n[j][d] -= force * between[d];
            }
        }
    return energy;
}

/* Adds up all forces on molecule i, from within it and from those that follow it; returns the energy. */
static double meet_others(const box *b, int i)
{
    int n = b->num_molecules;
    molecule *own = &b->molecules[i];
    forces on_own = {{0.0}};
    double energy = forces_within(own, on_own);
    int others = n % 2 == 1 || i < n / 2 ? n / 2 : n / 2 - 1;
    for (int k = 1; k <= others; k++) {
        molecule *other = &b->molecules[(i + k) % n];
        forces on_other = {{0.0}};
        int near;
        energy += forces_between(b, own, other, on_own, on_other, &near);
        if (near)
            add_force(other, on_other);
    }
    add_force(own, on_own);
    return energy;
}

/* Half a time step of velocity under the forces; returns the kinetic energy. */
static double accelerate(molecule *m)
{
    double energy = 0.0;
    for (int a = 0; a < ATOMS; a++)
        for (int d = 0; d < 3; d++) {
            m->velocity[a][d] += (double)m->force[a][d] / FIXED_POINT / mass[a] * TIME_STEP / 2;
            energy += mass[a] * m->velocity[a][d] * m->velocity[a][d] / 2;
        }
    return energy;
}

static void drift(molecule *m)
{
    for (int a = 0; a < ATOMS; a++)
        for (int d = 0; d < 3; d++) {
            m->position[a][d] += m->velocity[a][d] * TIME_STEP;
            m->force[a][d] = 0;
        }
}

typedef struct energies {
    int64_t potential, kinetic;
} energies;

/* Carries out the steps; `first` and `last` are the energies after the first and last one. */
static void simulate(box *b, int num_steps, energies *first, energies *last)
{
    int64_t potential = 0, kinetic = 0;
    molecule *molecules = b->molecules;
#pragma omp parallel
    for (int step = 0; step < num_steps; step++) {
#pragma omp for schedule(static)
        for (int i = 0; i < b->num_molecules; i++) {
            if (step > 0)
                accelerate(&molecules[i]);
            drift(&molecules[i]);
        }
#pragma omp for schedule(static) reduction(+ : potential)
        for (int i = 0; i < b->num_molecules; i++)
            potential += (int64_t)(meet_others(b, i) * FIXED_POINT);
#pragma omp for schedule(static) reduction(+ : kinetic)
        for (int i = 0; i < b->num_molecules; i++)
            kinetic += (int64_t)(accelerate(&molecules[i]) * FIXED_POINT);
#pragma omp single
        {
            *last = (energies){potential, kinetic};
            if (step == 0)
                *first = *last;
            potential = kinetic = 0;
        }
    }
}

static double kilojoules(int64_t energy)
{
    return (double)energy / FIXED_POINT;
}

/* Prints the energies; returns whether energy or momentum were not conserved. */
static int report(const box *b, int num_steps, energies first, energies last)
{
    double momentum[3] = {0.0}, at_start[3] = {0.0}, weight = mass[0] + mass[1] + mass[2];
    for (int i = 0; i < b->num_molecules; i++)
        for (int d = 0; d < 3; d++) {
            at_start[d] += weight * random_number((unsigned)i * 3 + (unsigned)d);
            for (int a = 0; a < ATOMS; a++)
                momentum[d] += mass[a] * b->molecules[i].velocity[a][d];
        }
    double drifted = kilojoules(last.potential + last.kinetic - first.potential - first.kinetic);
    int wrong = fabs(drifted) > 0.05 * kilojoules(last.kinetic);
    for (int d = 0; d < 3; d++)
        wrong |= fabs(momentum[d] - at_start[d]) > 1e-6 * b->num_molecules;
    printf("%d molecules, %d steps: potential energy %.6f, kinetic energy %.6f\n", b->num_molecules,
           num_steps, kilojoules(last.potential), kilojoules(last.kinetic));
    printf("%s\n", wrong ? "WRONG: energy or momentum changed" : "energy and momentum are conserved");
    return wrong;
}

int main(int argc, char **argv)
{
    box b;
    energies first = {0, 0}, last = {0, 0};
    int num_molecules = argc > 2 ? atoi(argv[1]) : 0;
    int num_steps = argc > 2 ? atoi(argv[2]) : 0;
    if (num_molecules < 9 || num_steps < 1) {
        fprintf(stderr, "usage: %s MOLECULES STEPS     at least 9 molecules\n", argv[0]);
        return 2;
    }
    initialize(&b, num_molecules);
    simulate(&b, num_steps, &first, &last);
    int wrong = report(&b, num_steps, first, last);
    for (int i = 0; i < num_molecules; i++)
        omp_destroy_lock(&b.molecules[i].lock);
    free(b.molecules);
    return wrong;
}

/* Rarefied flow past a block in a wind tunnel: a particle-in-cell code in the manner of MP3D.
 *
 * The tunnel is divided into cells. In a step every molecule flies freely, bounces off walls and the block,
 * and is entered into its cell under the cell's lock; the molecules of a cell collide in pairs, with a
 * probability that grows with their relative speed; then every molecule adds its momentum and energy to its
 * cell's samples, again under the lock. What leaves the tunnel downstream re-enters upstream with the
 * velocity of a molecule of the reservoir, which gets the other's velocity, and the molecules of the
 * reservoir collide with one another. A step has six barriers and takes two locks per molecule.
 *
 * Molecules belong to processors in blocks of the array, wherever they are in the tunnel, and cells in
 * blocks of the tunnel, so cells and molecules keep moving between processors. Samples are in fixed
 * point, and pairs are formed in the order of the molecules' numbers, so nothing depends on who comes
 * first.
 *
 *     rarefied MOLECULES STEPS
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 24, HEIGHT = 14, WIDTH = 7, CELLS = LENGTH * HEIGHT * WIDTH };
enum { BLOCK_BEGIN = 9, BLOCK_END = 12, BLOCK_LOW = 5, BLOCK_HIGH = 9 }; /* along and across the flow */
enum { SAMPLES = 5 };                                                    /* number, momentum, energy */
enum { SHARE = 8 }; /* molecules in the tunnel per molecule in the reservoir */

#define NOBODY      (-1)
#define FLOW        0.4 /* cells in a step */
#define THERMAL     0.1 /* spread of each component of velocity */
#define CROSS       0.3 /* probability of collision at relative speed 1 */
#define TURN        6.28318530717958647692
#define FIXED_POINT 0x1p32 /* 1.0, in samples */

typedef struct molecule {
    double position[3];
    double velocity[3];
    int next; /* in the same cell */
    int cell;
    int left; /* left the tunnel in this step */
} molecule;

typedef struct cell {
    omp_lock_t lock;
    int first; /* its molecules */
    int64_t samples[SAMPLES];
} cell;

typedef struct tunnel {
    int num_molecules;
    molecule *molecules;
    int num_reserve;
    molecule *reserve; /* they have no position */
    cell *cells;
} tunnel;

static const double extent[3] = {LENGTH, HEIGHT, WIDTH};

/* A number from 0 to 1 that depends only on the three arguments. */
static double random_number(unsigned a, unsigned b, unsigned c)
{
    unsigned x = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    x ^= x >> 16;
    return x * 0x1p-32;
}

static int in_block(const double *position)
{
    return position[0] >= BLOCK_BEGIN && position[0] < BLOCK_END && position[1] >= BLOCK_LOW &&
           position[1] < BLOCK_HIGH;
}

static int cell_at(const double *position)
{
    return ((int)position[0] * HEIGHT + (int)position[1]) * WIDTH + (int)position[2];
}

/* Moves a molecule for one step. One that would enter the block stays where it is and reverses. */
static void fly(molecule *m)
{
    double position[3];
    for (int d = 0; d < 3; d++)
        position[d] = m->position[d] + m->velocity[d];
    for (int d = 1; d < 3; d++)
        if (position[d] < 0.0 || position[d] >= extent[d]) {
            position[d] = m->position[d];
            m->velocity[d] = -m->velocity[d];
        }
    m->left = position[0] >= LENGTH;
    if (m->left)
        position[0] -= LENGTH;
    else if (position[0] < 0.0)
        position[0] = fmin(position[0] + LENGTH, nextafter(LENGTH, 0.0));
    if (in_block(position)) {
        int from_front = m->position[0] < BLOCK_BEGIN || m->position[0] >= BLOCK_END;
        int turned = from_front ? 0 : 1;
        m->velocity[turned] = -m->velocity[turned];
        return;
    }
    for (int d = 0; d < 3; d++)
        m->position[d] = position[d];
}

static void enter_cell(tunnel *t, int i)
{
    molecule *m = &t->molecules[i];
    m->cell = cell_at(m->position);
    cell *c = &t->cells[m->cell];
    omp_set_lock(&c->lock);
    m->next = c->first;
    c->first = i;
    omp_unset_lock(&c->lock);
}

/* Links the molecules of a cell in the order of their numbers; returns the first. */
static int in_order(molecule *molecules, int first)
{
    int sorted = NOBODY;
    while (first != NOBODY) {
        int inserted = first, *place = &sorted;
        first = molecules[inserted].next;
        while (*place != NOBODY && *place < inserted)
            place = &molecules[*place].next;
        molecules[inserted].next = *place;
        *place = inserted;
    }
    return sorted;
}

static double relative_speed(const molecule *a, const molecule *b)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++)
        square += (a->velocity[d] - b->velocity[d]) * (a->velocity[d] - b->velocity[d]);
    return sqrt(square);
}

/* Elastic: the relative velocity keeps its length and takes any direction. */
static void collide(molecule *a, molecule *b, double speed, double cosine, double angle)
{
    double sine = sqrt(1.0 - cosine * cosine);
    double direction[3] = {cosine, sine * cos(angle), sine * sin(angle)};
    for (int d = 0; d < 3; d++) {
        double centre = (a->velocity[d] + b->velocity[d]) / 2;
        a->velocity[d] = centre + direction[d] * speed / 2;
        b->velocity[d] = centre - direction[d] * speed / 2;
    }
}

static void collide_in_cell(tunnel *t, int place, int step)
{
    molecule *molecules = t->molecules;
    cell *c = &t->cells[place];
    c->first = in_order(molecules, c->first);
    for (int i = c->first; i != NOBODY && molecules[i].next != NOBODY;) {
        molecule *a = &molecules[i], *b = &molecules[a->next];
        unsigned number = (unsigned)i, time = (unsigned)step;
        double speed = relative_speed(a, b);
        if (random_number(number, time, 1) < CROSS * speed)
            collide(a, b, speed, 2 * random_number(number, time, 2) - 1,
                    TURN * random_number(number, time, 3));
        i = b->next;
    }
}

/* Molecule i of the reservoir serves those of its share of the tunnel's molecules that have left. */
static void exchange_with_reserve(tunnel *t, int i)
{
    int last = i < t->num_reserve - 1 ? (i + 1) * SHARE : t->num_molecules;
    for (int k = i * SHARE; k < last; k++)
        for (int d = 0; d < 3 && t->molecules[k].left; d++) {
            double taken = t->reserve[i].velocity[d];
            t->reserve[i].velocity[d] = t->molecules[k].velocity[d];
            t->molecules[k].velocity[d] = taken;
        }
}

/* Every molecule of the reservoir collides with another in every step, each time a different one. */
static void collide_in_reserve(tunnel *t, int i, int step)
{
    int other = i ^ (1 + step % t->num_reserve);
    if (other <= i || other >= t->num_reserve)
        return;
    unsigned number = (unsigned)(t->num_molecules + i), time = (unsigned)step;
    molecule *a = &t->reserve[i], *b = &t->reserve[other];
    collide(a, b, relative_speed(a, b), 2 * random_number(number, time, 2) - 1,
            TURN * random_number(number, time, 3));
}

static int64_t fixed_point(double value)
{
    return (int64_t)(value * FIXED_POINT);
}

static double energy(const molecule *m)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++)
        square += m->velocity[d] * m->velocity[d];
    return square / 2;
}

static void take_sample(tunnel *t, const molecule *m)
{
    cell *c = &t->cells[m->cell];
    omp_set_lock(&c->lock);
    c->samples[0]++;
    for (int d = 0; d < 3; d++)
        c->samples[1 + d] += fixed_point(m->velocity[d]);
    c->samples[4] += fixed_point(energy(m));
    omp_unset_lock(&c->lock);
}

/* Free stream: the state of molecule `number` before its first collision. */
static void set_velocity(molecule *m, unsigned number)
{
    for (unsigned d = 0; d < 3; d++) {
        double normal = -6.0; /* sum of twelve: nearly normal */
        for (unsigned k = 0; k < 12; k++)
            normal += random_number(number, d, k + 20);
        m->velocity[d] = THERMAL * normal + (d == 0 ? FLOW : 0.0);
    }
}

static void place_molecule(molecule *m, unsigned number)
{
    unsigned attempt = 0;
    do {
        for (unsigned d = 0; d < 3; d++)
            m->position[d] = extent[d] * random_number(number, attempt, d + 10);
        attempt++;
    } while (in_block(m->position));
    set_velocity(m, number);
}

/* Returns the energy of all molecules. */
static int64_t initialize(tunnel *t, int num_molecules)
{
    int64_t sum = 0;
    t->num_molecules = num_molecules;
    t->molecules = malloc((size_t)num_molecules * sizeof *t->molecules);
    t->num_reserve = (num_molecules + SHARE - 1) / SHARE;
    t->reserve = malloc((size_t)t->num_reserve * sizeof *t->reserve);
    t->cells = malloc(CELLS * sizeof *t->cells);
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < CELLS; i++) {
            t->cells[i] = (cell){.first = NOBODY};
            omp_init_lock(&t->cells[i].lock);
        }
#pragma omp for schedule(static) nowait
        for (int i = 0; i < t->num_reserve; i++) {
            set_velocity(&t->reserve[i], (unsigned)(num_molecules + i));
            sum += fixed_point(energy(&t->reserve[i]));
        }
#pragma omp for schedule(static)
        for (int i = 0; i < num_molecules; i++) {
            place_molecule(&t->molecules[i], (unsigned)i);
            sum += fixed_point(energy(&t->molecules[i]));
        }
    }
    return sum;
}

static void simulate(tunnel *t, int num_steps)
{
#pragma omp parallel
    for (int step = 0; step < num_steps; step++) {
#pragma omp for schedule(static)
        for (int i = 0; i < CELLS; i++)
            t->cells[i].first = NOBODY;
#pragma omp for schedule(static)
        for (int i = 0; i < t->num_molecules; i++) {
            fly(&t->molecules[i]);
            enter_cell(t, i);
        }
#pragma omp for schedule(static)
        for (int i = 0; i < CELLS; i++)
            collide_in_cell(t, i, step);
#pragma omp for schedule(static)
        for (int i = 0; i < t->num_molecules; i++)
            take_sample(t, &t->molecules[i]);
#pragma omp for schedule(static)
        for (int i = 0; i < t->num_reserve; i++)
            exchange_with_reserve(t, i);
#pragma omp for schedule(static)
        for (int i = 0; i < t->num_reserve; i++)
            collide_in_reserve(t, i, step);
    }
}

/* Prints how many molecules were seen before the block, behind it, and in total; returns whether molecules
 * or energy were lost. */
static int report(const tunnel *t, int num_steps, int64_t energy_before)
{
    int64_t all = 0, before = 0, behind = 0, momentum = 0, energy_after = 0;
#pragma omp parallel reduction(+ : all, before, behind, momentum, energy_after)
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < CELLS; i++) {
            const int64_t *samples = t->cells[i].samples;
            int along = i / (HEIGHT * WIDTH), across = i / WIDTH % HEIGHT;
            int in_line = across >= BLOCK_LOW && across < BLOCK_HIGH;
            all += samples[0];
            before += in_line && along == BLOCK_BEGIN - 1 ? samples[0] : 0;
            behind += in_line && along == BLOCK_END ? samples[0] : 0;
            momentum += samples[1];
        }
#pragma omp for schedule(static) nowait
        for (int i = 0; i < t->num_reserve; i++)
            energy_after += fixed_point(energy(&t->reserve[i]));
#pragma omp for schedule(static)
        for (int i = 0; i < t->num_molecules; i++)
            energy_after += fixed_point(energy(&t->molecules[i]));
    }
    int wrong = all != (int64_t)t->num_molecules * num_steps ||
                fabs((double)energy_after / (double)energy_before - 1.0) > 1e-8;
    printf("%d molecules, %d steps: %lld before the block, %lld behind it\n", t->num_molecules, num_steps,
           (long long)before, (long long)behind);
    printf("mean velocity %.9f, energy %.9f\n", (double)momentum / FIXED_POINT / (double)all,
           (double)energy_after / FIXED_POINT / (t->num_molecules + t->num_reserve));
    printf("%s\n", wrong ? "WRONG: molecules or energy were lost" : "molecules and energy are conserved");
    return wrong;
}

static void finish(tunnel *t)
{
    for (int i = 0; i < CELLS; i++)
        omp_destroy_lock(&t->cells[i].lock);
    free(t->cells);
    free(t->reserve);
    free(t->molecules);
}

int main(int argc, char **argv)
{
    tunnel t;
    int num_molecules = argc > 2 ? atoi(argv[1]) : 0;
    int num_steps = argc > 2 ? atoi(argv[2]) : 0;
    if (num_molecules < 1 || num_steps < 1) {
        fprintf(stderr, "usage: %s MOLECULES STEPS\n", argv[0]);
        return 2;
    }
    int64_t energy_before = initialize(&t, num_molecules);
    simulate(&t, num_steps);
    int wrong = report(&t, num_steps, energy_before);
    finish(&t);
    return wrong;
}

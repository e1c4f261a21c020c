/* Billiard balls on a line: motions of balls, shared by billiard.c and billiard-linked.c. Nothing here
 * loops or calls, so profiles charge it to the functions that use it. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* A ball moves at constant speed since its last update. */
typedef struct motion {
    double position; /* at the time of its last update */
    double velocity;
    double last_update;
} motion;

static double position_at(const motion *b, double time)
{
    return b->position + b->velocity * (time - b->last_update);
}

/* Collision i of `num_balls` balls: a ball turns round at a wall, two balls exchange their velocities. */
static void exchange_velocities(long i, long num_balls, motion *left, motion *right)
{
    if (i == 0) {
        right->velocity = -right->velocity;
    } else if (i == num_balls) {
        left->velocity = -left->velocity;
    } else {
        double velocity = left->velocity;
        left->velocity = right->velocity;
        right->velocity = velocity;
    }
}

/* A number in [-1, 1) that depends only on i. */
static double hashed(unsigned i)
{
    unsigned random = i * 2654435761u;
    random ^= random >> 15;
    random *= 2246822519u;
    random ^= random >> 13;
    return random / 2147483648.0 - 1.0;
}

/* Sums over all balls that the programs report. */
typedef struct sums {
    double energy, moment;
} sums;

static sums add_ball(sums s, int i, const motion *b, double now)
{
    s.energy += 0.5 * b->velocity * b->velocity;
    s.moment += (b->position + b->velocity * (now - b->last_update)) * (i % 7 + 1);
    return s;
}

/* Billiard balls on a line: a discrete-event simulation of a hard-sphere liquid.
 *
 * The balls have equal mass and move between two walls; an event is a collision of two neighbours
 * (they exchange velocities) or of an outer ball with its wall (it turns round). Future collisions
 * wait in a queue of time bins: each bin covers an equal span of time and keeps its events in
 * increasing order of time, so the events of the bins one after another are in order, too.
 *
 * In parallel, each of N processors takes one of the N earliest collisions and works out what would
 * follow from it. The collisions before the first one that depends on an earlier one (it shares balls
 * with it, or a new collision would come before it) are then carried out side by side. The order of
 * events is that of the sequential simulation, so the result does not depend on N.
 *
 *     billiard NUM_BALLS NUM_STEPS      NUM_STEPS is the number of collisions simulated
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define NUM_BINS 64
#define NO_BIN   (-1)
#define FAR_BIN  NUM_BINS /* beyond the last bin, in no order */

typedef struct ball {
    double position; /* at the time of its last update */
    double velocity;
    double last_update;
} ball;

/* Event i is the next collision of balls i - 1 and i; event 0 and event num_balls are those with the
 * walls. An event that will not happen as things stand is in no bin. */
typedef struct event {
    double time;
    struct event *before, *after;
    int bin;
} event;

typedef struct bin {
    omp_lock_t lock;
    event *first;
} bin;

/* What a processor found out about the collision it took. */
typedef struct candidate {
    event *chosen;
    double time;
    double earliest_new; /* first of the collisions that would follow from it */
} candidate;

typedef struct simulation {
    int num_balls;
    double length, diameter;
    ball *balls;
    event *events;
    bin bins[NUM_BINS + 1];
    double first_time, bin_span; /* of the bins */
    int first_bin;               /* bins before it are empty for good */
    double now;
    long done;
} simulation;

static double position_at(const ball *b, double time)
{
    return b->position + b->velocity * (time - b->last_update);
}

/* Time at which the balls on both sides of event i touch, not before `now`; infinite if they never do.
 * `left` and `right` are their states; a wall has none. */
static double collision_time(const simulation *s, const ball *left, const ball *right, double now)
{
    double gap, closing;
    if (left == NULL) {
        gap = position_at(right, now) - s->diameter / 2;
        closing = -right->velocity;
    } else if (right == NULL) {
        gap = s->length - s->diameter / 2 - position_at(left, now);
        closing = left->velocity;
    } else {
        gap = position_at(right, now) - position_at(left, now) - s->diameter;
        closing = left->velocity - right->velocity;
    }
    if (closing <= 0.0)
        return INFINITY;
    return now + fmax(gap, 0.0) / closing;
}

static ball *left_ball(const simulation *s, long i)
{
    return i == 0 ? NULL : &s->balls[i - 1];
}

static ball *right_ball(const simulation *s, long i)
{
    return i == s->num_balls ? NULL : &s->balls[i];
}

static int comes_before(const event *a, const event *b)
{
    return a->time < b->time || (a->time == b->time && a < b);
}

static int bin_of(const simulation *s, double time)
{
    double offset = (time - s->first_time) / s->bin_span;
    if (offset >= NUM_BINS)
        return FAR_BIN;
    return offset < s->first_bin ? s->first_bin : (int)offset;
}

static void add_time_to_queue(simulation *s, event *e, double time)
{
    e->time = time;
    e->bin = NO_BIN;
    if (isinf(time))
        return;
    e->bin = bin_of(s, time);
    bin *b = &s->bins[e->bin];
    omp_set_lock(&b->lock);
    event *before = NULL, *after = b->first;
    if (e->bin != FAR_BIN)
        while (after != NULL && comes_before(after, e)) {
            before = after;
            after = after->after;
        }
    e->before = before;
    e->after = after;
    if (before != NULL)
        before->after = e;
    else
        b->first = e;
    if (after != NULL)
        after->before = e;
    omp_unset_lock(&b->lock);
}

static void remove_from_queue(simulation *s, event *e)
{
    if (e->bin == NO_BIN)
        return;
    bin *b = &s->bins[e->bin];
    omp_set_lock(&b->lock);
    if (e->before != NULL)
        e->before->after = e->after;
    else
        b->first = e->after;
    if (e->after != NULL)
        e->after->before = e->before;
    e->bin = NO_BIN;
    omp_unset_lock(&b->lock);
}

/* When the bins are used up: opens a new window of time and deals out the far events to its bins. */
static void open_next_window(simulation *s)
{
    while (s->first_bin < NUM_BINS && s->bins[s->first_bin].first == NULL)
        s->first_bin++;
    if (s->first_bin < NUM_BINS)
        return;
    event *far = s->bins[FAR_BIN].first;
    s->bins[FAR_BIN].first = NULL;
    s->first_time = s->now;
    s->first_bin = 0;
    while (far != NULL) {
        event *after = far->after;
        add_time_to_queue(s, far, far->time);
        far = after;
    }
    while (s->first_bin < NUM_BINS && s->bins[s->first_bin].first == NULL)
        s->first_bin++;
}

/* Returns the (rank + 1)th event of the bins, or NULL if they hold fewer. */
static event *select_event(const simulation *s, int rank)
{
    for (int i = s->first_bin; i < NUM_BINS; i++)
        for (event *e = s->bins[i].first; e != NULL; e = e->after)
            if (rank-- == 0)
                return e;
    return NULL;
}

/* The states of the two balls of event i just after their collision. */
static void collide(const simulation *s, long i, double time, ball *left, ball *right)
{
    if (i > 0)
        *left = (ball){position_at(&s->balls[i - 1], time), s->balls[i - 1].velocity, time};
    if (i < s->num_balls)
        *right = (ball){position_at(&s->balls[i], time), s->balls[i].velocity, time};
    if (i == 0) {
        right->velocity = -right->velocity;
    } else if (i == s->num_balls) {
        left->velocity = -left->velocity;
    } else {
        double velocity = left->velocity;
        left->velocity = right->velocity;
        right->velocity = velocity;
    }
}

/* Times of the collisions of both balls with their outer neighbours after event i took place. */
static void following_times(const simulation *s, long i, double time, const ball *left, const ball *right,
                            double *left_time, double *right_time)
{
    *left_time = i > 0 ? collision_time(s, left_ball(s, i - 1), left, time) : INFINITY;
    *right_time = i < s->num_balls ? collision_time(s, right, right_ball(s, i + 1), time) : INFINITY;
}

static void examine(const simulation *s, int rank, candidate *c)
{
    event *e = select_event(s, rank);
    ball left, right;
    double left_time, right_time;

    c->chosen = e;
    if (e == NULL)
        return;
    c->time = e->time;
    collide(s, e - s->events, e->time, &left, &right);
    following_times(s, e - s->events, e->time, &left, &right, &left_time, &right_time);
    c->earliest_new = fmin(left_time, right_time);
}

/* Number of leading candidates that can be carried out side by side. */
static int count_independent(const candidate *candidates, int available)
{
    double earliest_new = INFINITY;
    int k;
    for (k = 0; k < available && candidates[k].chosen != NULL; k++) {
        /* Two collisions share a ball or a neighbour's state if fewer than three places apart. */
        for (int j = 0; j < k; j++)
            if (labs(candidates[k].chosen - candidates[j].chosen) < 3)
                return k;
        if (earliest_new <= candidates[k].time)
            return k;
        earliest_new = fmin(earliest_new, candidates[k].earliest_new);
    }
    return k;
}

static void execute_collision(simulation *s, event *e, double time)
{
    long i = e - s->events;
    ball left, right;
    double left_time, right_time;

    collide(s, i, time, &left, &right);
    following_times(s, i, time, &left, &right, &left_time, &right_time);
    remove_from_queue(s, e);
    if (i > 0) {
        s->balls[i - 1] = left;
        remove_from_queue(s, e - 1);
        add_time_to_queue(s, e - 1, left_time);
    }
    if (i < s->num_balls) {
        s->balls[i] = right;
        remove_from_queue(s, e + 1);
        add_time_to_queue(s, e + 1, right_time);
    }
}

static void simulate(simulation *s, long num_steps)
{
    candidate *candidates = NULL;
#pragma omp parallel
    {
        int self = omp_get_thread_num();
        int processors = omp_get_num_threads();
#pragma omp single
        {
            candidates = malloc((size_t)processors * sizeof *candidates);
            open_next_window(s);
        }
        while (s->done < num_steps) {
            examine(s, self, &candidates[self]);
#pragma omp barrier
            int available = processors < num_steps - s->done ? processors : (int)(num_steps - s->done);
            int k = count_independent(candidates, available);
            if (self < k)
                execute_collision(s, candidates[self].chosen, candidates[self].time);
#pragma omp barrier
#pragma omp master
            {
                s->now = candidates[k - 1].time;
                s->done += k;
                open_next_window(s);
            }
#pragma omp barrier
        }
    }
    free(candidates);
}

static void initialize(simulation *s, int num_balls)
{
    double spacing = 1.0;
    *s = (simulation){.num_balls = num_balls, .length = spacing * num_balls, .diameter = 0.1 * spacing};
    s->balls = malloc((size_t)num_balls * sizeof *s->balls);
    s->events = malloc(((size_t)num_balls + 1) * sizeof *s->events);
    /* A window of a few mean times between collisions of a ball holds most events. */
    s->bin_span = 4.0 * spacing / NUM_BINS;
    for (int i = 0; i <= NUM_BINS; i++)
        omp_init_lock(&s->bins[i].lock);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < num_balls; i++) {
            unsigned random = (unsigned)i * 2654435761u;
            random ^= random >> 15;
            random *= 2246822519u;
            random ^= random >> 13;
            s->balls[i] = (ball){(i + 0.5) * spacing, random / 2147483648.0 - 1.0, 0.0};
        }
#pragma omp for
        for (int i = 0; i <= num_balls; i++)
            add_time_to_queue(s, &s->events[i], collision_time(s, left_ball(s, i), right_ball(s, i), 0.0));
    }
}

static void report(const simulation *s)
{
    double energy = 0.0, moment = 0.0;
    for (int i = 0; i < s->num_balls; i++) {
        energy += 0.5 * s->balls[i].velocity * s->balls[i].velocity;
        moment += position_at(&s->balls[i], s->now) * (i % 7 + 1);
    }
    printf("%d balls, %ld collisions until time %.9f\n", s->num_balls, s->done, s->now);
    printf("kinetic energy %.9f, moment of positions %.9f\n", energy, moment);
}

int main(int argc, char **argv)
{
    static simulation s;
    int num_balls = argc > 2 ? atoi(argv[1]) : 0;
    long num_steps = argc > 2 ? atol(argv[2]) : -1;
    if (num_balls < 1 || num_steps < 0) {
        fprintf(stderr, "usage: %s NUM_BALLS NUM_STEPS\n", argv[0]);
        return 2;
    }
    initialize(&s, num_balls);
    simulate(&s, num_steps);
    report(&s);
    for (int i = 0; i <= NUM_BINS; i++)
        omp_destroy_lock(&s.bins[i].lock);
    free(s.balls);
    free(s.events);
    return 0;
}

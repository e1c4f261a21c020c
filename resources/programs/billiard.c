/* Billiard balls on a line: a discrete-event simulation of a hard-sphere liquid.
 *
 * The balls have equal mass and move between two walls; an event is a collision of two neighbours
 * (they exchange velocities) or of an outer ball with its wall (it turns round). Future
 * collisions wait in a queue of time bins: each bin covers a short time span and links its events
 * in order of increasing time; the bins themselves are also in order of time and are searched in
 * that order.
 *
 * In parallel, each of N processors takes one of the N earliest collisions and determines what would follow
 * from it. The collisions before the first one that depends on an earlier one (it shares balls with it, or a
 * new collision would come before it) are then carried out in parallel. The order of events is that of the
 * sequential simulation, so the result does not depend on N.
 *
 *     billiard NUM_BALLS NUM_STEPS      NUM_STEPS is the number of collisions simulated
 */
#include "billiard.h"

#define NO_BIN (-1)

/* Event i is the next collision of balls i - 1 and i; event 0 and event num_balls are those with the
 * walls. An event that is not expected to happen is in no bin. */
typedef struct event {
    double time;
    struct event *before, *after;
    int bin;
} event;

#define ITEM event
#include "billiard_list.h"

typedef struct bin {
    omp_lock_t lock;
    int count;
    event *first;
} bin;

/* What a processor has determined about its collision. */
typedef struct candidate {
    event *chosen; /* NULL: the bins hold fewer events */
    double time;
    double earliest_new; /* earliest collision that would follow from it */
} candidate;

typedef struct simulation {
    int num_balls;
    double length, diameter;
    motion *balls;
    event *events;
    int num_bins;    /* plus an unordered one for events beyond the last */
    double *bin_end; /* time at which a bin ends */
    bin *bins;
    double bin_span;
    int first_bin; /* bins before it stay empty */
    double now;
} simulation;

/* Time at which the balls on both sides of event i touch, not before `now`; infinite if they never do.
 * `left` and `right` are their states; a wall has none. */
static double collision_time(const simulation *s, const motion *left, const motion *right, double now)
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

static motion *left_ball(const simulation *s, long i)
{
    return i == 0 ? NULL : &s->balls[i - 1];
}

static motion *right_ball(const simulation *s, long i)
{
    return i == s->num_balls ? NULL : &s->balls[i];
}

/* Finds the bin of an event at `time` by searching the bins in order. */
static int bin_of(const simulation *s, double time)
{
    int i = s->first_bin;
    while (i < s->num_bins && s->bin_end[i] <= time)
        i++;
    return i;
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
    if (e->bin < s->num_bins)
        while (after != NULL && comes_before(after, e)) {
            before = after;
            after = after->after;
        }
    link_item(&b->first, e, before, after);
    b->count++;
    omp_unset_lock(&b->lock);
}

static void remove_from_queue(simulation *s, event *e)
{
    if (e->bin == NO_BIN)
        return;
    bin *b = &s->bins[e->bin];
    omp_set_lock(&b->lock);
    unlink_item(&b->first, e);
    b->count--;
    e->bin = NO_BIN;
    omp_unset_lock(&b->lock);
}

static int bins_used_up(const simulation *s)
{
    int i = s->first_bin;
    while (i < s->num_bins && s->bins[i].count == 0)
        i++;
    return i == s->num_bins;
}

static void place_bins(simulation *s, double start)
{
    for (int i = 0; i < s->num_bins; i++)
        s->bin_end[i] = start + (i + 1) * s->bin_span;
    s->first_bin = 0;
}

/* Moves the bins to a later time span and distributes to them the events that were beyond. */
static void open_next_window(simulation *s)
{
    event *far = s->bins[s->num_bins].first;
    s->bins[s->num_bins].first = NULL;
    s->bins[s->num_bins].count = 0;
    place_bins(s, s->now);
    while (far != NULL) {
        event *after = far->after;
        add_time_to_queue(s, far, far->time);
        far = after;
    }
}

/* Returns the (rank + 1)th event of the bins, or NULL if they hold fewer. */
static event *select_event(const simulation *s, int rank)
{
    int i = s->first_bin;
    while (i < s->num_bins && rank >= s->bins[i].count)
        rank -= s->bins[i++].count;
    if (i == s->num_bins)
        return NULL;
    event *e = s->bins[i].first;
    while (rank-- > 0)
        e = e->after;
    return e;
}

/* The states of the two balls of event i just after their collision. */
static void collide(const simulation *s, long i, double time, motion *left, motion *right)
{
    if (i > 0)
        *left = (motion){position_at(&s->balls[i - 1], time), s->balls[i - 1].velocity, time};
    if (i < s->num_balls)
        *right = (motion){position_at(&s->balls[i], time), s->balls[i].velocity, time};
    exchange_velocities(i, s->num_balls, left, right);
}

/* Times of the collisions of both balls with their outer neighbours after event i took place. */
static void following_times(const simulation *s, long i, double time, const motion *left, const motion *right,
                            double *left_time, double *right_time)
{
    *left_time = i > 0 ? collision_time(s, left_ball(s, i - 1), left, time) : INFINITY;
    *right_time = i < s->num_balls ? collision_time(s, right, right_ball(s, i + 1), time) : INFINITY;
}

static void examine(const simulation *s, int rank, candidate *c)
{
    event *e = select_event(s, rank);
    motion left, right;
    double left_time, right_time;

    c->chosen = e;
    if (e == NULL)
        return;
    c->time = e->time;
    collide(s, e - s->events, e->time, &left, &right);
    following_times(s, e - s->events, e->time, &left, &right, &left_time, &right_time);
    c->earliest_new = fmin(left_time, right_time);
}

/* Does the candidate of that rank depend on an earlier one? */
static int is_dependent(const candidate *candidates, int rank)
{
    const candidate *own = &candidates[rank];
    if (own->chosen == NULL)
        return 1;
    for (int j = 0; j < rank; j++) {
        /* Two collisions share a ball or a neighbour's state if fewer than three places apart. */
        if (labs(own->chosen - candidates[j].chosen) < 3 || candidates[j].earliest_new <= own->time)
            return 1;
    }
    return 0;
}

static void execute_collision(simulation *s, event *e, double time)
{
    long i = e - s->events;
    motion left, right;
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
    int first_dependent = 0;
#pragma omp parallel
    {
        int self = omp_get_thread_num();
        int processors = omp_get_num_threads();
        long done = 0;
#pragma omp single
        candidates = malloc((size_t)processors * sizeof *candidates);
        while (done < num_steps) {
#pragma omp single
            {
                if (bins_used_up(s))
                    open_next_window(s);
                while (s->bins[s->first_bin].count == 0)
                    s->first_bin++;
                first_dependent = processors < num_steps - done ? processors : (int)(num_steps - done);
            }
            examine(s, self, &candidates[self]);
#pragma omp barrier
            if (is_dependent(candidates, self)) {
#pragma omp critical(dependence)
                if (self < first_dependent)
                    first_dependent = self;
            }
#pragma omp barrier
            int independent = first_dependent;
            if (self < independent)
                execute_collision(s, candidates[self].chosen, candidates[self].time);
            if (self == independent - 1)
                s->now = candidates[self].time;
            done += independent;
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
    /* The bins cover a few mean times between collisions of a ball; each holds a few events. */
    s->num_bins = num_balls / 2 + 1;
    s->bin_span = 4.0 * spacing / s->num_bins;
    s->bin_end = malloc((size_t)s->num_bins * sizeof *s->bin_end);
    s->bins = malloc(((size_t)s->num_bins + 1) * sizeof *s->bins);
    for (int i = 0; i <= s->num_bins; i++) {
        omp_init_lock(&s->bins[i].lock);
        s->bins[i].first = NULL;
        s->bins[i].count = 0;
    }
    place_bins(s, 0.0);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < num_balls; i++) {
            s->balls[i] = (motion){(i + 0.5) * spacing, hashed((unsigned)i), 0.0};
        }
#pragma omp for
        for (int i = 0; i <= num_balls; i++)
            add_time_to_queue(s, &s->events[i], collision_time(s, left_ball(s, i), right_ball(s, i), 0.0));
    }
}

static void finish(simulation *s)
{
    for (int i = 0; i <= s->num_bins; i++)
        omp_destroy_lock(&s->bins[i].lock);
    free(s->bins);
    free(s->bin_end);
    free(s->events);
    free(s->balls);
}

static void report(const simulation *s, long num_steps)
{
    sums all = {0.0, 0.0};
    for (int i = 0; i < s->num_balls; i++)
        all = add_ball(all, i, &s->balls[i], s->now);
    printf("%d balls, %ld collisions until time %.9f\n", s->num_balls, num_steps, s->now);
    printf("kinetic energy %.9f, moment of positions %.9f\n", all.energy, all.moment);
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
    report(&s, num_steps);
    finish(&s);
    return 0;
}

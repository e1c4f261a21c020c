/* Billiard balls on a line, closer to section 5 of the Scale-Graph paper than billiard.c, with the same
 * result.
 *
 * A ball with its event and its share of the bins takes 960 bytes. The bins are records linked in order of
 * time, each with its own range and lock: narrow ones for the near future, then ever wider ones, so that no
 * bin holds everything in the far future. Every processor determines by itself how many collisions are
 * independent.
 *
 *     billiard-linked NUM_BALLS NUM_STEPS [MEETINGS [SPACE DIAMETER JITTER SPEED]]
 *
 * MEETINGS of all processors per iteration: 2, or 1, at which the last to arrive selects the collisions for
 * all. SPACE: length of the moving space per ball; DIAMETER of a ball; JITTER: how far the first positions
 * deviate from even ones, as a fraction of the free room (0 to 1); SPEED: maximum initial speed.
 */
#include "billiard.h"

enum { BALL_BYTES = 928, BIN_BYTES = 64, BALLS_PER_BIN = 2, WIDE_BINS = 256 };

typedef struct bin bin;

/* Ball i and its collision with ball i - 1; ball 0 collides with the wall, and the record after the
 * last ball holds the collision with the other wall. A collision that is not expected to happen is in
 * no bin. */
typedef struct ball {
    double position; /* at the time of its last update */
    double velocity;
    double last_update;
    double time; /* of the collision */
    struct ball *before, *after;
    bin *in;
    char more[BALL_BYTES - 7 * 8]; /* other data that the paper's program keeps for a ball */
} ball;

#define ITEM ball
#include "billiard_list.h"

struct bin {
    omp_lock_t lock;
    int count;
    double end; /* time at which its range ends */
    ball *first;
    bin *after;
    char more[BIN_BYTES - 3 * 8 - sizeof(omp_lock_t) - 8];
};

/* What is known about a collision that one processor could carry out. */
typedef struct candidate {
    ball *chosen; /* NULL: the narrow bins hold fewer */
    double time;
    double earliest_new; /* earliest collision that would follow from it */
} candidate;

typedef struct simulation {
    int num_balls, num_bins;
    double space, diameter, bin_span;
    ball *balls;
    bin *bins, *first; /* bins before `first` stay empty */
    double now;
    int arrived, round, independent; /* for one meeting per iteration */
    candidate *candidates;
} simulation;

static motion motion_of(const ball *b)
{
    return (motion){b->position, b->velocity, b->last_update};
}

/* Time of the touch of collision i, not before `now`; infinite if never. */
static double touch_time(const simulation *s, long i, const motion *left, const motion *right, double now)
{
    double gap, closing;
    if (i == 0) {
        gap = position_at(right, now) - s->diameter / 2;
        closing = -right->velocity;
    } else if (i == s->num_balls) {
        gap = s->space * s->num_balls - s->diameter / 2 - position_at(left, now);
        closing = left->velocity;
    } else {
        gap = position_at(right, now) - position_at(left, now) - s->diameter;
        closing = left->velocity - right->velocity;
    }
    return closing <= 0.0 ? INFINITY : now + fmax(gap, 0.0) / closing;
}

static void add_time_to_queue(simulation *s, ball *e, double time)
{
    e->time = time;
    e->in = NULL;
    if (isinf(time))
        return;
    bin *b = s->first;
    while (b->end <= time)
        b = b->after;
    e->in = b;
    omp_set_lock(&b->lock);
    ball *before = NULL, *after = b->first;
    while (after != NULL && comes_before(after, e)) {
        before = after;
        after = after->after;
    }
    link_item(&b->first, e, before, after);
    b->count++;
    omp_unset_lock(&b->lock);
}

static void remove_from_queue(ball *e)
{
    bin *b = e->in;
    if (b == NULL)
        return;
    omp_set_lock(&b->lock);
    unlink_item(&b->first, e);
    b->count--;
    e->in = NULL;
    omp_unset_lock(&b->lock);
}

static void place_bins(simulation *s, double start)
{
    double reach = 0.0;
    for (int i = 0; i < s->num_bins; i++) {
        if (i < s->num_bins - WIDE_BINS)
            reach = (i + 1) * s->bin_span;
        else
            reach *= 1.0625;
        s->bins[i].end = i == s->num_bins - 1 ? INFINITY : start + reach;
        s->bins[i].after = i == s->num_bins - 1 ? NULL : &s->bins[i + 1];
    }
    s->first = s->bins;
}

static bin *first_filled(const simulation *s)
{
    bin *b = s->first;
    while (b != NULL && b->count == 0)
        b = b->after;
    return b;
}

static int is_narrow(const simulation *s, const bin *b)
{
    return b != NULL && b - s->bins < s->num_bins - WIDE_BINS;
}

/* Recomputes the ranges of all bins from the present on and distributes the contents of wide ones to them. */
static void open_next_window(simulation *s)
{
    ball *far = NULL;
    for (bin *b = s->bins; b != NULL; b = b->after) {
        while (b->first != NULL) {
            ball *e = b->first;
            b->first = e->after;
            e->after = far;
            far = e;
        }
        b->count = 0;
    }
    place_bins(s, s->now);
    while (far != NULL) {
        ball *after = far->after;
        add_time_to_queue(s, far, far->time);
        far = after;
    }
}

/* Returns the (rank + 1)th event of the narrow bins, or NULL if they hold fewer. */
static ball *select_event(const simulation *s, int rank)
{
    bin *b = first_filled(s);
    while (is_narrow(s, b) && rank >= b->count) {
        rank -= b->count;
        b = b->after;
    }
    if (!is_narrow(s, b))
        return NULL;
    ball *e = b->first;
    while (rank-- > 0)
        e = e->after;
    return e;
}

/* The motions of the two balls of collision i just after it, and when they touch their outer neighbours. */
static void collide(const simulation *s, long i, double time, motion *left, motion *right, double *left_time,
                    double *right_time)
{
    *left_time = *right_time = INFINITY;
    if (i > 0) {
        *left = motion_of(&s->balls[i - 1]);
        *left = (motion){position_at(left, time), left->velocity, time};
    }
    if (i < s->num_balls) {
        *right = motion_of(&s->balls[i]);
        *right = (motion){position_at(right, time), right->velocity, time};
    }
    exchange_velocities(i, s->num_balls, left, right);
    if (i > 0) {
        motion outer = i > 1 ? motion_of(&s->balls[i - 2]) : *left;
        *left_time = touch_time(s, i - 1, &outer, left, time);
    }
    if (i < s->num_balls) {
        motion outer = i < s->num_balls - 1 ? motion_of(&s->balls[i + 1]) : *right;
        *right_time = touch_time(s, i + 1, right, &outer, time);
    }
}

static void examine(const simulation *s, ball *e, candidate *c)
{
    motion left, right;
    double left_time, right_time;
    c->chosen = e;
    if (e == NULL)
        return;
    c->time = e->time;
    collide(s, e - s->balls, e->time, &left, &right, &left_time, &right_time);
    c->earliest_new = fmin(left_time, right_time);
}

/* How many of the candidates do not depend on an earlier one: they share no ball or neighbour's motion
 * with it (are at least three places apart), and no collision that would follow from it comes before them. */
static int count_independent(const candidate *candidates, int most)
{
    for (int rank = 1; rank < most; rank++) {
        const candidate *own = &candidates[rank];
        if (own->chosen == NULL)
            return rank;
        for (int j = 0; j < rank; j++)
            if (labs(own->chosen - candidates[j].chosen) < 3 || candidates[j].earliest_new <= own->time)
                return rank;
    }
    return most;
}

static void execute_collision(simulation *s, ball *e, double time)
{
    long i = e - s->balls;
    motion left, right;
    double left_time, right_time;
    collide(s, i, time, &left, &right, &left_time, &right_time);
    remove_from_queue(e);
    e->time = INFINITY;
    if (i > 0) {
        ball *b = &s->balls[i - 1];
        b->position = left.position;
        b->velocity = left.velocity;
        b->last_update = left.last_update;
        remove_from_queue(b);
        add_time_to_queue(s, b, left_time);
    }
    if (i < s->num_balls) {
        e->position = right.position;
        e->velocity = right.velocity;
        e->last_update = right.last_update;
        remove_from_queue(e + 1);
        add_time_to_queue(s, e + 1, right_time);
    }
}

/* Everybody meets; the last to arrive selects the collisions for all and releases them. */
static void meet_and_select(simulation *s, int processors, int most, int round)
{
    int arrived, seen;
#pragma omp atomic capture
    arrived = ++s->arrived;
    if (arrived == processors) {
        s->arrived = 0;
        if (!is_narrow(s, first_filled(s)))
            open_next_window(s);
        s->first = first_filled(s);
        for (int rank = 0; rank < most; rank++)
            examine(s, select_event(s, rank), &s->candidates[rank]);
        s->independent = count_independent(s->candidates, most);
#pragma omp atomic write seq_cst
        s->round = round + 1;
        return;
    }
    do {
#pragma omp atomic read seq_cst
        seen = s->round;
    } while (seen == round);
}

/* Each processor examines one collision and, once all have done so, determines how many are independent. */
static int examine_and_meet(simulation *s, int self, int most)
{
    if (!is_narrow(s, first_filled(s))) { /* same result for all */
#pragma omp barrier
#pragma omp master
        open_next_window(s);
#pragma omp barrier
    }
    examine(s, select_event(s, self), &s->candidates[self]);
#pragma omp barrier
    return count_independent(s->candidates, most);
}

static void simulate(simulation *s, long num_steps, int meetings)
{
#pragma omp parallel
    {
        int self = omp_get_thread_num();
        int processors = omp_get_num_threads();
        long done = 0;
        int round = 0;
#pragma omp single
        s->candidates = malloc((size_t)processors * sizeof *s->candidates);
        while (done < num_steps) {
            int most = processors < num_steps - done ? processors : (int)(num_steps - done);
            int independent;
            if (meetings == 1) {
                meet_and_select(s, processors, most, round++);
                independent = s->independent;
            } else {
                independent = examine_and_meet(s, self, most);
            }
            double time = self < independent ? s->candidates[self].time : 0.0;
            if (self < independent)
                execute_collision(s, s->candidates[self].chosen, time);
            if (self == independent - 1)
                s->now = time;
            done += independent;
            if (meetings != 1) {
#pragma omp barrier
            }
        }
    }
    free(s->candidates);
}

static void initialize(simulation *s, double jitter, double speed)
{
    int narrow = s->num_balls / BALLS_PER_BIN + 1;
    s->balls = calloc((size_t)s->num_balls + 1, sizeof *s->balls);
    /* The narrow bins cover a few mean times between collisions of a ball; each holds a few events. */
    s->num_bins = narrow + WIDE_BINS;
    s->bin_span = 4.0 * s->space / speed / narrow;
    s->bins = calloc((size_t)s->num_bins, sizeof *s->bins);
    for (int i = 0; i < s->num_bins; i++)
        omp_init_lock(&s->bins[i].lock);
    place_bins(s, 0.0);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < s->num_balls; i++) {
            double moved = 0.5 * jitter * (s->space - s->diameter) * hashed((unsigned)i + 77777777u);
            s->balls[i].position = (i + 0.5) * s->space + moved;
            s->balls[i].velocity = speed * hashed((unsigned)i);
        }
#pragma omp for
        for (int i = 0; i <= s->num_balls; i++) {
            motion left = motion_of(&s->balls[i > 0 ? i - 1 : 0]), right = motion_of(&s->balls[i]);
            add_time_to_queue(s, &s->balls[i], touch_time(s, i, &left, &right, 0.0));
        }
    }
}

static void report(const simulation *s, long num_steps)
{
    sums all = {0.0, 0.0};
    for (int i = 0; i < s->num_balls; i++) {
        motion b = motion_of(&s->balls[i]);
        all = add_ball(all, i, &b, s->now);
    }
    printf("%d balls, %ld collisions until time %.9f\n", s->num_balls, num_steps, s->now);
    printf("kinetic energy %.9f, moment of positions %.9f\n", all.energy, all.moment);
}

static double argument(int argc, char **argv, int i, double otherwise)
{
    return argc > i ? atof(argv[i]) : otherwise;
}

int main(int argc, char **argv)
{
    static simulation s;
    s.num_balls = argc > 2 ? atoi(argv[1]) : 0;
    long num_steps = argc > 2 ? atol(argv[2]) : -1;
    int meetings = (int)argument(argc, argv, 3, 2);
    s.space = argument(argc, argv, 4, 1.0);
    s.diameter = argument(argc, argv, 5, 0.1);
    double jitter = argument(argc, argv, 6, 0.0), speed = argument(argc, argv, 7, 1.0);
    if (s.num_balls < 1 || num_steps < 0 || meetings < 1 || meetings > 2 || s.diameter <= 0.0 ||
        s.space <= s.diameter || jitter < 0.0 || jitter > 1.0 || speed <= 0.0) {
        fprintf(stderr, "usage: %s NUM_BALLS NUM_STEPS [1|2 [SPACE DIAMETER JITTER SPEED]]\n", argv[0]);
        return 2;
    }
    initialize(&s, jitter, speed);
    simulate(&s, num_steps, meetings);
    report(&s, num_steps);
    for (int i = 0; i < s.num_bins; i++)
        omp_destroy_lock(&s.bins[i].lock);
    free(s.bins);
    free(s.balls);
    return 0;
}

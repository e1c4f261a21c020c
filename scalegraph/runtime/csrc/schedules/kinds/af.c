/* Adaptive factoring: batch sizes from the mean and variance of iteration times that each member measures. */
#include <math.h>

#include "sg_central.h"

enum { COUNT, MEAN, SQUARES }; /* of a member, published on its line as bits of real numbers */
enum { FIRST_CHUNK = 10 };     /* iterations before anything is known */

static uint32_t member_words(const schedule_loop *loop)
{
    return loop->line_words;
}

static void enter(schedule_loop *loop, schedule_member *member)
{
    schedule_write(loop, &schedule_area(loop, member->number)[COUNT], 0);
}

/* Welford's algorithm for mean and variance. */
static void done(schedule_loop *loop, schedule_member *member, const schedule_chunk *chunk, uint64_t count,
                 uint64_t ticks)
{
    (void)chunk, (void)count;
    double *real = member->real, before = real[MEAN];
    int64_t *area = schedule_area(loop, member->number);
    real[COUNT]++;
    real[MEAN] += ((double)ticks - before) / real[COUNT];
    real[SQUARES] += ((double)ticks - before) * ((double)ticks - real[MEAN]);
    schedule_write(loop, &area[MEAN], schedule_bits(real[MEAN]));
    schedule_write(loop, &area[SQUARES], schedule_bits(real[SQUARES]));
    schedule_write(loop, &area[COUNT], (int64_t)real[COUNT]);
}

static uint64_t size(schedule_loop *loop, schedule_member *member, uint64_t left)
{
    double d = 0, speed = 0;
    uint32_t measured = 0;
    for (uint32_t i = 0; i < loop->members; i++) {
        const int64_t *area = schedule_area(loop, i);
        int64_t count = schedule_read(loop, &area[COUNT]);
        if (count < 2)
            continue;
        double mean = schedule_real(schedule_read(loop, &area[MEAN]));
        mean = mean > 0 ? mean : 1;
        d += schedule_real(schedule_read(loop, &area[SQUARES])) / ((double)count - 1) / mean;
        speed += 1 / mean;
        measured++;
    }
    if (member->real[COUNT] < 2 || speed <= 0)
        return schedule_least(FIRST_CHUNK, schedule_ceil(left, 2 * (uint64_t)loop->members));
    double all =
        (double)loop->members / measured; /* assumes the others to be like those that have measured */
    d *= all;
    double t = (double)left / (speed * all), own = member->real[MEAN] > 0 ? member->real[MEAN] : 1;
    double wanted = (d + 2 * t - sqrt(d * d + 4 * d * t)) / (2 * own);
    return wanted > 1 ? (uint64_t)ceil(wanted) : 1;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    bool found = central_next(loop, member, size, chunk);
    chunk->single = true; /* each iteration is timed */
    return found;
}

SCHEDULE(.name = "AF",
         .title = "adaptive factoring: by measured mean and variance of each member's iterations",
         .reference = "Banicescu, Liu, 2000", .member_words = member_words, .enter = enter, .done = done,
         CENTRAL_SCHEDULE);

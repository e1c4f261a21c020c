/* Affinity scheduling with a dynamic initial partition: the next execution starts with shares that would have
 * taken equal time in this one. */
#include "sg_learned.h"

/* Boundaries of the shares from the previous execution, followed by room to sort the ranges. */
static uint32_t shared_words(const schedule_loop *loop)
{
    return loop->members + 1 + loop->members * LOG_MOST * RANGE_WORDS;
}

static void partition(schedule_loop *loop, uint32_t member, uint64_t *first, uint64_t *last)
{
    if (loop->executions == 0) {
        queue_share(loop, member, first, last);
        return;
    }
    *first = (uint64_t)schedule_read(loop, &loop->shared[member]);
    *last = (uint64_t)schedule_read(loop, &loop->shared[member + 1]);
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return queue_next(loop, member->number, loop->members, partition, chunk);
}

/* Reads all logs; returns the number of ranges. */
static int64_t gather(schedule_loop *loop, int64_t *all, double *total)
{
    int64_t ranges = 0;
    for (uint32_t i = 0; i < loop->members; i++) {
        int64_t *log = learned_log(loop, i), number = schedule_read(loop, log);
        for (int64_t j = 0; j < number; j++, ranges++)
            for (int k = 0; k < RANGE_WORDS; k++)
                all[ranges * RANGE_WORDS + k] = schedule_read(loop, &learned_range(log, j)[k]);
    }
    for (int64_t i = 0; i < ranges; i++)
        *total += (double)all[i * RANGE_WORDS + RANGE_TICKS];
    return ranges;
}

static void swap(int64_t *a, int64_t *b)
{
    for (int k = 0; k < RANGE_WORDS; k++) {
        int64_t before = a[k];
        a[k] = b[k];
        b[k] = before;
    }
}

/* Shell sort by first iteration; each comparison is an instruction of the simulated machine. */
static void sort(schedule_loop *loop, int64_t *all, int64_t ranges)
{
    uint64_t comparisons = 0;
    for (int64_t gap = ranges / 2; gap > 0; gap /= 2)
        for (int64_t i = gap; i < ranges; i++)
            for (int64_t j = i - gap; j >= 0; j -= gap, comparisons++) {
                int64_t *a = all + j * RANGE_WORDS, *b = a + gap * RANGE_WORDS;
                if (a[RANGE_FIRST] <= b[RANGE_FIRST])
                    break;
                swap(a, b);
            }
    loop->host->work(loop, comparisons + (uint64_t)ranges);
}

/* New boundaries at equal distances in time. */
static void end(schedule_loop *loop)
{
    double total = 0, before = 0;
    int64_t *all = loop->shared + loop->members + 1, ranges = gather(loop, all, &total);
    uint32_t made = 1;
    sort(loop, all, ranges);
    for (const int64_t *r = all; r < all + ranges * RANGE_WORDS; r += RANGE_WORDS) {
        double ticks = (double)r[RANGE_TICKS];
        for (; made < loop->members && before + ticks >= total * made / loop->members; made++) {
            double part = ticks > 0 ? (total * made / loop->members - before) / ticks : 0;
            schedule_write(loop, &loop->shared[made],
                           r[RANGE_FIRST] + (int64_t)(part * (double)r[RANGE_COUNT] + 0.5));
        }
        before += ticks;
    }
    for (; made < loop->members; made++)
        schedule_write(loop, &loop->shared[made], (int64_t)loop->iterations);
    schedule_write(loop, &loop->shared[0], 0);
    schedule_write(loop, &loop->shared[loop->members], (int64_t)loop->iterations);
}

SCHEDULE(.name = "SE", .family = "affinity",
         .title = "affinity, with shares of equal time by the execution before",
         .reference = "Subramaniam, Eager, 1994", .shared_words = shared_words, .member_words = learned_words,
         .enter = learned_enter, .next = next, .done = learned_done, .end = end);

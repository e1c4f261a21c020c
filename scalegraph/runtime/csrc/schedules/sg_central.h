/* Shared by schedules with one queue for all members: a line with a lock, the position of the queue and a few
 * more numbers. */
#ifndef SG_CENTRAL_H
#define SG_CENTRAL_H

#include "scalegraph_schedule.h"

enum { CENTRAL_LOCK, CENTRAL_POSITION, CENTRAL_A, CENTRAL_B, CENTRAL_C, CENTRAL_WORDS };

static inline uint32_t central_words(const schedule_loop *loop)
{
    (void)loop;
    return CENTRAL_WORDS;
}

static inline void central_begin(schedule_loop *loop)
{
    for (unsigned i = CENTRAL_POSITION; i < CENTRAL_WORDS; i++)
        schedule_write(loop, &loop->shared[i], 0);
}

/* How many iterations to take when `left` are left; the lock is held. At least 1 is taken. */
typedef uint64_t (*central_size)(schedule_loop *loop, schedule_member *member, uint64_t left);

static inline bool central_next(schedule_loop *loop, schedule_member *member, central_size size,
                                schedule_chunk *chunk)
{
    int64_t *shared = loop->shared;
    schedule_lock(loop, &shared[CENTRAL_LOCK]);
    uint64_t first = (uint64_t)schedule_read(loop, &shared[CENTRAL_POSITION]),
             left = loop->iterations - first;
    if (left > 0) {
        uint64_t wanted = size(loop, member, left);
        wanted = wanted > loop->chunk ? wanted : loop->chunk; /* the user's chunk is the minimum */
        wanted = wanted > 0 ? schedule_least(wanted, left) : 1;
        schedule_write(loop, &shared[CENTRAL_POSITION], (int64_t)(first + wanted));
        *chunk = (schedule_chunk){.first = first, .count = wanted, .step = 1, .owner = UINT32_MAX};
    }
    schedule_unlock(loop, &shared[CENTRAL_LOCK]);
    return left > 0;
}

/* Batches: the next P chunks have one size, which `batch` computes from what is left. */
static inline uint64_t central_batch(schedule_loop *loop, uint64_t left,
                                     double (*batch)(schedule_loop *loop, uint64_t left, uint64_t number))
{
    int64_t *shared = loop->shared;
    int64_t taken = schedule_read(loop, &shared[CENTRAL_A]); /* chunks so far */
    schedule_write(loop, &shared[CENTRAL_A], taken + 1);
    if (taken % loop->members == 0) {
        double wanted = batch(loop, left, (uint64_t)taken / loop->members);
        uint64_t whole = wanted<1 ? 1 : wanted>(double) left ? left : (uint64_t)__builtin_ceil(wanted);
        schedule_write(loop, &shared[CENTRAL_B], (int64_t)whole);
    }
    return (uint64_t)schedule_read(loop, &shared[CENTRAL_B]);
}

/* Variation of the iterations' times, if the user knows it. */
#define CENTRAL_VARIATION                                                                                    \
    {.name = "variation",                                                                                    \
     .value = "1",                                                                                           \
     .least = 0,                                                                                             \
     .most = 1e6,                                                                                            \
     .help = "standard deviation of an iteration's time over its mean"}

#define CENTRAL_SCHEDULE                                                                                     \
    .family = "central queue", .shared_words = central_words, .begin = central_begin, .next = next

#endif

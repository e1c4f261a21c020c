/* Shared by affinity schedules: a queue of iterations per member, in its own memory. A member takes from the
 * front of its own queue, and when that is empty from the back of the fullest one. Each queue with its lock,
 * and each speed counter, is on its own line. Source: Yan, Jin, Zhang, "Adaptively Scheduling Parallel Loops
 * in Distributed Shared-Memory Systems", 1997, section 2. */
#ifndef SG_QUEUES_H
#define SG_QUEUES_H

#include "scalegraph_schedule.h"

/* Words of the first line of a member's area. */
enum { QUEUE_LOCK, QUEUE_FIRST, QUEUE_LAST, QUEUE_FILLED, QUEUE_WORDS };

static inline uint32_t queue_words(const schedule_loop *loop)
{
    return 3 * loop->line_words; /* queue, speed, control */
}

static inline int64_t *queue_of(const schedule_loop *loop, uint32_t member)
{
    return schedule_area(loop, member);
}

/* s_i: iterations that the member has finished in this execution. */
static inline int64_t *speed_of(const schedule_loop *loop, uint32_t member)
{
    return schedule_area(loop, member) + loop->line_words;
}

/* k_i, where others can read it. */
static inline int64_t *control_of(const schedule_loop *loop, uint32_t member)
{
    return schedule_area(loop, member) + 2 * loop->line_words;
}

/* The static partition: equal shares, the last ones shorter. */
static inline void queue_share(const schedule_loop *loop, uint32_t member, uint64_t *first, uint64_t *last)
{
    uint64_t share = schedule_ceil(loop->iterations, loop->members);
    *first = schedule_least(member * share, loop->iterations);
    *last = schedule_least(*first + share, loop->iterations);
}

typedef void (*queue_partition)(schedule_loop *loop, uint32_t member, uint64_t *first, uint64_t *last);

/* The partition is the same in every execution. */
static inline void queue_static(schedule_loop *loop, uint32_t member, uint64_t *first, uint64_t *last)
{
    queue_share(loop, member, first, last);
}

/* Puts the member's share into its queue, unless somebody else has done so in this execution because it got
 * there first. The lock is held. */
static inline void queue_fill(schedule_loop *loop, uint32_t member, queue_partition partition)
{
    int64_t *queue = queue_of(loop, member);
    int64_t now = (int64_t)loop->executions + 1;
    uint64_t first, last;
    if (schedule_read(loop, &queue[QUEUE_FILLED]) == now)
        return;
    partition(loop, member, &first, &last);
    schedule_write(loop, &queue[QUEUE_FIRST], (int64_t)first);
    schedule_write(loop, &queue[QUEUE_LAST], (int64_t)last);
    schedule_write(loop, &queue[QUEUE_FILLED], now);
}

/* Iterations in a queue, read without its lock. */
static inline uint64_t queue_left(schedule_loop *loop, uint32_t member, queue_partition partition)
{
    int64_t *queue = queue_of(loop, member);
    uint64_t first, last;
    if (schedule_read(loop, &queue[QUEUE_FILLED]) != (int64_t)loop->executions + 1) {
        partition(loop, member, &first, &last);
        return last - first;
    }
    int64_t begin = schedule_read(loop, &queue[QUEUE_FIRST]), end = schedule_read(loop, &queue[QUEUE_LAST]);
    return end > begin ? (uint64_t)(end - begin) : 0;
}

/* Takes 1/k of `owner`'s queue; false: it is empty. */
static inline bool queue_take(schedule_loop *loop, uint32_t owner, bool front, uint64_t k,
                              queue_partition partition, schedule_chunk *chunk)
{
    int64_t *queue = queue_of(loop, owner);
    schedule_lock(loop, &queue[QUEUE_LOCK]);
    queue_fill(loop, owner, partition);
    int64_t first = schedule_read(loop, &queue[QUEUE_FIRST]), last = schedule_read(loop, &queue[QUEUE_LAST]);
    uint64_t count = schedule_ceil((uint64_t)(last - first), k);
    if (count > 0 && front)
        schedule_write(loop, &queue[QUEUE_FIRST], first + (int64_t)count);
    else if (count > 0)
        schedule_write(loop, &queue[QUEUE_LAST], last - (int64_t)count);
    schedule_unlock(loop, &queue[QUEUE_LOCK]);
    if (count == 0)
        return false;
    *chunk = (schedule_chunk){.first = (uint64_t)(front ? first : last - (int64_t)count),
                              .count = count,
                              .step = 1,
                              .owner = owner,
                              .control = k};
    return true;
}

/* The member with the fullest queue (ties: the first); loop->members: all are empty. */
static inline uint32_t queue_fullest(schedule_loop *loop, queue_partition partition)
{
    uint32_t fullest = loop->members;
    uint64_t most = 0;
    for (uint32_t i = 0; i < loop->members; i++) {
        uint64_t left = queue_left(loop, i, partition);
        if (left > most) {
            most = left;
            fullest = i;
        }
    }
    return fullest;
}

/* Local, then remote scheduling with the same k. */
static inline bool queue_next(schedule_loop *loop, uint32_t member, uint64_t k, queue_partition partition,
                              schedule_chunk *chunk)
{
    if (queue_take(loop, member, true, k, partition, chunk))
        return true;
    for (uint32_t owner; (owner = queue_fullest(loop, partition)) < loop->members;)
        if (queue_take(loop, owner, false, k, partition, chunk))
            return true;
    return false;
}

#endif

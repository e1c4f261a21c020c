/* What SE learns: the time of each executed range of iterations, and from that boundaries of equal time. */
#ifndef SG_LEARNED_H
#define SG_LEARNED_H

#include "sg_queues.h"

/* A member's log, after its queue: number of ranges, then first, count and ticks of each. */
enum { LOG_MOST = 256, RANGE_FIRST = 0, RANGE_COUNT, RANGE_TICKS, RANGE_WORDS };

static inline uint32_t learned_words(const schedule_loop *loop)
{
    return 3 * loop->line_words + 1 + LOG_MOST * RANGE_WORDS;
}

static inline int64_t *learned_log(const schedule_loop *loop, uint32_t member)
{
    return schedule_area(loop, member) + 3 * loop->line_words;
}

static inline int64_t *learned_range(int64_t *log, int64_t number)
{
    return log + 1 + number * RANGE_WORDS;
}

static inline void learned_enter(schedule_loop *loop, schedule_member *member)
{
    schedule_write(loop, learned_log(loop, member->number), 0);
}

/* Logs one range; a full log drops the shortest: its iterations then count as average. */
static inline void learned_done(schedule_loop *loop, schedule_member *member, const schedule_chunk *chunk,
                                uint64_t count, uint64_t ticks)
{
    int64_t *log = learned_log(loop, member->number), number = schedule_read(loop, log);
    if (number == LOG_MOST)
        return;
    int64_t *range = learned_range(log, number);
    schedule_write(loop, &range[RANGE_FIRST], (int64_t)chunk->first);
    schedule_write(loop, &range[RANGE_COUNT], (int64_t)count);
    schedule_write(loop, &range[RANGE_TICKS], (int64_t)ticks);
    schedule_write(loop, log, number + 1);
}

#endif

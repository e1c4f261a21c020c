/* Adaptive weighted factoring: batches as in factoring, each member's chunk scaled by its weight. Weights are
 * measured at the end of each execution (AWF), batch (B, D) or chunk (C, E); D and E include the time to get
 * chunks. Source: Banicescu, Velusamy, Devaprasad, 2003; Carino, Banicescu, 2008. */
#ifndef SG_WEIGHTED_H
#define SG_WEIGHTED_H

#include "sg_central.h"

/* A member's line: ticks and iterations weighted by their order, sum of the orders, weight; the order
 * itself. */
enum { TICKS, DONE, ORDERS, WEIGHT, WEIGHTED_WORDS };
enum { OWN_TICKS, OWN_DONE, OWN_SINCE, OWN_BATCH };

enum weighted_when { WEIGHTED_EXECUTION, WEIGHTED_BATCH, WEIGHTED_CHUNK };

static inline uint32_t weighted_words(const schedule_loop *loop)
{
    (void)loop;
    return WEIGHTED_WORDS;
}

/* Ticks per iteration of a member, weighted towards later measurements; 0: none yet. */
static inline double weighted_pace(schedule_loop *loop, uint32_t member)
{
    const int64_t *area = schedule_area(loop, member);
    double count = schedule_real(schedule_read(loop, &area[DONE]));
    return count > 0 ? schedule_real(schedule_read(loop, &area[TICKS])) / count : 0;
}

/* Weight of the member: its speed over the mean speed of all measured; 1 before that. */
static inline double weighted_weight(schedule_loop *loop, uint32_t member)
{
    double own = weighted_pace(loop, member), speeds = 0;
    uint32_t measured = 0;
    for (uint32_t i = 0; i < loop->members; i++) {
        double pace = weighted_pace(loop, i);
        if (pace > 0) {
            speeds += 1 / pace;
            measured++;
        }
    }
    return own > 0 && measured == loop->members ? measured / own / speeds : 1;
}

/* Publishes what the member has measured since the last time, as its next step. */
static inline void weighted_publish(schedule_loop *loop, schedule_member *member)
{
    int64_t *area = schedule_area(loop, member->number);
    if (member->word[OWN_DONE] == 0)
        return;
    double order = schedule_real(schedule_read(loop, &area[ORDERS])) + 1;
    double ticks = schedule_real(schedule_read(loop, &area[TICKS])) + order * (double)member->word[OWN_TICKS];
    double count = schedule_real(schedule_read(loop, &area[DONE])) + order * (double)member->word[OWN_DONE];
    schedule_write(loop, &area[ORDERS], schedule_bits(order));
    schedule_write(loop, &area[TICKS], schedule_bits(ticks));
    schedule_write(loop, &area[DONE], schedule_bits(count));
    member->word[OWN_TICKS] = member->word[OWN_DONE] = 0;
}

static inline void weighted_done(schedule_loop *loop, schedule_member *member, const schedule_chunk *chunk,
                                 uint64_t count, uint64_t ticks)
{
    (void)loop, (void)chunk;
    member->word[OWN_TICKS] += (int64_t)ticks;
    member->word[OWN_DONE] += (int64_t)count;
}

static inline double weighted_batch(schedule_loop *loop, uint64_t left, uint64_t number)
{
    (void)number;
    return (double)left / (2.0 * loop->members);
}

static inline uint64_t weighted_size(schedule_loop *loop, schedule_member *member, uint64_t left)
{
    uint64_t share = central_batch(loop, left, weighted_batch);
    double wanted = member->real[0] * (double)share;
    return wanted > 1 ? (uint64_t)__builtin_ceil(wanted) : 1;
}

static inline bool weighted_next(schedule_loop *loop, schedule_member *member, enum weighted_when when,
                                 bool whole, schedule_chunk *chunk)
{
    int64_t *own = member->word;
    uint64_t now = loop->host->clock(loop);
    int64_t batch = schedule_read(loop, &loop->shared[CENTRAL_A]) / loop->members;
    if (whole && own[OWN_SINCE] > 0) /* including the time to get the chunk */
        own[OWN_TICKS] = (int64_t)now - own[OWN_SINCE];
    bool first = member->real[0] == 0;
    if (when == WEIGHTED_CHUNK || (when == WEIGHTED_BATCH && batch != own[OWN_BATCH])) {
        weighted_publish(loop, member);
        own[OWN_SINCE] = (int64_t)now;
        first = true;
    }
    own[OWN_SINCE] = own[OWN_SINCE] > 0 ? own[OWN_SINCE] : (int64_t)now;
    own[OWN_BATCH] = batch;
    if (first)
        member->real[0] = weighted_weight(loop, member->number);
    if (central_next(loop, member, weighted_size, chunk))
        return true;
    weighted_publish(loop, member);
    return false;
}

#define WEIGHTED_SCHEDULE                                                                                    \
    .reference = "Banicescu, Velusamy, Devaprasad, 2003; Carino, Banicescu, 2008",                           \
    .member_words = weighted_words, .done = weighted_done, CENTRAL_SCHEDULE

#endif

/* The adaptive affinity schedules EA, LA, CA and GA: each member adjusts its chunk-size control k to its load
 * state, found by comparing how many iterations the members have finished. Source: Yan, Jin, Zhang, 1997,
 * sections 2.2 and 2.3. */
#ifndef SG_ADAPTIVE_H
#define SG_ADAPTIVE_H

#include "sg_queues.h"

enum { LIGHT = -1, NORMAL = 0, HEAVY = 1 };

/* Registers of a member: its k, the state before its last one, whether its own queue is empty, whether it has
 * a state. */
enum { OWN_K, OWN_BEFORE, OWN_REMOTE, OWN_LOADED };

/* Parameters common to all of them. */
enum { ALPHA, STEP, BACK };
#define ADAPTIVE_ALPHA                                                                                       \
    {.name = "alpha",                                                                                        \
     .value = "N/P^2",                                                                                       \
     .least = 0,                                                                                             \
     .most = 1e18,                                                                                           \
     .help = "half of the width of the band of normal load, in iterations"}
#define ADAPTIVE_STEP                                                                                        \
    {.name = "step", .value = "1", .least = 1, .most = 1e6, .help = "change of the chunk-size control k"}
#define ADAPTIVE_BACK                                                                                        \
    {.name = "back",                                                                                         \
     .value = "1",                                                                                           \
     .least = 0,                                                                                             \
     .most = 1,                                                                                              \
     .help = "1: others are helped at the back of their queues, 0: at the front"}

/* A member that has finished few iterations has heavy ones. The sums are integers, so the order of addition
 * does not matter. */
static inline int load_state(const schedule_loop *loop, int64_t own, int64_t sum)
{
    double average = (double)sum / loop->members, alpha = loop->parameter[ALPHA];
    return (double)own < average - alpha ? HEAVY : (double)own >= average + alpha ? LIGHT : NORMAL;
}

/* The next k for a member's state; its previous state was `before`. */
typedef uint64_t (*adaptive_control)(const schedule_loop *loop, int state, int before, uint64_t k);

static inline int64_t sum_of_speeds(schedule_loop *loop)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < loop->members; i++)
        sum += schedule_read(loop, speed_of(loop, i));
    return sum;
}

static inline void adaptive_enter(schedule_loop *loop, schedule_member *member)
{
    member->word[OWN_K] = loop->members;
    member->word[OWN_BEFORE] = HEAVY; /* so that the first step is careful */
    schedule_write(loop, speed_of(loop, member->number), 0);
}

static inline void adaptive_done(schedule_loop *loop, schedule_member *member, const schedule_chunk *chunk,
                                 uint64_t count, uint64_t ticks)
{
    (void)chunk, (void)ticks;
    int64_t *speed = speed_of(loop, member->number);
    schedule_write(loop, speed, schedule_read(loop, speed) + (int64_t)count);
}

/* Equation 2.1: the chunk of a remote allocation, given how many members are not heavily loaded. */
static inline uint64_t remote_control(schedule_loop *loop)
{
    int64_t sum = sum_of_speeds(loop);
    uint32_t helpers = 0;
    for (uint32_t i = 0; i < loop->members; i++)
        helpers += load_state(loop, schedule_read(loop, speed_of(loop, i)), sum) != HEAVY;
    return schedule_least(loop->members, helpers + 1);
}

static inline bool adaptive_next(schedule_loop *loop, schedule_member *member, adaptive_control control,
                                 schedule_chunk *chunk)
{
    int64_t *own = member->word;
    uint32_t me = member->number;
    int state = NORMAL;
    if (!own[OWN_REMOTE] && own[OWN_LOADED]) {
        int64_t sum = sum_of_speeds(loop);
        state = load_state(loop, schedule_read(loop, speed_of(loop, me)), sum);
        own[OWN_K] = (int64_t)control(loop, state, (int)own[OWN_BEFORE], (uint64_t)own[OWN_K]);
        own[OWN_BEFORE] = state;
    }
    own[OWN_LOADED] = 1;
    bool found = !own[OWN_REMOTE] && queue_take(loop, me, true, (uint64_t)own[OWN_K], queue_static, chunk);
    if (!found && !own[OWN_REMOTE]) {
        own[OWN_REMOTE] = 1;
        own[OWN_K] = 1;
    }
    for (uint32_t owner; !found && (owner = queue_fullest(loop, queue_static)) < loop->members;) {
        if (own[OWN_K] != loop->members)
            own[OWN_K] = (int64_t)remote_control(loop);
        found =
            queue_take(loop, owner, loop->parameter[BACK] == 0, (uint64_t)own[OWN_K], queue_static, chunk);
    }
    chunk->single = true; /* a counter that others read advances after every iteration */
    chunk->state = state;
    return found;
}

#define ADAPTIVE_SCHEDULE                                                                                    \
    .family = "adaptive affinity", .reference = "Yan, Jin, Zhang, 1997, section 2.3",                        \
    .member_words = queue_words, .enter = adaptive_enter, .next = next, .done = adaptive_done

#endif

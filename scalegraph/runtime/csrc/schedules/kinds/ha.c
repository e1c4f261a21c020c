/* Heuristic adaptation: members that helped others take larger chunks of their own share in the next
 * execution; those that were helped take smaller ones, so that more is left to help with. */
#include "sg_queues.h"

/* Words of the control line: k_i minus P, so that zeroed memory is the initial state, and its change in this
 * execution. */
enum { CONTROL, CHANGE };
enum { OWN_REMOTE, OWN_K };

static int64_t control(schedule_loop *loop, uint32_t member)
{
    return schedule_read(loop, &control_of(loop, member)[CONTROL]) + loop->members;
}

static void enter(schedule_loop *loop, schedule_member *member)
{
    member->word[OWN_K] = control(loop, member->number);
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    uint32_t me = member->number, owner;
    if (!member->word[OWN_REMOTE]) {
        if (queue_take(loop, me, true, (uint64_t)member->word[OWN_K], queue_static, chunk))
            return true;
        member->word[OWN_REMOTE] = 1;
    }
    while ((owner = queue_fullest(loop, queue_static)) < loop->members) {
        if (!queue_take(loop, owner, false, (uint64_t)control(loop, owner), queue_static, chunk))
            continue;
        schedule_add(loop, &control_of(loop, me)[CHANGE], -1);
        schedule_add(loop, &control_of(loop, owner)[CHANGE], 1);
        return true;
    }
    return false;
}

/* Applies the changes, limited to 1 .. 2 P; when all k are close to each other they are halved. */
static void end(schedule_loop *loop)
{
    int64_t members = loop->members, least = INT64_MAX, most = 0;
    for (uint32_t i = 0; i < loop->members; i++) {
        int64_t *line = control_of(loop, i), k = control(loop, i) + schedule_read(loop, &line[CHANGE]);
        k = k < 1 ? 1 : k > 2 * members ? 2 * members : k;
        schedule_write(loop, &line[CONTROL], k - members);
        schedule_write(loop, &line[CHANGE], 0);
        least = k < least ? k : least;
        most = k > most ? k : most;
    }
    if (2 * (most - least) >= members)
        return;
    for (uint32_t i = 0; i < loop->members; i++) {
        int64_t k = control(loop, i);
        if (k > 1)
            schedule_write(loop, &control_of(loop, i)[CONTROL], k / 2 - members);
    }
}

SCHEDULE(.name = "HA", .family = "adaptive affinity",
         .title = "heuristically adaptive: k learns over the executions who helps whom",
         .reference = "Yan, Jin, Zhang, 1997, section 2.4", .member_words = queue_words, .enter = enter,
         .next = next, .end = end);

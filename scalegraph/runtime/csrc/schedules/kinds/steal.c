/* Work stealing: each member takes chunks of its own share; one that has none left takes half of
 * another's. */
#include "sg_queues.h"

enum { CHUNK };

static const schedule_parameter parameters[] = {{.name = "chunk",
                                                 .value = "1",
                                                 .least = 1,
                                                 .most = 1e18,
                                                 .help = "iterations that a member takes of its own queue"},
                                                {.name = NULL}};

static bool take_own(schedule_loop *loop, uint32_t me, schedule_chunk *chunk)
{
    int64_t *queue = queue_of(loop, me);
    uint64_t wanted = loop->chunk > 0 ? loop->chunk : (uint64_t)loop->parameter[CHUNK];
    schedule_lock(loop, &queue[QUEUE_LOCK]);
    queue_fill(loop, me, queue_static);
    int64_t first = schedule_read(loop, &queue[QUEUE_FIRST]), last = schedule_read(loop, &queue[QUEUE_LAST]);
    uint64_t count = schedule_least(wanted, (uint64_t)(last - first));
    if (count > 0)
        schedule_write(loop, &queue[QUEUE_FIRST], first + (int64_t)count);
    schedule_unlock(loop, &queue[QUEUE_LOCK]);
    *chunk = (schedule_chunk){.first = (uint64_t)first, .count = count, .step = 1, .owner = me};
    return count > 0;
}

/* Moves the back half of `owner`'s queue into the member's own. */
static bool move_half(schedule_loop *loop, uint32_t owner, uint32_t me)
{
    schedule_chunk half;
    int64_t *queue = queue_of(loop, me);
    if (!queue_take(loop, owner, false, 2, queue_static, &half))
        return false;
    schedule_lock(loop, &queue[QUEUE_LOCK]);
    schedule_write(loop, &queue[QUEUE_FIRST], (int64_t)half.first);
    schedule_write(loop, &queue[QUEUE_LAST], (int64_t)(half.first + half.count));
    schedule_unlock(loop, &queue[QUEUE_LOCK]);
    return true;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    uint32_t me = member->number;
    while (!take_own(loop, me, chunk)) {
        bool moved = false;
        for (uint32_t i = 1; i < loop->members && !moved; i++) {
            uint32_t owner = (me + i) % loop->members;
            moved = queue_left(loop, owner, queue_static) > 0 && move_half(loop, owner, me);
        }
        if (!moved)
            return false;
    }
    return true;
}

SCHEDULE(.name = "steal", .family = "work stealing",
         .title = "own share in chunks; who has none left takes half of the next member's that has",
         .reference = "Blumofe, Leiserson, 1999", .parameters = parameters, .member_words = queue_words,
         .next = next);

/* As in the LLVM runtime: static chunks; a member that has finished its own takes a quarter of another's. */
#include "sg_queues.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    uint32_t me = member->number;
    if (queue_take(loop, me, true, UINT64_MAX, queue_static, chunk)) /* one at a time */
        return true;
    for (uint32_t i = 1; i < loop->members; i++) {
        uint32_t owner = (me + i) % loop->members;
        if (queue_left(loop, owner, queue_static) > 0 &&
            queue_take(loop, owner, false, 4, queue_static, chunk))
            return true;
    }
    return false;
}

SCHEDULE(.name = "static_steal", .family = "work stealing",
         .title = "own share one by one; who has done it takes a quarter of another's",
         .reference = "LLVM OpenMP runtime, static_steal", .member_words = queue_words, .next = next);

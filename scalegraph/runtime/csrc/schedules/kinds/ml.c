/* Affinity scheduling. */
#include "sg_queues.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return queue_next(loop, member->number, loop->members, queue_static, chunk);
}

SCHEDULE(.name = "ML", .family = "affinity",
         .title = "affinity: the P-th part of what is left in one's own queue, then of the fullest one",
         .reference = "Markatos, LeBlanc, 1994", .member_words = queue_words, .next = next);

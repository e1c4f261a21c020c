/* Affinity scheduling with a wrapped partition: iteration x belongs to member x mod P. */
#include "sg_queues.h"

/* A queue counts the member's own iterations: number n is iteration member + n P. */
static void partition(schedule_loop *loop, uint32_t member, uint64_t *first, uint64_t *last)
{
    *first = 0;
    *last = member < loop->iterations ? (loop->iterations - 1 - member) / loop->members + 1 : 0;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    if (!queue_next(loop, member->number, loop->members, partition, chunk))
        return false;
    chunk->first = chunk->owner + chunk->first * loop->members;
    chunk->step = loop->members;
    return true;
}

SCHEDULE(.name = "SE-wrapped", .family = "affinity",
         .title = "affinity, with every P-th iteration in a queue", .reference = "Subramaniam, Eager, 1994",
         .member_words = queue_words, .next = next);

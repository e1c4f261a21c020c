/* Equal shares, or chunks of one size dealt round-robin; decided before the loop starts. */
#include "scalegraph_schedule.h"

enum { TRIP };

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    uint64_t members = loop->members, me = member->number, trip = (uint64_t)member->word[TRIP]++;
    *chunk = (schedule_chunk){.step = 1, .owner = member->number};
    if (loop->chunk == 0) {
        uint64_t share = loop->iterations / members, rest = loop->iterations % members;
        chunk->first = me * share + (me < rest ? me : rest);
        chunk->count = share + (me < rest);
        return trip == 0 && chunk->count > 0;
    }
    uint64_t position = trip * members + me;
    if (position > loop->iterations / loop->chunk)
        return false;
    chunk->first = position * loop->chunk;
    chunk->count = schedule_least(loop->chunk, loop->iterations - chunk->first);
    return chunk->count > 0;
}

SCHEDULE(.name = "static", .family = "OpenMP", .title = "equal shares, or chunks of one size in turn",
         .reference = "OpenMP 5.2, 11.5.3", .next = next);

/* Self-scheduling: chunks of one size, first come, first served. */
#include "scalegraph_schedule.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    (void)member;
    return schedule_take(loop, loop->shared, loop->chunk > 0 ? loop->chunk : 1, chunk);
}

SCHEDULE(.name = "dynamic", .family = "OpenMP", .title = "chunks of one size (1), first come, first served",
         .reference = "OpenMP 5.2, 11.5.3", .next = next);

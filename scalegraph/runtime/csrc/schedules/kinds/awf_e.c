/* Adaptive weighted factoring, weights measured after each chunk, including the time to get chunks. */
#include "sg_weighted.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return weighted_next(loop, member, WEIGHTED_CHUNK, true, chunk);
}

SCHEDULE(.name = "AWF-E",
         .title = "adaptive weighted factoring, weights after each chunk, with the time of allocation",
         WEIGHTED_SCHEDULE);

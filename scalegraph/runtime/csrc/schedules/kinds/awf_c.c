/* Adaptive weighted factoring, weights measured after each chunk. */
#include "sg_weighted.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return weighted_next(loop, member, WEIGHTED_CHUNK, false, chunk);
}

SCHEDULE(.name = "AWF-C", .title = "adaptive weighted factoring, weights measured after each chunk",
         WEIGHTED_SCHEDULE);

/* Adaptive weighted factoring, weights measured after each batch, including the time to get chunks. */
#include "sg_weighted.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return weighted_next(loop, member, WEIGHTED_BATCH, true, chunk);
}

SCHEDULE(.name = "AWF-D",
         .title = "adaptive weighted factoring, weights after each batch, with the time of allocation",
         WEIGHTED_SCHEDULE);

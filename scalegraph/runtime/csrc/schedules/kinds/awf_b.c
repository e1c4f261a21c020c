/* Adaptive weighted factoring, weights measured after each batch. */
#include "sg_weighted.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return weighted_next(loop, member, WEIGHTED_BATCH, false, chunk);
}

SCHEDULE(.name = "AWF-B", .title = "adaptive weighted factoring, weights measured after each batch",
         WEIGHTED_SCHEDULE);

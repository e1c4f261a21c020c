/* Adaptive weighted factoring, with weights from previous executions. */
#include "sg_weighted.h"

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return weighted_next(loop, member, WEIGHTED_EXECUTION, false, chunk);
}

SCHEDULE(.name = "AWF", .title = "adaptive weighted factoring, weights of the executions before",
         WEIGHTED_SCHEDULE);

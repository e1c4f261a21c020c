/* Linear adaptation. */
#include "sg_adaptive.h"

static const schedule_parameter parameters[] = {ADAPTIVE_ALPHA, ADAPTIVE_STEP, ADAPTIVE_BACK, {.name = NULL}};

static uint64_t control(const schedule_loop *loop, int state, int before, uint64_t k)
{
    (void)before;
    uint64_t step = (uint64_t)loop->parameter[STEP];
    return state == HEAVY ? k + step : k > step ? k - step : 1;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return adaptive_next(loop, member, control, chunk);
}

SCHEDULE(.name = "LA", .title = "linearly adaptive: k grows by a step under heavy load, else it falls by one",
         .parameters = parameters, ADAPTIVE_SCHEDULE);

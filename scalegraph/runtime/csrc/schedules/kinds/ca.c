/* Conservative adaptation. */
#include "sg_adaptive.h"

static const schedule_parameter parameters[] = {ADAPTIVE_ALPHA, ADAPTIVE_STEP, ADAPTIVE_BACK, {.name = NULL}};

static uint64_t control(const schedule_loop *loop, int state, int before, uint64_t k)
{
    (void)before;
    uint64_t step = (uint64_t)loop->parameter[STEP], most = 2 * (uint64_t)loop->members,
             least = loop->members / 2;
    least = least > 0 ? least : 1;
    return state == HEAVY ? schedule_least(most, k + step) : k > least + step ? k - step : least;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return adaptive_next(loop, member, control, chunk);
}

SCHEDULE(.name = "CA", .title = "conservatively adaptive: as LA, but k stays between P/2 and 2 P",
         .parameters = parameters, ADAPTIVE_SCHEDULE);

/* Greedy adaptation. */
#include "sg_adaptive.h"

static const schedule_parameter parameters[] = {ADAPTIVE_ALPHA, ADAPTIVE_STEP, ADAPTIVE_BACK, {.name = NULL}};

static uint64_t control(const schedule_loop *loop, int state, int before, uint64_t k)
{
    uint64_t step = (uint64_t)loop->parameter[STEP], most = 2 * (uint64_t)loop->members,
             least = loop->members / 2;
    least = least > 0 ? least : 1;
    if (state == HEAVY)
        return schedule_least(most, k + step);
    if (before == HEAVY)
        return k > least + step ? k - step : least;
    return 1; /* not heavy twice: everything that is left */
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return adaptive_next(loop, member, control, chunk);
}

SCHEDULE(.name = "GA",
         .title = "greedily adaptive: as CA, but who is not heavily loaded twice takes all that is left",
         .parameters = parameters, ADAPTIVE_SCHEDULE);

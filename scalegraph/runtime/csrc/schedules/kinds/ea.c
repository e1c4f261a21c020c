/* Exponential adaptation. */
#include "sg_adaptive.h"

static const schedule_parameter parameters[] = {
    ADAPTIVE_ALPHA,
    {.name = "base", .value = "2", .least = 1, .most = 1e6, .help = "factor of the chunk-size control k"},
    ADAPTIVE_BACK,
    {.name = NULL}};

static uint64_t control(const schedule_loop *loop, int state, int before, uint64_t k)
{
    (void)before;
    double base = loop->parameter[STEP], wanted = state == HEAVY ? (double)k * base : (double)k / base;
    uint64_t whole = wanted < 1e15 ? (uint64_t)wanted : (uint64_t)1e15;
    whole += (double)whole < wanted && state != HEAVY;
    return whole > 0 ? whole : 1;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return adaptive_next(loop, member, control, chunk);
}

SCHEDULE(.name = "EA", .title = "exponentially adaptive: k doubles under heavy load, else halves",
         .parameters = parameters, ADAPTIVE_SCHEDULE);

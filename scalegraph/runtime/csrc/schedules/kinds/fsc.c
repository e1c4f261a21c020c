/* Fixed-size chunking: the optimal size for a given overhead and variation. */
#include <math.h>

#include "scalegraph_schedule.h"

static const schedule_parameter parameters[] = {
    {.name = "overhead",
     .value = "1",
     .least = 1e-9,
     .most = 1e9,
     .help = "time of one allocation over the standard deviation of an iteration's time"},
    {.name = NULL}};

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    double n = (double)loop->iterations, p = loop->members, spread = p * sqrt(log(p > 2 ? p : 2));
    double size = pow(sqrt(2) * n * loop->parameter[0] / spread, 2.0 / 3.0);
    uint64_t most = schedule_ceil(loop->iterations, loop->members);
    (void)member;
    return schedule_take(loop, loop->shared, size<1 ? 1 : size>(double) most ? most : (uint64_t)ceil(size),
                         chunk);
}

SCHEDULE(.name = "FSC", .family = "central queue",
         .title = "fixed-size chunking for a known overhead and variation",
         .reference = "Kruskal, Weiss, 1985", .parameters = parameters, .next = next);

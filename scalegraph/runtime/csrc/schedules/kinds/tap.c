/* Tapering: guided chunks, reduced according to the known variation so that they finish together. */
#include <math.h>

#include "sg_central.h"

enum { VARIATION, CERTAINTY };

static const schedule_parameter parameters[] = {CENTRAL_VARIATION,
                                                {.name = "certainty",
                                                 .value = "1.3",
                                                 .least = 0,
                                                 .most = 100,
                                                 .help = "standard deviations by which a chunk may be late"},
                                                {.name = NULL}};

static uint64_t size(schedule_loop *loop, schedule_member *member, uint64_t left)
{
    (void)member;
    double v = loop->parameter[CERTAINTY] * loop->parameter[VARIATION], t = (double)left / loop->members;
    double wanted = t + v * v / 2 - v * sqrt(2 * t + v * v / 4);
    return wanted > 1 ? (uint64_t)ceil(wanted) : 1;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return central_next(loop, member, size, chunk);
}

SCHEDULE(.name = "TAP", .title = "tapering: guided, with room for the known variation",
         .reference = "Lucco, 1992", .parameters = parameters, CENTRAL_SCHEDULE);

/* Factoring: batches of P equal chunks, sized so that the remainder can even them out, for a known
 * variation. */
#include <math.h>

#include "sg_central.h"

static const schedule_parameter parameters[] = {CENTRAL_VARIATION, {.name = NULL}};

static double batch(schedule_loop *loop, uint64_t left, uint64_t number)
{
    double b = loop->members / (2 * sqrt((double)left)) * loop->parameter[0], b2 = b * b;
    double x = number == 0 ? 1 + b2 + b * sqrt(b2 + 2) : 2 + b2 + b * sqrt(b2 + 4);
    return (double)left / (x * loop->members);
}

static uint64_t size(schedule_loop *loop, schedule_member *member, uint64_t left)
{
    (void)member;
    return central_batch(loop, left, batch);
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return central_next(loop, member, size, chunk);
}

SCHEDULE(.name = "FAC", .title = "factoring: batches of P chunks, sized for a known variation",
         .reference = "Hummel, Schonberg, Flynn, 1992", .parameters = parameters, CENTRAL_SCHEDULE);

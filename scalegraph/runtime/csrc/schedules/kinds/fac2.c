/* Factoring without a known variation: each batch of P chunks is half of what is left. */
#include "sg_central.h"

static double batch(schedule_loop *loop, uint64_t left, uint64_t number)
{
    (void)number;
    return (double)left / (2.0 * loop->members);
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

SCHEDULE(.name = "FAC2", .title = "factoring: each batch of P chunks is half of what is left",
         .reference = "Hummel, Schonberg, Flynn, 1992", CENTRAL_SCHEDULE);

/* Safe self-scheduling: a share that is certainly not too large, then fractions of it. */
#include "sg_central.h"

static const schedule_parameter parameters[] = {{.name = "share",
                                                 .value = "0.5",
                                                 .least = 0.01,
                                                 .most = 0.99,
                                                 .help = "part of N/P that each member gets first"},
                                                {.name = NULL}};

static double batch(schedule_loop *loop, uint64_t left, uint64_t number)
{
    (void)left;
    double part = loop->parameter[0], size = part * (double)loop->iterations / loop->members;
    for (uint64_t i = 0; i < number && size > 1; i++)
        size *= 1 - part;
    return size;
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

SCHEDULE(.name = "SSS", .title = "safe: a part of N/P each, then batches that shrink by the same factor",
         .reference = "Liu, Saletore, Lewis, 1994", .parameters = parameters, CENTRAL_SCHEDULE);

/* Guided self-scheduling: 1/P of what is left, first come, first served. */
#include "scalegraph_schedule.h"

static int64_t after(int64_t position, const void *argument)
{
    const schedule_loop *loop = argument;
    uint64_t left = loop->iterations - (uint64_t)position, chunk = schedule_ceil(left, loop->members);
    chunk = chunk > loop->chunk ? chunk : loop->chunk;
    return position + (int64_t)schedule_least(chunk, left);
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    (void)member;
    int64_t first = loop->host->apply(loop, loop->shared, after, loop), last = after(first, loop);
    *chunk = (schedule_chunk){
        .first = (uint64_t)first, .count = (uint64_t)(last - first), .step = 1, .owner = UINT32_MAX};
    return chunk->count > 0;
}

SCHEDULE(.name = "guided", .family = "OpenMP",
         .title = "the P-th part of what is left, first come, first served",
         .reference = "Polychronopoulos, Kuck, 1987; OpenMP 5.2, 11.5.3", .next = next);

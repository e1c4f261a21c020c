/* Modified fixed-size chunking: as many chunks, of one size, as factoring (FAC2) would make. */
#include "scalegraph_schedule.h"

static uint64_t chunks_of_factoring(const schedule_loop *loop)
{
    uint64_t chunks = 0;
    for (uint64_t left = loop->iterations; left > 0;) {
        uint64_t size = schedule_ceil(left, 2 * (uint64_t)loop->members);
        for (uint32_t i = 0; i < loop->members && left > 0; i++, chunks++)
            left -= schedule_least(size, left);
    }
    return chunks;
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    (void)member;
    uint64_t chunks = chunks_of_factoring(loop);
    return schedule_take(loop, loop->shared, chunks > 0 ? schedule_ceil(loop->iterations, chunks) : 1, chunk);
}

SCHEDULE(.name = "mFSC", .family = "central queue", .title = "chunks of one size, as many as factoring makes",
         .reference = "Banicescu, Ciorba, Srivastava, 2013", .next = next);

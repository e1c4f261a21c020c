/* Which rank wrote what to standard output: byte ranges in order. */
#include "sg_array.h"
#include "sg_observers.h"
#include "sg_rank.h"

enum { MOST = 1 << 16 }; /* byte ranges; beyond that the last one is too short and the ranks are unknown */

static struct {
    sg_output *part;
    uint32_t count, room;
} written = {.count = 0};

static void note_printed(uint64_t bytes)
{
    uint32_t rank = sg_rank_self()->number;
    sg_output *last = written.count > 0 ? &written.part[written.count - 1] : NULL;
    if (last == NULL || last->rank != rank) {
        if (written.count == MOST)
            return;
        SG_ARRAY_HOLD(written.part, written.room, written.count, 16);
        last = &written.part[written.count++];
        *last = (sg_output){.rank = rank};
    }
    last->bytes += bytes;
}

static uint64_t put_parts(struct sg_writer *w)
{
    sg_put(w, written.part, written.count * sizeof *written.part);
    return written.count;
}

static bool takes_part(void)
{
    return sg->config.ranks > 1;
}

static const sg_result_part parts[] = {{SG_SECTION_OUTPUTS, sizeof(sg_output), put_parts}};

const sg_observer sg_observer_output = {
    .name = "output by rank",
    .takes_part = takes_part,
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .prints = note_printed,
};

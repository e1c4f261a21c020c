/* Parts of a run by the time of the main thread: what the program times itself, and regions. */
#ifndef SG_PART_H
#define SG_PART_H

#include "sg_runtime.h"

/* A region on the stack of thread 0. */
typedef struct sg_inside {
    uint32_t open; /* times, when it calls itself */
    uint64_t since, cycles, visits;
} sg_inside;

typedef struct sg_parts_state {
    uint64_t threads_ran; /* cycles of all threads but the main one */
    uint64_t region_ran;  /* of the main one in parallel regions */
    uint64_t region_since;
    bool in_region;
    sg_inside *inside; /* by region */
    uint32_t insides;
    sg_reading *readings;
    uint32_t readings_count, readings_room;
    uint64_t readings_made;
} sg_parts_state;

extern sg_parts_state sg_parts;

void sg_part_more(uint32_t region);

/* Thread 0 enters `region`, or leaves it. */
static inline void sg_part_enter(uint32_t region, uint64_t clock)
{
    if (SG_UNLIKELY(region >= sg_parts.insides))
        sg_part_more(region);
    sg_inside *inside = &sg_parts.inside[region];
    inside->visits++;
    if (inside->open++ == 0)
        inside->since = clock;
}

static inline void sg_part_leave(uint32_t region, uint64_t clock)
{
    sg_inside *inside = &sg_parts.inside[region];
    if (region < sg_parts.insides && inside->open > 0 && --inside->open == 0)
        inside->cycles += clock - inside->since;
}

/* The program reads a clock; `site` is where. */
void sg_part_read(const void *site);
uint64_t sg_part_put(struct sg_writer *w);
uint64_t sg_reading_put(struct sg_writer *w);

#endif

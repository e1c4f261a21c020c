/* Where a thread is in the iterations of its worksharing loop. */
#ifndef SG_LOOP_TURN_H
#define SG_LOOP_TURN_H

#include "scalegraph_schedule.h"

/* What a chunk has cost the thread that took it, in cycles. */
typedef struct sg_chunk_spent {
    uint64_t begin, end;   /* clock: its first iterations were handed out, its last ones are done */
    uint64_t body, stall;  /* of its iterations; memory stalls of that */
    uint64_t asking, lock; /* of obtaining it, what waiting for locks of queues is of that */
} sg_chunk_spent;

typedef struct sg_loop_turn {
    schedule_member member;
    schedule_chunk chunk; /* taken last */
    uint64_t position,
        left;         /* the first of its iterations that was not handed out yet, and how many there are */
    uint64_t running; /* iterations that were handed out last; 0: none are being executed */
    uint64_t since;   /* clock when they were */
    uint64_t asked;   /* clock when the thread asked last */
    uint64_t stalled; /* memory stalls of the processor `on`, when iterations were handed out last */
    const void *on;
    sg_chunk_spent spent;
    bool entered, finished;
} sg_loop_turn;

#endif

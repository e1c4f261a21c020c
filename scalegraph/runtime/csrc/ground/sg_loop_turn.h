/* A thread's position in the iterations of its worksharing loop. */
#ifndef SG_LOOP_TURN_H
#define SG_LOOP_TURN_H

#include "scalegraph_schedule.h"

/* What a chunk has cost the thread that took it, in cycles. */
typedef struct sg_chunk_spent {
    uint64_t begin, end;   /* clocks: its first iterations were handed out, its last ones are done */
    uint64_t body, stall;  /* of its iterations; memory stalls in that time */
    uint64_t asking, lock; /* to get the chunk; part of it waiting for queue locks */
} sg_chunk_spent;

typedef struct sg_loop_turn {
    schedule_member member;
    schedule_chunk chunk;    /* the last one taken */
    uint64_t position, left; /* its first iteration not yet handed out, and how many are left */
    uint64_t running;        /* last iterations handed out; 0: none are being executed */
    uint64_t since;          /* clock at that time */
    uint64_t asked;          /* clock of the thread's last request */
    uint64_t stalled;        /* memory stalls of the processor `on` when iterations were last handed out */
    const void *on;
    sg_chunk_spent spent;
    bool entered, finished;
} sg_loop_turn;

#endif

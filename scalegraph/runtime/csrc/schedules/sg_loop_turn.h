/* Where a thread is in the iterations of its worksharing loop. */
#ifndef SG_LOOP_TURN_H
#define SG_LOOP_TURN_H

#include "scalegraph_schedule.h"

typedef struct sg_loop_turn {
    schedule_member member;
    schedule_chunk chunk; /* taken last */
    uint64_t position,
        left;         /* the first of its iterations that was not handed out yet, and how many there are */
    uint64_t running; /* iterations that were handed out last; 0: none are being executed */
    uint64_t since;   /* clock when they were */
    bool entered, finished;
} sg_loop_turn;

#endif

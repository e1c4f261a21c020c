/* Schedules: steps of sending, receiving, copying and combining by which a collective operation is done. A
 * blocking one runs its schedule to the end; another goes on whenever its rank waits for anything or tests.
 */
#ifndef SG_MPI_SCHEDULE_H
#define SG_MPI_SCHEDULE_H

#include "sg_message.h"
#include "sg_mpi_comm.h"
#include "sg_mpi_op.h"
#include "sg_mpi_type.h"

enum sg_step_kind {
    SG_STEP_SEND,
    SG_STEP_RECEIVE,
    SG_STEP_COPY,
    SG_STEP_COMBINE,
    SG_STEP_CALL,
    SG_STEP_HARDWARE
};

/* One line of the host: a rank that goes on finds its steps cold. */
typedef struct sg_step {
    uint8_t kind; /* enum sg_step_kind */
    bool last;    /* what follows waits for all steps so far */
    uint8_t what; /* of SG_STEP_HARDWARE: enum sg_collective */
    int peer;     /* rank in `comm` */
    const void *from;
    void *to;
    int64_t count;
    sg_type *type;
    union {
        const sg_comm *comm;
        int64_t to_count; /* of a copy, and to_type */
    };
    union {
        sg_send *send;       /* of a send */
        sg_receive *receive; /* also of SG_STEP_HARDWARE */
        sg_type *to_type;
    };
} sg_step;

struct sg_schedule {
    sg_schedule *next; /* of the rank's, that are not complete */
    sg_comm *comm;
    const sg_comm *view; /* to whose ranks the next steps go: the communicator, or its local processes */
    int tag;
    bool done, busy;    /* busy: a thread works on it */
    bool needs_data;    /* its steps may reference static data of the program */
    sg_waiter *waiters; /* other threads of the rank, until none works on it */
    int error;
    const char *call;
    const void *site;
    sg_step *steps;
    uint32_t count, room;
    uint32_t begin, end; /* steps that have begun and are waited for */
    /* For observers: when it began, its root in `comm` (-1: none), and the first algorithm that was chosen.
     */
    uint64_t began;
    int root;
    uint8_t algorithm;
    sg_mpi_op *op;
    void **memory; /* to be freed at the end */
    uint32_t memory_count;
    void (*finish)(void *context); /* called by SG_STEP_CALL */
    void *context;
};

/* ---- sg_mpi_schedule.c ---- */

sg_schedule *sg_schedule_new(sg_comm *comm);
void sg_schedule_free(sg_schedule *s);
/* Memory that lives as long as the schedule. */
void *sg_schedule_memory(sg_schedule *s, int64_t size);
/* Room for `count` items of a type; the result is where the first item begins. */
void *sg_schedule_items(sg_schedule *s, int64_t count, const sg_type *type);
void sg_add_send(sg_schedule *s, const void *from, int64_t count, sg_type *type, int peer);
void sg_add_receive(sg_schedule *s, void *to, int64_t count, sg_type *type, int peer);
void sg_add_copy(sg_schedule *s, const void *from, int64_t count, sg_type *type, void *to, int64_t to_count,
                 sg_type *to_type);
/* to = from op to */
void sg_add_combine(sg_schedule *s, const void *from, void *to, int64_t count, sg_type *type);
/* A whole operation by the machine's network for them: `from` is given unless it is NULL, the result put into
 * `to` unless that is NULL. */
void sg_add_hardware(sg_schedule *s, int what, const void *from, void *to, int64_t count, sg_type *type);
/* What follows waits until all steps so far are complete. */
void sg_add_wait(sg_schedule *s);
/* Then `finish` is called with `context`. */
void sg_add_call(sg_schedule *s, void (*finish)(void *context), void *context);
/* Goes as far as it can; waits for what it needs if `wait`. Returns whether the schedule is done. */
bool sg_schedule_advance(sg_schedule *s, bool wait);
/* The whole of it, then frees it; other schedules of the rank go on meanwhile. */
int sg_schedule_run(sg_schedule *s);
/* Begins it; it goes on when its rank waits. */
void sg_schedule_start(sg_schedule *s);

/* ---- sg_mpi_buffers.c ---- */

/* Whether a step of it may reference static data of the program. */
bool sg_schedule_needs_data(const sg_schedule *s);

/* ---- waiting for anything ---- */

/* Other threads of the rank may wait for the same steps. Who is the first to go on ends what is complete, and
 * begins what follows. */
typedef struct sg_awaited {
    sg_send **sends;
    sg_receive **receives;
    size_t send_count, send_room, receive_count, receive_room;
} sg_awaited;

void sg_awaited_send(sg_awaited *p, sg_send *send);
void sg_awaited_receive(sg_awaited *p, sg_receive *receive);
/* All schedules of the rank go as far as they can. */
void sg_progress(void);
/* Waits until the first in simulated time of these, and of what the rank's schedules wait for, is complete;
 * empties the list. */
void sg_awaited_wait(sg_awaited *p);
/* Blocking waits, during which the rank's schedules go on. */
void sg_wait_send(sg_send *send);
void sg_wait_receive(sg_receive *receive);

#endif

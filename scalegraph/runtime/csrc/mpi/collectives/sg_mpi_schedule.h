/* Schedules: steps of sending, receiving, copying and combining that perform a collective operation. A
 * blocking operation runs its schedule to the end; a nonblocking one progresses whenever its rank waits or
 * tests. */
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

/* Fits one host cache line: when a rank resumes, its steps are cold. */
typedef struct sg_step {
    uint8_t kind; /* enum sg_step_kind */
    bool last;    /* later steps wait for all steps so far */
    uint8_t what; /* for SG_STEP_HARDWARE: enum sg_collective */
    int peer;     /* rank in `comm` */
    const void *from;
    void *to;
    int64_t count;
    sg_type *type;
    union {
        const sg_comm *comm;
        int64_t to_count; /* of a copy, with to_type */
    };
    union {
        sg_send *send;       /* of a send */
        sg_receive *receive; /* also for SG_STEP_HARDWARE */
        sg_type *to_type;
    };
} sg_step;

struct sg_schedule {
    sg_schedule *next; /* in the rank's list of incomplete schedules */
    sg_comm *comm;
    const sg_comm *view; /* addressed by the next steps: the communicator, or its local group */
    int tag;
    bool done, busy;    /* busy: a thread is working on it */
    bool needs_data;    /* its steps may reference the program's static data */
    sg_waiter *waiters; /* other threads of the rank that wait while it is busy */
    int error;
    const char *call;
    const void *site;
    sg_step *steps;
    uint32_t count, room;
    uint32_t begin, end; /* steps that have begun and are waited for */
    /* For observers: when it began, its root in `comm` (-1: none), and the first algorithm chosen. */
    uint64_t began;
    int root;
    uint8_t algorithm;
    sg_mpi_op *op;
    void **memory; /* freed at the end */
    uint32_t memory_count;
    void (*finish)(void *context); /* called by SG_STEP_CALL */
    void *context;
};

/* ---- sg_mpi_schedule.c ---- */

sg_schedule *sg_schedule_new(sg_comm *comm);
void sg_schedule_free(sg_schedule *s);
/* Memory that is freed with the schedule. */
void *sg_schedule_memory(sg_schedule *s, int64_t size);
/* Allocates room for `count` items of a type; returns the address of the first item. */
void *sg_schedule_items(sg_schedule *s, int64_t count, const sg_type *type);
void sg_add_send(sg_schedule *s, const void *from, int64_t count, sg_type *type, int peer);
void sg_add_receive(sg_schedule *s, void *to, int64_t count, sg_type *type, int peer);
void sg_add_copy(sg_schedule *s, const void *from, int64_t count, sg_type *type, void *to, int64_t to_count,
                 sg_type *to_type);
/* to = from op to */
void sg_add_combine(sg_schedule *s, const void *from, void *to, int64_t count, sg_type *type);
/* A whole operation on the machine's collective network: contributes `from` and stores the result in `to`;
 * either may be NULL. */
void sg_add_hardware(sg_schedule *s, int what, const void *from, void *to, int64_t count, sg_type *type);
/* Later steps wait until all steps so far are complete. */
void sg_add_wait(sg_schedule *s);
/* A step that calls `finish` with `context`. */
void sg_add_call(sg_schedule *s, void (*finish)(void *context), void *context);
/* Progresses as far as possible; waits for what it needs if `wait`. Returns whether the schedule is done. */
bool sg_schedule_advance(sg_schedule *s, bool wait);
/* Runs it to the end and frees it; other schedules of the rank progress meanwhile. */
int sg_schedule_run(sg_schedule *s);
/* Begins it; it progresses when its rank waits. */
void sg_schedule_start(sg_schedule *s);

/* ---- sg_mpi_buffers.c ---- */

/* May one of its steps reference the program's static data? */
bool sg_schedule_needs_data(const sg_schedule *s);

/* ---- waiting for anything ---- */

/* What a thread waits for. Other threads of the rank may wait for the same steps; the first to resume
 * completes them and begins the next. */
typedef struct sg_awaited {
    sg_send **sends;
    sg_receive **receives;
    size_t send_count, send_room, receive_count, receive_room;
} sg_awaited;

void sg_awaited_send(sg_awaited *p, sg_send *send);
void sg_awaited_receive(sg_awaited *p, sg_receive *receive);
/* Progresses all schedules of the rank as far as possible. */
void sg_progress(void);
/* Waits until the earliest of these, or of what the rank's schedules wait for, is complete; empties the
 * list. */
void sg_awaited_wait(sg_awaited *p);
/* Blocking waits during which the rank's schedules progress. */
void sg_wait_send(sg_send *send);
void sg_wait_receive(sg_receive *receive);

#endif

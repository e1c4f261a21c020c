/* Requests: operations that have begun, or can begin (persistent ones). */
#ifndef SG_MPI_REQUEST_H
#define SG_MPI_REQUEST_H

#include "sg_mpi_schedule.h"

enum sg_request_kind {
    SG_REQUEST_SEND,
    SG_REQUEST_RECEIVE,
    SG_REQUEST_SCHEDULE,
    SG_REQUEST_GENERAL,
    SG_REQUEST_ACCESS, /* one-sided */
    SG_REQUEST_FILE,   /* data is already transferred */
};

struct sg_remote;

typedef struct sg_request {
    enum sg_request_kind kind;
    bool persistent, active, complete; /* complete: nothing left to wait for */
    bool awaited;                      /* the time it takes has already passed */
    bool freed;                        /* by MPI_Request_free, while active */
    bool cancelled;                    /* the send was cancelled */
    sg_send *send;
    sg_receive *receive;
    sg_schedule *schedule;
    struct sg_remote *access;
    void *buffer;
    int64_t count;
    int64_t moved; /* bytes transferred to or from a file; otherwise -1 */
    sg_type *type;
    int partner, tag;
    enum sg_send_mode mode;
    sg_comm *comm;
    const char *call; /* that created it, and its site */
    const void *site;
    /* For a generalised request: what is waited for instead of a message, and the program's functions. */
    sg_receive *general;
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *release;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
} sg_request;

/* The request of a handle, or NULL. */
static inline sg_request *sg_request_of(MPI_Request handle)
{
    return sg_handle_get(SG_KIND_REQUEST, (uintptr_t)handle);
}

/* ---- sg_mpi_status.c ---- */

/* The empty status, of a null or inactive request. */
void sg_status_empty(MPI_Status *status, int source);
/* The same for a message from MPI_PROC_NULL or a send: leaves MPI_ERROR unchanged. */
void sg_status_none(MPI_Status *status, int source);
void sg_status_set(MPI_Status *status, int source, int tag, int64_t bytes, bool cancelled);
int64_t sg_status_bytes(const MPI_Status *status);

/* ---- sg_mpi_transfer.c: common to all sends and receives ---- */

/* Checks the arguments of a send or receive; gets communicator and type from their handles. */
int sg_check_transfer(MPI_Comm comm, const void *buffer, int64_t count, MPI_Datatype type, int partner,
                      int tag, bool receives, sg_comm **c, sg_type **t);
sg_send *sg_begin_send(sg_comm *c, const void *buffer, int64_t count, sg_type *type, int to, int tag,
                       enum sg_send_mode mode);
sg_receive *sg_begin_receive(const sg_comm *c, int from, int tag);
/* Completes a receive begun by `call` at `site`: stores its data in the buffer and frees it. */
int sg_take_receive(sg_comm *c, sg_receive *receive, void *buffer, int64_t count, sg_type *type,
                    const char *call, const void *site, MPI_Status *status);

/* ---- sg_mpi_request.c ---- */

sg_request *sg_request_new(enum sg_request_kind kind, sg_comm *comm, sg_type *type);
MPI_Request sg_request_handle(sg_request *r);
/* Creates a request that completes with a schedule, and begins the schedule. */
MPI_Request sg_request_of_schedule(sg_schedule *s);
/* Creates a request for bytes already transferred to or from a file; it completes with the schedule, or is
 * complete if that is NULL. */
MPI_Request sg_request_of_file(sg_comm *comm, int64_t moved, sg_schedule *s);
/* Waits for a request and finishes it. */
int sg_request_wait(MPI_Request *handle, MPI_Status *status);

/* ---- sg_mpi_persistent.c ---- */

void sg_request_start(sg_request *r);

#endif

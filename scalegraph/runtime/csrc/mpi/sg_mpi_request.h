/* Requests: operations that have begun, or could begin (persistent ones). */
#ifndef SG_MPI_REQUEST_H
#define SG_MPI_REQUEST_H

#include "sg_mpi_schedule.h"

enum sg_request_kind {
    SG_REQUEST_SEND,
    SG_REQUEST_RECEIVE,
    SG_REQUEST_SCHEDULE,
    SG_REQUEST_GENERAL,
    SG_REQUEST_ACCESS, /* one-sided */
    SG_REQUEST_FILE,   /* data has been moved */
};

struct sg_remote;

typedef struct sg_request {
    enum sg_request_kind kind;
    bool persistent, active, complete; /* complete: nothing is waited for any more */
    bool awaited;                      /* the time that it takes has passed */
    bool freed;                        /* by MPI_Request_free, while it was active */
    bool cancelled;                    /* a send */
    sg_send *send;
    sg_receive *receive;
    sg_schedule *schedule;
    struct sg_remote *access;
    void *buffer;
    int64_t count;
    int64_t moved; /* bytes, of a file; of others: -1 */
    sg_type *type;
    int partner, tag;
    enum sg_send_mode mode;
    sg_comm *comm;
    const char *call; /* that made it, and where */
    const void *site;
    /* Generalised: what is waited for, in place of a message, and the program's functions. */
    sg_receive *general;
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *release;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
} sg_request;

/* The request of a handle; NULL: there is none. */
static inline sg_request *sg_request_of(MPI_Request handle)
{
    return sg_handle_get(SG_KIND_REQUEST, (uintptr_t)handle);
}

/* ---- sg_mpi_status.c ---- */

/* Status of nothing: of a null request or an inactive one. */
void sg_status_empty(MPI_Status *status, int source);
/* The same of a message from MPI_PROC_NULL and of a send: MPI_ERROR stays as it is. */
void sg_status_none(MPI_Status *status, int source);
void sg_status_set(MPI_Status *status, int source, int tag, int64_t bytes, bool cancelled);
int64_t sg_status_bytes(const MPI_Status *status);

/* ---- sg_mpi_transfer.c: what sends and receives of all kinds share ---- */

/* Checks the arguments of a send or a receive; takes the communicator and the type out of their handles. */
int sg_check_transfer(MPI_Comm comm, const void *buffer, int64_t count, MPI_Datatype type, int partner,
                      int tag, bool receives, sg_comm **c, sg_type **t);
sg_send *sg_begin_send(sg_comm *c, const void *buffer, int64_t count, sg_type *type, int to, int tag,
                       enum sg_send_mode mode);
sg_receive *sg_begin_receive(const sg_comm *c, int from, int tag);
/* A receive that `call` at `site` has begun is complete: its data goes into the buffer, then it is freed. */
int sg_take_receive(sg_comm *c, sg_receive *receive, void *buffer, int64_t count, sg_type *type,
                    const char *call, const void *site, MPI_Status *status);

/* ---- sg_mpi_request.c ---- */

sg_request *sg_request_new(enum sg_request_kind kind, sg_comm *comm, sg_type *type);
MPI_Request sg_request_handle(sg_request *r);
/* A request that completes with a schedule, which begins. */
MPI_Request sg_request_of_schedule(sg_schedule *s);
/* One for bytes that were moved from or to a file; it completes with the schedule, or has if that is NULL. */
MPI_Request sg_request_of_file(sg_comm *comm, int64_t moved, sg_schedule *s);
/* Waits for a request, which then ends. */
int sg_request_wait(MPI_Request *handle, MPI_Status *status);

/* ---- sg_mpi_persistent.c ---- */

void sg_request_start(sg_request *r);

#endif

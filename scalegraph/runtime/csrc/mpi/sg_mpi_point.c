/* Blocking point-to-point messages. */
#include "sg_mpi_pending.h"

/* A buffered send occupies the attached buffer until it is received; the data is really copied elsewhere at
 * once, so only the buffer's size matters. */
static int check_buffer(sg_comm *c, int64_t bytes)
{
    const struct sg_mpi *m = sg_mpi_self();
    if (bytes + MPI_BSEND_OVERHEAD <= m->bsend_size)
        return MPI_SUCCESS;
    return sg_mpi_error(c, MPI_ERR_BUFFER,
                        "the message of %lld bytes does not fit into the attached buffer of %lld bytes",
                        (long long)bytes, (long long)m->bsend_size);
}

static int send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                enum sg_send_mode mode)
{
    sg_comm *c;
    sg_type *t;
    int error = sg_check_transfer(comm, buffer, count, type, to, tag, false, &c, &t);
    if (error == MPI_SUCCESS && to != MPI_PROC_NULL && mode == SG_SEND_BUFFERED)
        error = check_buffer(c, count * t->size);
    if (error != MPI_SUCCESS || to == MPI_PROC_NULL)
        return error;
    sg_pending_check(false, buffer, count, t);
    sg_send *s = sg_begin_send(c, buffer, count, t, to, tag, mode);
    sg_wait_send(s);
    sg_send_free(s);
    return MPI_SUCCESS;
}

static int begin(sg_request **request, const void *buffer, int count, MPI_Datatype type, int partner, int tag,
                 MPI_Comm comm, enum sg_request_kind kind, enum sg_send_mode mode)
{
    sg_comm *c;
    sg_type *t;
    int error =
        sg_check_transfer(comm, buffer, count, type, partner, tag, kind == SG_REQUEST_RECEIVE, &c, &t);
    if (error == MPI_SUCCESS && partner != MPI_PROC_NULL && mode == SG_SEND_BUFFERED)
        error = check_buffer(c, count * t->size);
    if (error != MPI_SUCCESS)
        return error;
    sg_request *r = sg_request_new(kind, c, t);
    r->buffer = (void *)(uintptr_t)buffer;
    r->count = count;
    r->partner = partner;
    r->tag = tag;
    r->mode = mode;
    *request = r;
    return MPI_SUCCESS;
}

/* Creates a request that begins at once, or a persistent one. */
static int begin_now(bool persistent, const void *buffer, int count, MPI_Datatype type, int partner, int tag,
                     MPI_Comm comm, enum sg_request_kind kind, enum sg_send_mode mode, MPI_Request *request)
{
    SG_NEEDS(request)
    sg_request *r;
    int error = begin(&r, buffer, count, type, partner, tag, comm, kind, mode);
    if (error != MPI_SUCCESS)
        return error;
    r->persistent = persistent;
    if (!persistent)
        sg_request_start(r);
    *request = sg_request_handle(r);
    return MPI_SUCCESS;
}

#define SEND(name, init, mode)                                                                               \
    SG_API int PMPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        return send(buffer, count, type, to, tag, comm, mode);                                               \
    }                                                                                                        \
    SG_MPI_NAME(name)                                                                                        \
    BEGIN(init, true, mode)
#define BEGIN(name, persistent, mode)                                                                        \
    SG_API int PMPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                           MPI_Request *request)                                                             \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        return begin_now(persistent, buffer, count, type, to, tag, comm, SG_REQUEST_SEND, mode, request);    \
    }                                                                                                        \
    SG_MPI_NAME(name)

SEND(Send, Send_init, SG_SEND_STANDARD)
SEND(Ssend, Ssend_init, SG_SEND_SYNCHRONOUS)
SEND(Rsend, Rsend_init, SG_SEND_STANDARD)
SEND(Bsend, Bsend_init, SG_SEND_BUFFERED)
BEGIN(Isend, false, SG_SEND_STANDARD)
BEGIN(Issend, false, SG_SEND_SYNCHRONOUS)
BEGIN(Irsend, false, SG_SEND_STANDARD)
BEGIN(Ibsend, false, SG_SEND_BUFFERED)

SG_API int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     MPI_Status *status)
{
    SG_ENTER("Recv");
    sg_comm *c;
    sg_type *t;
    int error = sg_check_transfer(comm, buffer, count, type, from, tag, true, &c, &t);
    if (error != MPI_SUCCESS)
        return error;
    if (from == MPI_PROC_NULL)
        return sg_status_none(status, MPI_PROC_NULL), MPI_SUCCESS;
    sg_pending_check(true, buffer, count, t);
    const void *site = sg_mpi_self()->site;
    sg_receive *r = sg_begin_receive(c, from, tag);
    sg_wait_receive(r);
    return sg_take_receive(c, r, buffer, count, t, "MPI_Recv", site, status);
}

SG_API int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    SG_ENTER("Irecv");
    return begin_now(false, buffer, count, type, from, tag, comm, SG_REQUEST_RECEIVE, SG_SEND_STANDARD,
                     request);
}

SG_API int PMPI_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                          MPI_Request *request)
{
    SG_ENTER("Recv_init");
    return begin_now(true, buffer, count, type, from, tag, comm, SG_REQUEST_RECEIVE, SG_SEND_STANDARD,
                     request);
}

SG_API int PMPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in,
                         int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                         MPI_Status *status)
{
    SG_ENTER("Sendrecv");
    sg_comm *c;
    sg_type *sent, *received;
    int error = sg_check_transfer(comm, out, out_count, out_type, to, out_tag, false, &c, &sent);
    if (error == MPI_SUCCESS)
        error = sg_check_transfer(comm, in, in_count, in_type, from, in_tag, true, &c, &received);
    if (error != MPI_SUCCESS)
        return error;
    const void *site = sg_mpi_self()->site;
    if (to != MPI_PROC_NULL && from != MPI_PROC_NULL)
        sg_pending_apart(out, out_count, sent, in, in_count, received);
    if (to != MPI_PROC_NULL)
        sg_pending_check(false, out, out_count, sent);
    if (from != MPI_PROC_NULL)
        sg_pending_check(true, in, in_count, received);
    sg_receive *r = from != MPI_PROC_NULL ? sg_begin_receive(c, from, in_tag) : NULL;
    sg_send *s = NULL;
    if (to != MPI_PROC_NULL)
        s = sg_begin_send(c, out, out_count, sent, to, out_tag, SG_SEND_STANDARD);
    sg_status_none(status, MPI_PROC_NULL);
    if (r != NULL) {
        sg_wait_receive(r);
        error = sg_take_receive(c, r, in, in_count, received, "MPI_Sendrecv", site, status);
    }
    if (s != NULL) {
        sg_wait_send(s);
        sg_send_free(s);
    }
    return error;
}

SG_API int PMPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int out_tag, int from,
                                 int in_tag, MPI_Comm comm, MPI_Status *status)
{
    SG_ENTER("Sendrecv_replace");
    sg_comm *c;
    sg_type *t;
    int error = sg_check_transfer(comm, buffer, count, type, to, out_tag, false, &c, &t);
    if (error == MPI_SUCCESS)
        error = sg_check_transfer(comm, buffer, count, type, from, in_tag, true, &c, &t);
    if (error != MPI_SUCCESS)
        return error;
    sg_pending_check(true, buffer, count, t);
    const void *site = sg_mpi_self()->site;
    /* data is copied when it is sent, so the buffer may receive at once */
    sg_send *s =
        to != MPI_PROC_NULL ? sg_begin_send(c, buffer, count, t, to, out_tag, SG_SEND_STANDARD) : NULL;
    sg_status_none(status, MPI_PROC_NULL);
    if (from != MPI_PROC_NULL) {
        sg_receive *r = sg_begin_receive(c, from, in_tag);
        sg_wait_receive(r);
        error = sg_take_receive(c, r, buffer, count, t, "MPI_Sendrecv_replace", site, status);
    }
    if (s != NULL) {
        sg_wait_send(s);
        sg_send_free(s);
    }
    return error;
}

SG_API int PMPI_Buffer_attach(void *buffer, int size)
{
    struct sg_mpi *m = SG_ENTER("Buffer_attach");
    if (m->bsend_buffer != NULL)
        return sg_mpi_error(NULL, MPI_ERR_BUFFER, "a buffer is attached already");
    if (size < 0)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the size is %d", size);
    if (buffer == NULL && size > 0)
        return sg_mpi_error(NULL, MPI_ERR_BUFFER, "the buffer of %d bytes is NULL", size);
    m->bsend_buffer = buffer;
    m->bsend_size = size;
    return MPI_SUCCESS;
}

SG_API int PMPI_Buffer_detach(void *address, int *size)
{
    struct sg_mpi *m = SG_ENTER("Buffer_detach");
    SG_NEEDS(address, size)
    *(void **)address = m->bsend_buffer;
    *size = (int)m->bsend_size;
    m->bsend_buffer = NULL;
    m->bsend_size = 0;
    return MPI_SUCCESS;
}

SG_MPI_NAME(Recv)
SG_MPI_NAME(Irecv)
SG_MPI_NAME(Recv_init)
SG_MPI_NAME(Sendrecv)
SG_MPI_NAME(Sendrecv_replace)
SG_MPI_NAME(Buffer_attach)
SG_MPI_NAME(Buffer_detach)

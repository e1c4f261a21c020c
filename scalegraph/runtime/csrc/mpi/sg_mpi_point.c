/* Point-to-point messages of MPI. */
#include <stdlib.h>

#include "sg_mpi.h"

/* ---- what blocking calls, requests and collective operations share ---- */

static void *allocate(size_t size)
{
    bool before = sg_alloc_own(true);
    void *memory = malloc(size > 0 ? size : 1);
    sg_alloc_own(before);
    if (memory == NULL)
        sg_stop(SG_STATUS_INTERNAL, "no memory for the messages of the simulation");
    return memory;
}

sg_send *sg_mpi_begin_send(const sg_comm *comm, uint32_t context, const void *buffer, int count,
                           MPI_Datatype type, int to, int tag, enum sg_send_mode mode)
{
    size_t bytes = sg_type_size(type) * (size_t)count;
    char *packed = bytes > 0 ? allocate(bytes) : NULL;
    if (bytes > 0)
        sg_type_pack(buffer, (size_t)count, type, packed);
    sg_send *send = sg_message_send(comm->world[to], context, comm->rank, tag, packed, bytes, mode);
    free(packed);
    return send;
}

void sg_mpi_end_send(sg_send *send)
{
    sg_send_wait(send);
    sg_send_free(send);
}

sg_receive *sg_mpi_begin_receive(const sg_comm *comm, uint32_t context, int from, int tag)
{
    int32_t source = from == MPI_ANY_SOURCE ? SG_ANY : from;
    int32_t rank = from == MPI_ANY_SOURCE ? SG_ANY : (int32_t)comm->world[from];
    return sg_message_receive(context, source, rank, tag == MPI_ANY_TAG ? SG_ANY : tag);
}

static void set_status(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_internal[0] = (int)(bytes & 0xffffffffu);
    status->MPI_internal[1] = (int)(bytes >> 32);
    status->MPI_internal[2] = cancelled;
}

/* Of a request that is null, and of a message from MPI_PROC_NULL. */
static void set_empty_status(MPI_Status *status, int source)
{
    set_status(status, source, MPI_ANY_TAG, 0, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

/* The receive is complete: its data goes to the program. */
static int take_data(sg_receive *r, MPI_Comm comm, void *buffer, int count, MPI_Datatype type,
                     MPI_Status *status)
{
    size_t room = sg_type_size(type) * (size_t)count;
    int error = MPI_SUCCESS;
    sg_receive_finish(r);
    if (!r->cancelled)
        sg_type_unpack(r->data, r->bytes < room ? r->bytes : room, buffer, (size_t)count, type);
    if (!r->cancelled && r->bytes > room)
        error = sg_mpi_error(
            comm, MPI_ERR_TRUNCATE,
            "a message of %zu bytes from rank %d with tag %d does not fit into the %zu bytes of the receive",
            r->bytes, r->source, r->tag, room);
    set_status(status, r->source, r->tag, r->cancelled ? 0 : r->bytes, r->cancelled);
    sg_receive_free(r);
    return error;
}

int sg_mpi_end_receive(sg_receive *r, MPI_Comm comm, void *buffer, int count, MPI_Datatype type,
                       MPI_Status *status)
{
    sg_receive_wait(r);
    return take_data(r, comm, buffer, count, type, status);
}

/* Is the rank at the other end one of the communicator, or none? */
static int check(MPI_Comm handle, const sg_comm *comm, int other, int tag, int count, bool receives)
{
    bool any = receives && other == MPI_ANY_SOURCE, any_tag = receives && tag == MPI_ANY_TAG;
    if (other != MPI_PROC_NULL && !any && (other < 0 || other >= comm->size))
        return sg_mpi_error(handle, MPI_ERR_RANK, "rank %d is none of the %d ranks of the communicator",
                            other, comm->size);
    if (tag < 0 && !any_tag)
        return sg_mpi_error(handle, MPI_ERR_TAG, "tag %d is negative", tag);
    if (count < 0)
        return sg_mpi_error(handle, MPI_ERR_COUNT, "count %d is negative", count);
    return MPI_SUCCESS;
}

/* ---- blocking calls ---- */

static int send(const char *call, const void *site, const void *buffer, int count, MPI_Datatype type, int to,
                int tag, MPI_Comm handle, enum sg_send_mode mode)
{
    sg_mpi_enter(call, site);
    const sg_comm *comm = sg_comm_of(handle);
    int error = check(handle, comm, to, tag, count, false);
    if (error == MPI_SUCCESS && to != MPI_PROC_NULL)
        sg_mpi_end_send(sg_mpi_begin_send(comm, comm->context, buffer, count, type, to, tag, mode));
    return error;
}

#define SEND(name, mode)                                                                                     \
    SG_API int PMPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
    {                                                                                                        \
        return send("MPI_" #name, SG_CALLER, buffer, count, type, to, tag, comm, mode);                      \
    }                                                                                                        \
    SG_MPI_ALIAS(name)

SEND(Send, SG_SEND_STANDARD)
SEND(Ssend, SG_SEND_SYNCHRONOUS)
SEND(Rsend, SG_SEND_STANDARD)
SEND(Bsend, SG_SEND_BUFFERED)

SG_API int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                     MPI_Status *status)
{
    sg_mpi_enter("MPI_Recv", SG_CALLER);
    const sg_comm *comm = sg_comm_of(handle);
    int error = check(handle, comm, from, tag, count, true);
    if (error != MPI_SUCCESS)
        return error;
    if (from == MPI_PROC_NULL)
        return set_empty_status(status, MPI_PROC_NULL), MPI_SUCCESS;
    return sg_mpi_end_receive(sg_mpi_begin_receive(comm, comm->context, from, tag), handle, buffer, count,
                              type, status);
}
SG_MPI_ALIAS(Recv)

SG_API int PMPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in,
                         int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm handle,
                         MPI_Status *status)
{
    sg_mpi_enter("MPI_Sendrecv", SG_CALLER);
    const sg_comm *comm = sg_comm_of(handle);
    sg_send *s = NULL;
    sg_receive *r = NULL;
    int error = check(handle, comm, to, out_tag, out_count, false);
    if (error == MPI_SUCCESS)
        error = check(handle, comm, from, in_tag, in_count, true);
    if (error != MPI_SUCCESS)
        return error;
    if (from != MPI_PROC_NULL)
        r = sg_mpi_begin_receive(comm, comm->context, from, in_tag);
    if (to != MPI_PROC_NULL)
        s = sg_mpi_begin_send(comm, comm->context, out, out_count, out_type, to, out_tag, SG_SEND_STANDARD);
    if (r != NULL)
        error = sg_mpi_end_receive(r, handle, in, in_count, in_type, status);
    else
        set_empty_status(status, MPI_PROC_NULL);
    if (s != NULL)
        sg_mpi_end_send(s);
    return error;
}
SG_MPI_ALIAS(Sendrecv)

/* ---- requests ---- */

static MPI_Request new_request(enum sg_request_kind kind, void *buffer, int count, MPI_Datatype type,
                               int partner, int tag, MPI_Comm comm)
{
    MPI_Request request = allocate(sizeof *request);
    *request =
        (struct MPI_ABI_Request){.mark = SG_REQUEST_MARK, .kind = kind, .buffer = buffer, .count = count};
    request->partner = partner;
    request->tag = tag;
    request->type = type;
    request->comm = comm;
    request->in = sg_comm_of(comm);
    return request;
}

static void start_request(MPI_Request r)
{
    if (r->partner == MPI_PROC_NULL)
        return;
    if (r->kind == SG_REQUEST_SEND)
        r->send = sg_mpi_begin_send(r->in, r->in->context, r->buffer, r->count, r->type, r->partner, r->tag,
                                    r->mode);
    else
        r->receive = sg_mpi_begin_receive(r->in, r->in->context, r->partner, r->tag);
}

static int isend(const char *call, const void *site, const void *buffer, int count, MPI_Datatype type, int to,
                 int tag, MPI_Comm handle, enum sg_send_mode mode, MPI_Request *request)
{
    sg_mpi_enter(call, site);
    int error = check(handle, sg_comm_of(handle), to, tag, count, false);
    if (error != MPI_SUCCESS)
        return error;
    *request = new_request(SG_REQUEST_SEND, (void *)(uintptr_t)buffer, count, type, to, tag, handle);
    (*request)->mode = mode;
    start_request(*request);
    return MPI_SUCCESS;
}

#define ISEND(name, mode)                                                                                    \
    SG_API int PMPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                           MPI_Request *request)                                                             \
    {                                                                                                        \
        return isend("MPI_" #name, SG_CALLER, buffer, count, type, to, tag, comm, mode, request);            \
    }                                                                                                        \
    SG_MPI_ALIAS(name)

ISEND(Isend, SG_SEND_STANDARD)
ISEND(Issend, SG_SEND_SYNCHRONOUS)
ISEND(Irsend, SG_SEND_STANDARD)
ISEND(Ibsend, SG_SEND_BUFFERED)

SG_API int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm handle,
                      MPI_Request *request)
{
    sg_mpi_enter("MPI_Irecv", SG_CALLER);
    int error = check(handle, sg_comm_of(handle), from, tag, count, true);
    if (error != MPI_SUCCESS)
        return error;
    *request = new_request(SG_REQUEST_RECEIVE, buffer, count, type, from, tag, handle);
    start_request(*request);
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Irecv)

static void drop(MPI_Request *request)
{
    if ((*request)->persistent)
        return;
    (*request)->mark = 0;
    free(*request);
    *request = MPI_REQUEST_NULL;
}

/* The message of the request has been sent or has come. */
static int finish(MPI_Request *request, MPI_Status *status)
{
    MPI_Request r = *request;
    int error = MPI_SUCCESS;
    set_empty_status(status, r->partner == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_ANY_SOURCE);
    if (r->send != NULL)
        sg_send_free(r->send);
    if (r->receive != NULL)
        error = take_data(r->receive, r->comm, r->buffer, r->count, r->type, status);
    r->send = NULL;
    r->receive = NULL;
    drop(request);
    return error;
}

static MPI_Request checked(MPI_Request request)
{
    if (request != MPI_REQUEST_NULL && ((uintptr_t)request < 4096 || request->mark != SG_REQUEST_MARK))
        sg_mpi_error(MPI_COMM_WORLD, MPI_ERR_REQUEST, "the request is none, or not any more");
    return request;
}

static int wait_one(MPI_Request *request, MPI_Status *status)
{
    MPI_Request r = checked(*request);
    if (r == MPI_REQUEST_NULL)
        return set_empty_status(status, MPI_ANY_SOURCE), MPI_SUCCESS;
    if (r->send != NULL)
        sg_send_wait(r->send);
    if (r->receive != NULL)
        sg_receive_wait(r->receive);
    return finish(request, status);
}

SG_API int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    sg_mpi_enter("MPI_Wait", SG_CALLER);
    return wait_one(request, status);
}
SG_MPI_ALIAS(Wait)

SG_API int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int error = MPI_SUCCESS;
    sg_mpi_enter("MPI_Waitall", SG_CALLER);
    for (int i = 0; i < count; i++) {
        int one = wait_one(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
        error = one != MPI_SUCCESS ? one : error;
    }
    return error;
}
SG_MPI_ALIAS(Waitall)

SG_API int PMPI_Request_free(MPI_Request *request)
{
    sg_mpi_enter("MPI_Request_free", SG_CALLER);
    MPI_Request r = checked(*request);
    if (r->send != NULL)
        sg_send_free(r->send);
    r->send = NULL;
    r->persistent = false;
    drop(request);
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Request_free)

SG_API int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    sg_mpi_enter("MPI_Test", SG_CALLER);
    MPI_Request r = checked(*request);
    *flag = r == MPI_REQUEST_NULL || ((r->send == NULL || sg_send_test(r->send)) &&
                                      (r->receive == NULL || sg_receive_test(r->receive)));
    if (!*flag)
        return MPI_SUCCESS;
    return wait_one(request, status);
}
SG_MPI_ALIAS(Test)

/* ---- messages that have come ---- */

static int probe(MPI_Comm handle, int from, int tag, bool wait, int *flag, MPI_Status *status)
{
    const sg_comm *comm = sg_comm_of(handle);
    *flag = true;
    if (from == MPI_PROC_NULL)
        return set_empty_status(status, MPI_PROC_NULL), MPI_SUCCESS;
    const sg_message *m = sg_message_probe(comm->context, from == MPI_ANY_SOURCE ? SG_ANY : from,
                                           tag == MPI_ANY_TAG ? SG_ANY : tag, wait);
    *flag = m != NULL;
    if (m != NULL)
        set_status(status, m->source, m->tag, m->bytes, false);
    return MPI_SUCCESS;
}

SG_API int PMPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag;
    sg_mpi_enter("MPI_Probe", SG_CALLER);
    return probe(comm, from, tag, true, &flag, status);
}
SG_MPI_ALIAS(Probe)

SG_API int PMPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    sg_mpi_enter("MPI_Iprobe", SG_CALLER);
    return probe(comm, from, tag, false, flag, status);
}
SG_MPI_ALIAS(Iprobe)

SG_API int PMPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    size_t bytes = (uint32_t)status->MPI_internal[0] | (size_t)(uint32_t)status->MPI_internal[1] << 32;
    size_t size = sg_type_size(type);
    *count = size == 0 ? 0 : bytes % size == 0 ? (int)(bytes / size) : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Get_count)

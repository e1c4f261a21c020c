/* Messages that have arrived but have not been received. */
#include "sg_mpi_request.h"

/* A message taken from the mailbox by a matched probe. */
typedef struct taken {
    sg_message *message;
    sg_comm *comm;
} taken;

static int probe(int from, int tag, MPI_Comm comm, bool wait, int *flag, sg_message **found, sg_comm **c,
                 MPI_Status *status)
{
    sg_type *bytes;
    *found = NULL;
    *flag = 1;
    int error = sg_check_transfer(comm, NULL, 0, MPI_BYTE, from, tag, true, c, &bytes);
    if (error != MPI_SUCCESS)
        return error;
    if (from == MPI_PROC_NULL)
        return sg_status_none(status, MPI_PROC_NULL), MPI_SUCCESS;
    int32_t source = from == MPI_ANY_SOURCE ? SG_ANY : from, wanted = tag == MPI_ANY_TAG ? SG_ANY : tag;
    sg_progress();
    bool others = sg_mpi_self()->schedules != NULL; /* they progress while this one waits */
    *found = sg_message_probe((*c)->context, source, wanted, wait && !others);
    while (*found == NULL && wait) {
        sg_progress();
        *found = sg_message_probe((*c)->context, source, wanted, sg_mpi_self()->schedules == NULL);
    }
    *flag = *found != NULL;
    if (*found != NULL)
        sg_status_set(status, (*found)->source, (*found)->tag, (int64_t)(*found)->bytes, false);
    return MPI_SUCCESS;
}

SG_API int PMPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    SG_ENTER("Probe");
    int flag;
    sg_message *found;
    sg_comm *c;
    return probe(from, tag, comm, true, &flag, &found, &c, status);
}

SG_API int PMPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    SG_ENTER("Iprobe");
    SG_NEEDS(flag)
    sg_message *found;
    sg_comm *c;
    return probe(from, tag, comm, false, flag, &found, &c, status);
}

static int matched(int from, int tag, MPI_Comm comm, bool wait, int *flag, MPI_Message *message,
                   MPI_Status *status)
{
    sg_message *found;
    sg_comm *c;
    int error = probe(from, tag, comm, wait, flag, &found, &c, status);
    if (error != MPI_SUCCESS)
        return error;
    *message = *flag ? MPI_MESSAGE_NO_PROC : MPI_MESSAGE_NULL;
    if (found == NULL)
        return MPI_SUCCESS;
    sg_message_take(found);
    taken *t = sg_mpi_new(sizeof *t);
    *t = (taken){found, sg_comm_take(c)};
    *message = (MPI_Message)sg_handle_new(SG_KIND_MESSAGE, t);
    return MPI_SUCCESS;
}

SG_API int PMPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    SG_ENTER("Mprobe");
    SG_NEEDS(message)
    int flag;
    return matched(from, tag, comm, true, &flag, message, status);
}

SG_API int PMPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    SG_ENTER("Improbe");
    SG_NEEDS(flag, message)
    return matched(from, tag, comm, false, flag, message, status);
}

/* Turns the receive of a matched message into a request; without a message it is complete. */
static int receive(void *buffer, int count, MPI_Datatype type, MPI_Message *message, sg_request **request)
{
    sg_type *t;
    const taken *named = sg_handle_get(SG_KIND_MESSAGE, (uintptr_t)*message);
    sg_comm *c = named != NULL ? named->comm : NULL;
    int error =
        named != NULL ? sg_buffer_argument(c, buffer, type, count, &t) : sg_type_argument(c, type, count, &t);
    if (error != MPI_SUCCESS)
        return error;
    taken *had = sg_handle_get(SG_KIND_MESSAGE, (uintptr_t)*message);
    if (had == NULL && *message != MPI_MESSAGE_NO_PROC)
        return sg_mpi_error(NULL, MPI_ERR_REQUEST, "the message does not exist (was it received already?)");
    sg_request *r = sg_request_new(SG_REQUEST_RECEIVE, had != NULL ? had->comm : sg_mpi_self()->self, t);
    r->active = true;
    r->buffer = buffer;
    r->count = count;
    r->partner = MPI_PROC_NULL;
    r->complete = had == NULL;
    if (had != NULL) {
        r->partner = had->message->source;
        r->receive = sg_message_receive_taken(had->message);
        sg_comm_drop(had->comm);
        sg_handle_free((uintptr_t)*message);
        sg_mpi_free(had);
    }
    *message = MPI_MESSAGE_NULL;
    *request = r;
    return MPI_SUCCESS;
}

SG_API int PMPI_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    SG_ENTER("Imrecv");
    SG_NEEDS(message, request)
    sg_request *r;
    int error = receive(buffer, count, type, message, &r);
    if (error == MPI_SUCCESS)
        *request = sg_request_handle(r);
    return error;
}

SG_API int PMPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    SG_ENTER("Mrecv");
    SG_NEEDS(message)
    sg_request *r;
    int error = receive(buffer, count, type, message, &r);
    if (error != MPI_SUCCESS)
        return error;
    MPI_Request handle = sg_request_handle(r);
    return sg_request_wait(&handle, status);
}

SG_MPI_NAME(Probe)
SG_MPI_NAME(Iprobe)
SG_MPI_NAME(Mprobe)
SG_MPI_NAME(Improbe)
SG_MPI_NAME(Imrecv)
SG_MPI_NAME(Mrecv)

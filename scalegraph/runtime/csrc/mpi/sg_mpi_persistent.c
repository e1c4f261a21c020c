/* Starting requests: once, or repeatedly if they are persistent. */
#include "sg_mpi_pending.h"

void sg_request_start(sg_request *r)
{
    r->active = true;
    r->complete = r->partner == MPI_PROC_NULL;
    if (r->complete)
        return;
    sg_pending_add(r);
    if (r->kind == SG_REQUEST_SEND)
        r->send = sg_begin_send(r->comm, r->buffer, r->count, r->type, r->partner, r->tag, r->mode);
    else
        r->receive = sg_begin_receive(r->comm, r->partner, r->tag);
}

SG_API int PMPI_Start(MPI_Request *request)
{
    SG_ENTER("Start");
    SG_NEEDS(request)
    sg_request *r = sg_request_of(*request);
    if (r == NULL || !r->persistent)
        return sg_mpi_error(NULL, MPI_ERR_REQUEST, "the request is not persistent");
    if (r->active)
        return sg_mpi_error(r->comm, MPI_ERR_REQUEST, "the request has been started already");
    sg_request_start(r);
    return MPI_SUCCESS;
}

SG_API int PMPI_Startall(int count, MPI_Request requests[])
{
    SG_ENTER("Startall");
    if (count > 0)
        SG_NEEDS(requests)
    if (count < 0)
        return sg_mpi_error(NULL, MPI_ERR_COUNT, "the number of requests is %d", count);
    for (int i = 0; i < count; i++) {
        sg_request *r = sg_request_of(requests[i]);
        if (r == NULL || !r->persistent || r->active)
            return sg_mpi_error(NULL, MPI_ERR_REQUEST, "request %d of the list cannot be started", i);
        sg_request_start(r);
    }
    return MPI_SUCCESS;
}

SG_MPI_NAME(Start)
SG_MPI_NAME(Startall)

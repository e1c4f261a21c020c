/* Generalised requests: operations of the program, which itself says when they are complete. */
#include "sg_mpi_request.h"

SG_API int PMPI_Grequest_start(MPI_Grequest_query_function *query,
                               MPI_Grequest_free_function *release_function,
                               MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request)
{
    SG_ENTER("Grequest_start");
    SG_NEEDS(request)
    sg_request *r = sg_request_new(SG_REQUEST_GENERAL, NULL, NULL);
    r->active = true;
    r->general = sg_mpi_new(sizeof *r->general);
    r->general->completion = (sg_completion){.clock = SG_NEVER, .talk = {SG_TALK_NOWHERE, SG_TALK_NOBODY}};
    r->general->source = r->general->from = r->general->tag = SG_ANY;
    r->general->what = "for MPI_Grequest_complete";
    r->query = query;
    r->release = release_function;
    r->cancel = cancel;
    r->extra = extra;
    *request = sg_request_handle(r);
    return MPI_SUCCESS;
}

SG_API int PMPI_Grequest_complete(MPI_Request request)
{
    SG_ENTER("Grequest_complete");
    sg_request *r = sg_request_of(request);
    if (r == NULL || r->kind != SG_REQUEST_GENERAL)
        return sg_mpi_error(NULL, MPI_ERR_REQUEST, "the request is not a generalised one");
    sg_turn_of_all(sg_now);
    r->complete = true;
    sg_completion *done = &r->general->completion;
    done->clock = done->met = sg_now->clock;
    sg_waiters_wake(r->general->waiters, done, sg_now->clock);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Grequest_start)
SG_MPI_NAME(Grequest_complete)

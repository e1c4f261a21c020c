/* Creating, waiting for, testing and completing requests. */
#include "sg_lockstep.h"
#include "sg_mpi_pending.h"
#include "sg_mpi_window.h"

sg_request *sg_request_new(enum sg_request_kind kind, sg_comm *comm, sg_type *type)
{
    const struct sg_mpi *m = sg_mpi_self();
    sg_request *r = sg_mpi_new(sizeof *r);
    r->kind = kind;
    r->comm = comm != NULL ? sg_comm_take(comm) : NULL;
    r->type = type != NULL ? sg_type_take(type) : NULL;
    r->moved = -1;
    r->call = m->call;
    r->site = m->site;
    return r;
}

MPI_Request sg_request_handle(sg_request *r)
{
    return (MPI_Request)sg_handle_new(SG_KIND_REQUEST, r);
}

MPI_Request sg_request_of_schedule(sg_schedule *s)
{
    sg_request *r = sg_request_new(SG_REQUEST_SCHEDULE, s->comm, NULL);
    r->schedule = s;
    r->active = true;
    sg_schedule_start(s);
    return sg_request_handle(r);
}

MPI_Request sg_request_of_file(sg_comm *comm, int64_t moved, sg_schedule *s)
{
    sg_request *r = sg_request_new(s != NULL ? SG_REQUEST_SCHEDULE : SG_REQUEST_FILE, comm, NULL);
    r->schedule = s;
    r->moved = moved;
    r->active = true;
    r->complete = s == NULL;
    if (s != NULL)
        sg_schedule_start(s);
    return sg_request_handle(r);
}

static int missing(MPI_Request handle)
{
    return sg_mpi_error(NULL, MPI_ERR_REQUEST, "the request %#llx does not exist (was it complete already?)",
                        (unsigned long long)(uintptr_t)handle);
}

/* ---- completion ---- */

/* As far as is known now. */
static bool is_known_complete(const sg_request *r)
{
    if (!r->active || r->complete)
        return true;
    if (r->send != NULL)
        return r->send->completion.clock <= sg_now->clock;
    if (r->receive != NULL)
        return r->receive->completion.clock <= sg_now->clock;
    if (r->access != NULL)
        return sg_access_done(r->access);
    return r->schedule != NULL && r->schedule->done;
}

/* At the processor's clock; takes no simulated time. */
static bool is_complete(const sg_request *r)
{
    if (!is_known_complete(r))
        sg_settle();
    return is_known_complete(r);
}

static void add_pending(sg_awaited *p, const sg_request *r)
{
    if (r->active && r->send != NULL)
        sg_awaited_send(p, r->send);
    if (r->active && r->receive != NULL)
        sg_awaited_receive(p, r->receive);
    if (r->active && r->general != NULL)
        sg_awaited_receive(p, r->general);
}

/* Testing takes as long as polling for a message, so that simulated time passes in a polling loop. */
static void charge_test(void)
{
    sg_message_charge(SG_CATEGORY_PRIM_RECEIVE, sg->config.message_match_cycles + 1);
    sg_lockstep_ask(true);
    sg_events_settle();
    sg_progress();
}

static void release(sg_request *r)
{
    if (r->comm != NULL)
        sg_comm_drop(r->comm);
    if (r->type != NULL)
        sg_type_drop(r->type);
    sg_mpi_free(r->general);
    sg_mpi_free(r);
}

/* Finishes a complete request: its status, data and handle. */
static int finish(MPI_Request *handle, sg_request *r, MPI_Status *status)
{
    int error = MPI_SUCCESS;
    if (!r->active) {
        sg_status_empty(status, MPI_ANY_SOURCE);
        return MPI_SUCCESS;
    }
    sg_status_none(status, r->partner == MPI_PROC_NULL && r->kind == SG_REQUEST_RECEIVE ? MPI_PROC_NULL
                                                                                        : MPI_ANY_SOURCE);
    if (r->send != NULL || r->receive != NULL)
        sg_pending_remove(r);
    if (r->send != NULL) {
        sg_send_free(r->send);
        sg_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, r->cancelled);
    }
    if (r->receive != NULL)
        error = sg_take_receive(r->comm, r->receive, r->buffer, r->count, r->type, r->call, r->site, status);
    if (r->access != NULL) {
        sg_access_wait(r->access, false);
        sg_access_drop(r->access);
    }
    if (r->schedule != NULL) {
        error = r->schedule->error;
        sg_schedule_free(r->schedule);
    }
    if (r->moved >= 0)
        sg_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, r->moved, false);
    if (r->kind == SG_REQUEST_GENERAL) {
        MPI_Status own = {0};
        MPI_Status *told = status == MPI_STATUS_IGNORE ? &own : status;
        error = r->query(r->extra, told);
        int freeing = r->release(r->extra);
        error = error != MPI_SUCCESS ? error : freeing;
    }
    r->send = NULL;
    r->receive = NULL;
    r->schedule = NULL;
    r->access = NULL;
    r->active = r->complete = r->awaited = r->cancelled = false;
    if (!r->persistent) {
        sg_handle_free((uintptr_t)*handle);
        release(r);
        *handle = MPI_REQUEST_NULL;
    }
    return error;
}

static void await(sg_request *r)
{
    if (r->active && r->send != NULL)
        sg_wait_send(r->send);
    else if (r->active && r->receive != NULL)
        sg_wait_receive(r->receive);
    else if (r->active && r->general != NULL) /* another thread will complete it */
        sg_wait_receive(r->general);
    else if (r->active && r->access != NULL)
        sg_access_wait(r->access, false);
    bool before = sg_self()->collective;
    sg_self()->collective = before || r->schedule != NULL;
    bool away = sg_rank_go_away();
    while (!is_complete(r)) {
        sg_awaited p = {0};
        sg_awaited_wait(&p);
        sg_progress();
    }
    sg_rank_return(away);
    sg_self()->collective = before;
}

int sg_request_wait(MPI_Request *handle, MPI_Status *status)
{
    if (*handle == MPI_REQUEST_NULL)
        return sg_status_empty(status, MPI_ANY_SOURCE), MPI_SUCCESS;
    sg_request *r = sg_request_of(*handle);
    if (r == NULL)
        return missing(*handle);
    if (!r->awaited)
        await(r);
    return finish(handle, r, status);
}

SG_API int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    SG_ENTER("Wait");
    SG_NEEDS(request)
    return sg_request_wait(request, status);
}

SG_API int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    SG_ENTER("Test");
    SG_NEEDS(request, flag)
    *flag = 1;
    if (*request == MPI_REQUEST_NULL)
        return sg_status_empty(status, MPI_ANY_SOURCE), MPI_SUCCESS;
    sg_request *r = sg_request_of(*request);
    if (r == NULL)
        return missing(*request);
    charge_test();
    *flag = is_complete(r);
    return *flag ? finish(request, r, status) : MPI_SUCCESS;
}

/* ---- several requests ---- */

#define STATUS(statuses, i) ((statuses) == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &(statuses)[i])

/* Checks that all handles are requests or null. */
static int check_all(int count, const MPI_Request requests[])
{
    if (count < 0)
        return sg_mpi_error(NULL, MPI_ERR_COUNT, "the number of requests is %d", count);
    if (count > 0 && requests == NULL)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the list of %d requests is NULL", count);
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL && sg_request_of(requests[i]) == NULL)
            return missing(requests[i]);
    return MPI_SUCCESS;
}

/* Is one of them completed by something other than a message, or, if `general`, by the program's own
 * functions? */
static bool has_other(int count, const MPI_Request requests[], bool general)
{
    for (int i = 0; i < count; i++) {
        const sg_request *r = requests[i] != MPI_REQUEST_NULL ? sg_request_of(requests[i]) : NULL;
        if (r != NULL && (r->access != NULL || (general && r->kind == SG_REQUEST_GENERAL)))
            return true;
    }
    return false;
}

/* Waits for all of them, and spends the time their completion takes, without the program's static data, which
 * is then exchanged once for all instead of after each wait. */
static void await_all(int count, const MPI_Request requests[])
{
    if (count < 2 || has_other(count, requests, true))
        return;
    MPI_Request *handles = sg_mpi_new((size_t)count * sizeof *handles); /* a copy: theirs may be static */
    memcpy(handles, requests, (size_t)count * sizeof *handles);
    bool before = sg_rank_go_away();
    for (int i = 0; i < count; i++) {
        sg_request *r = handles[i] != MPI_REQUEST_NULL ? sg_request_of(handles[i]) : NULL;
        if (r == NULL || !r->active)
            continue;
        await(r);
        if (r->receive != NULL)
            sg_receive_finish(r->receive);
        r->awaited = true;
    }
    sg_rank_return(before);
    sg_mpi_free(handles);
}

/* Finishes all; individual errors go into the statuses. */
static int finish_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    bool failed = false;
    for (int i = 0; i < count; i++) {
        int error = sg_request_wait(&requests[i], STATUS(statuses, i));
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = error;
        failed |= error != MPI_SUCCESS;
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

SG_API int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    SG_ENTER("Waitall");
    int error = check_all(count, requests);
    if (error != MPI_SUCCESS)
        return error;
    await_all(count, requests);
    return finish_all(count, requests, statuses);
}

SG_API int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    SG_ENTER("Testall");
    SG_NEEDS(flag)
    int error = check_all(count, requests);
    if (error != MPI_SUCCESS)
        return error;
    charge_test();
    *flag = 1;
    for (int i = 0; i < count; i++)
        *flag &= requests[i] == MPI_REQUEST_NULL || is_complete(sg_request_of(requests[i]));
    return *flag ? finish_all(count, requests, statuses) : MPI_SUCCESS;
}

/* Index of the first active request that is complete; -1: none is complete; -2: none is active. */
static int first_complete(int count, const MPI_Request requests[])
{
    int found = -2;
    for (int i = 0; i < count; i++) {
        const sg_request *r = requests[i] != MPI_REQUEST_NULL ? sg_request_of(requests[i]) : NULL;
        if (r == NULL || !r->active)
            continue;
        if (is_complete(r))
            return i;
        found = -1;
    }
    return found;
}

static int wait_for_listed(int count, const MPI_Request requests[])
{
    for (;;) {
        sg_turn_of_all(sg_now);
        sg_progress();
        int found = first_complete(count, requests);
        if (found != -1)
            return found;
        sg_awaited p = {0};
        for (int i = 0; i < count; i++)
            if (requests[i] != MPI_REQUEST_NULL)
                add_pending(&p, sg_request_of(requests[i]));
        bool messages = p.send_count + p.receive_count > 0 || sg_mpi_self()->schedules != NULL;
        if (messages && !has_other(count, requests, false)) {
            sg_awaited_wait(&p);
        } else {
            charge_test();
            sg_mpi_free(p.sends);
            sg_mpi_free(p.receives);
        }
    }
}

/* Waits until at least one is complete; returns the same as first_complete. */
static int wait_for_first(int count, const MPI_Request requests[])
{
    bool before = sg_self()->away;
    bool listed_elsewhere = !sg_image_holds((const char *)requests, (const char *)(requests + count));
    sg_self()->away = before || (listed_elsewhere && !has_other(count, requests, false));
    int found = wait_for_listed(count, requests);
    sg_rank_return(before);
    return found;
}

static int finish_any(int found, MPI_Request requests[], int *index, MPI_Status *status)
{
    *index = found >= 0 ? found : MPI_UNDEFINED;
    if (found >= 0)
        return finish(&requests[found], sg_request_of(requests[found]), status);
    if (found == -2)
        sg_status_empty(status, MPI_ANY_SOURCE);
    return MPI_SUCCESS;
}

SG_API int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    SG_ENTER("Waitany");
    SG_NEEDS(index)
    int error = check_all(count, requests);
    return error != MPI_SUCCESS ? error
                                : finish_any(wait_for_first(count, requests), requests, index, status);
}

SG_API int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    SG_ENTER("Testany");
    SG_NEEDS(index, flag)
    int error = check_all(count, requests);
    if (error != MPI_SUCCESS)
        return error;
    charge_test();
    int found = first_complete(count, requests);
    *flag = found != -1;
    return finish_any(found, requests, index, status);
}

static int finish_some(int found, int count, MPI_Request requests[], int *done, int indices[],
                       MPI_Status statuses[])
{
    bool failed = false;
    *done = found == -2 ? MPI_UNDEFINED : 0;
    for (int i = 0; i < count && found >= 0; i++) {
        sg_request *r = requests[i] != MPI_REQUEST_NULL ? sg_request_of(requests[i]) : NULL;
        if (r == NULL || !r->active || !is_complete(r))
            continue;
        int error = finish(&requests[i], r, STATUS(statuses, *done));
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[*done].MPI_ERROR = error;
        failed |= error != MPI_SUCCESS;
        indices[(*done)++] = i;
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

SG_API int PMPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    SG_ENTER("Waitsome");
    SG_NEEDS(done)
    if (count > 0)
        SG_NEEDS(indices)
    int error = check_all(count, requests);
    if (error != MPI_SUCCESS)
        return error;
    return finish_some(wait_for_first(count, requests), count, requests, done, indices, statuses);
}

SG_API int PMPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    SG_ENTER("Testsome");
    SG_NEEDS(done)
    if (count > 0)
        SG_NEEDS(indices)
    int error = check_all(count, requests);
    if (error != MPI_SUCCESS)
        return error;
    charge_test();
    return finish_some(first_complete(count, requests), count, requests, done, indices, statuses);
}

/* ---- operations on one request ---- */

SG_API int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    SG_ENTER("Request_get_status");
    SG_NEEDS(flag)
    *flag = 1;
    sg_status_empty(status, MPI_ANY_SOURCE);
    if (request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    const sg_request *r = sg_request_of(request);
    if (r == NULL)
        return missing(request);
    charge_test();
    *flag = is_complete(r);
    if (*flag && r->receive != NULL)
        sg_status_set(status, r->receive->source, r->receive->tag, (int64_t)r->receive->bytes,
                      r->receive->cancelled);
    if (*flag && r->moved >= 0)
        sg_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, r->moved, false);
    if (*flag && r->active && r->kind == SG_REQUEST_GENERAL && status != MPI_STATUS_IGNORE)
        return r->query(r->extra, status);
    return MPI_SUCCESS;
}

SG_API int PMPI_Cancel(MPI_Request *request)
{
    SG_ENTER("Cancel");
    SG_NEEDS(request)
    sg_request *r = sg_request_of(*request);
    if (r == NULL)
        return missing(*request);
    if (r->active && r->receive != NULL)
        sg_receive_cancel(r->receive);
    if (r->active && r->send != NULL && sg_send_cancel(r->send))
        r->cancelled = true;
    if (r->kind == SG_REQUEST_GENERAL)
        return r->cancel(r->extra, r->complete);
    return MPI_SUCCESS; /* a message that has left cannot be cancelled */
}

SG_API int PMPI_Request_free(MPI_Request *request)
{
    SG_ENTER("Request_free");
    SG_NEEDS(request)
    sg_request *r = sg_request_of(*request);
    if (r == NULL)
        return missing(*request);
    r->persistent = false;
    if (r->kind == SG_REQUEST_SCHEDULE)
        return sg_mpi_error(r->comm, MPI_ERR_REQUEST,
                            "the request of a collective operation cannot be freed");
    if (r->active && r->receive != NULL && !is_complete(r)) { /* the receive goes on in the background */
        sg_handle_free((uintptr_t)*request);
        sg_pending_remove(r);
        r->freed = true;
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    if (r->active)
        return finish(request, r, MPI_STATUS_IGNORE);
    sg_handle_free((uintptr_t)*request);
    release(r);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

SG_MPI_NAME(Wait)
SG_MPI_NAME(Test)
SG_MPI_NAME(Waitall)
SG_MPI_NAME(Testall)
SG_MPI_NAME(Waitany)
SG_MPI_NAME(Testany)
SG_MPI_NAME(Waitsome)
SG_MPI_NAME(Testsome)
SG_MPI_NAME(Request_get_status)
SG_MPI_NAME(Cancel)
SG_MPI_NAME(Request_free)

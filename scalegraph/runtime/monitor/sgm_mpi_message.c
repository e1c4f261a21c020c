/* Point-to-point messages through MPI's profiling interface: sending and receiving are overhead, blocking is
 * waiting. A trace gets a separate record for each send and each receive; they are matched after the run by
 * their order, since MPI delivers messages with the same sender, receiver, tag and communicator in the order
 * sent, to receives in the order posted. */
#include <stdlib.h>
#include <string.h>

#include "sgm_mpi.h"

/* ---- requests of known receives and persistent sends ---- */

enum { BUCKETS = 1024, AT_ONCE = 64 };

typedef struct pending {
    struct pending *next;
    MPI_Request request;
    MPI_Comm communicator;
    uint64_t posted, bytes;
    int to, tag; /* of a persistent send */
    bool sends, stays;
} pending;

static pending *requests[BUCKETS], *unused;
static uint32_t known; /* requests in the table */
static int64_t lock;

static bool is_traced(void)
{
    return (sgm_traced & SGM_TRACE_MESSAGES) != 0;
}

/* Can a completing request be one of the table's? */
static bool any_known(void)
{
    return __atomic_load_n(&known, __ATOMIC_RELAXED) > 0;
}

static pending **place_of(MPI_Request request)
{
    uint64_t handle = 0;
    memcpy(&handle, &request, sizeof request < sizeof handle ? sizeof request : sizeof handle);
    pending **at = &requests[(handle ^ handle >> 10 ^ handle >> 20) % BUCKETS];
    while (*at != NULL && (*at)->request != request)
        at = &(*at)->next;
    return at;
}

static void remember(pending what)
{
    sgm_mpi_lock(&lock);
    pending **at = place_of(what.request), *p = *at;
    if (p == NULL) {
        p = unused;
        if (p != NULL)
            unused = p->next;
        else
            p = sgm_new_memory(sizeof *p);
        what.next = NULL;
        *at = p;
        known++;
    } else
        what.next = p->next; /* its request completed unobserved, and its handle was reused */
    *p = what;
    sgm_mpi_unlock(&lock);
}

/* Finds `request` in the table and removes it, unless it stays; returns whether it was there. */
static bool recall(MPI_Request request, pending *found, bool forget)
{
    sgm_mpi_lock(&lock);
    pending **at = place_of(request), *p = *at;
    if (p != NULL) {
        *found = *p;
        if (forget || !p->stays) {
            *at = p->next;
            p->next = unused;
            unused = p;
            known--;
        }
    }
    sgm_mpi_unlock(&lock);
    return p != NULL;
}

/* ---- records ---- */

static uint64_t stream_of(uint32_t number, int tag)
{
    return number | (uint64_t)(uint32_t)tag << 32;
}

static void sent(sgm_thread *t, int to, int tag, uint64_t bytes, MPI_Comm communicator, uint64_t begin)
{
    uint32_t number;
    int partner = is_traced() ? sgm_mpi_partner(communicator, to, &number) : -1;
    if (partner < 0)
        return;
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_SENT,
                                       .region = (uint32_t)partner,
                                       .time = t->switched,
                                       .first = begin,
                                       .second = stream_of(number, tag)});
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_PARCEL, .time = t->switched, .first = bytes});
}

static void taken(sgm_thread *t, const MPI_Status *status, MPI_Comm communicator, uint64_t posted)
{
    uint32_t number;
    int partner = is_traced() ? sgm_mpi_partner(communicator, status->MPI_SOURCE, &number) : -1;
    if (partner < 0)
        return;
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_TAKEN,
                                       .region = (uint32_t)partner,
                                       .time = t->switched,
                                       .first = posted,
                                       .second = stream_of(number, status->MPI_TAG)});
}

/* `request` as it was before the call that completed it. Only requests can be cancelled: MPICH does not
 * always set that in the status of a matched probe. */
static void completed(sgm_thread *t, MPI_Request request, const MPI_Status *status)
{
    pending found;
    int cancelled = 0;
    if (request == MPI_REQUEST_NULL || !recall(request, &found, false) || found.sends)
        return;
    PMPI_Test_cancelled(status, &cancelled);
    if (!cancelled)
        taken(t, status, found.communicator, found.posted);
}

/* ---- sends ---- */

#define SENT (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator)
#define SENT_LATER                                                                                           \
    (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,                 \
     MPI_Request *request)
#define SENDS(category, name, parameters, given)                                                             \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t before = sgm_switch(t, category);                                                           \
        uint64_t begin = t->last;                                                                            \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(t, before);                                                                               \
        sent(t, to, tag, sgm_mpi_bytes(data, count, type), communicator, begin);                             \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)
SENDS(SG_CATEGORY_PRIM_SEND, MPI_Send, SENT, (data, count, type, to, tag, communicator))
SENDS(SG_CATEGORY_PRIM_SEND, MPI_Bsend, SENT, (data, count, type, to, tag, communicator))
SENDS(SG_CATEGORY_PRIM_SEND, MPI_Rsend, SENT, (data, count, type, to, tag, communicator))
SENDS(SG_CATEGORY_IDLE_LATE_RECEIVER, MPI_Ssend, SENT, (data, count, type, to, tag, communicator))
SENDS(SG_CATEGORY_PRIM_SEND, MPI_Isend, SENT_LATER, (data, count, type, to, tag, communicator, request))
SENDS(SG_CATEGORY_PRIM_SEND, MPI_Irsend, SENT_LATER, (data, count, type, to, tag, communicator, request))
SENDS(SG_CATEGORY_PRIM_SEND, MPI_Issend, SENT_LATER, (data, count, type, to, tag, communicator, request))
SENDS(SG_CATEGORY_PRIM_SEND, MPI_Ibsend, SENT_LATER, (data, count, type, to, tag, communicator, request))

/* ---- receives ---- */

/* A receive waits if the message has not arrived when it is called. */
SGM_API int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                     MPI_Status *status)
{
    int there = 0;
    MPI_Status mine;
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_RECEIVE);
    uint64_t posted = t->last;
    status = status == MPI_STATUS_IGNORE ? &mine : status;
    PMPI_Iprobe(from, tag, communicator, &there, MPI_STATUS_IGNORE);
    if (!there)
        sgm_switch(t, SG_CATEGORY_IDLE_MESSAGE);
    int result = SGM_MPI(MPI_Recv)(data, count, type, from, tag, communicator, status);
    sgm_switch(t, before);
    taken(t, status, communicator, posted);
    return result;
}
SGM_OF_FORTRAN(MPI_Recv,
               (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                MPI_Status *status),
               (data, count, type, from, tag, communicator, status))

SGM_API int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                      MPI_Request *request)
{
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_RECEIVE);
    uint64_t posted = t->last;
    int result = SGM_MPI(MPI_Irecv)(data, count, type, from, tag, communicator, request);
    if (is_traced() && result == MPI_SUCCESS)
        remember((pending){.request = *request, .communicator = communicator, .posted = posted});
    sgm_switch(t, before);
    return result;
}
SGM_OF_FORTRAN(MPI_Irecv,
               (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                MPI_Request *request),
               (data, count, type, from, tag, communicator, request))

/* A matched probe decides which message is received, and returns when it has arrived: it counts as received
 * then. */
#define MATCHES(category, name, parameters, given, there)                                                    \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        MPI_Status mine;                                                                                     \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t before = sgm_switch(t, category);                                                           \
        uint64_t posted = t->last;                                                                           \
        status = status == MPI_STATUS_IGNORE ? &mine : status;                                               \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(t, before);                                                                               \
        if (result == MPI_SUCCESS && (there))                                                                \
            taken(t, status, communicator, posted);                                                          \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)
MATCHES(SG_CATEGORY_IDLE_MESSAGE, MPI_Mprobe,
        (int from, int tag, MPI_Comm communicator, MPI_Message *message, MPI_Status *status),
        (from, tag, communicator, message, status), true)
MATCHES(SG_CATEGORY_PRIM_RECEIVE, MPI_Improbe,
        (int from, int tag, MPI_Comm communicator, int *flag, MPI_Message *message, MPI_Status *status),
        (from, tag, communicator, flag, message, status), *flag)
SGM_MPI_AS(SG_CATEGORY_PRIM_RECEIVE, MPI_Mrecv,
           (void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
           (data, count, type, message, status))
SGM_MPI_AS(SG_CATEGORY_PRIM_RECEIVE, MPI_Imrecv,
           (void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
           (data, count, type, message, request))

#define EXCHANGES(name, parameters, given, bytes)                                                            \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        MPI_Status mine;                                                                                     \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t before = sgm_switch(t, SG_CATEGORY_IDLE_MESSAGE);                                           \
        uint64_t begin = t->last;                                                                            \
        status = status == MPI_STATUS_IGNORE ? &mine : status;                                               \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(t, before);                                                                               \
        sent(t, to, tag, bytes, communicator, begin);                                                        \
        taken(t, status, communicator, begin);                                                               \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)
EXCHANGES(MPI_Sendrecv,
          (const void *out, int outs, MPI_Datatype of, int to, int tag, void *in, int ins, MPI_Datatype type,
           int from, int as, MPI_Comm communicator, MPI_Status *status),
          (out, outs, of, to, tag, in, ins, type, from, as, communicator, status),
          sgm_mpi_bytes(out, outs, of))
EXCHANGES(MPI_Sendrecv_replace,
          (void *data, int count, MPI_Datatype type, int to, int tag, int from, int as, MPI_Comm communicator,
           MPI_Status *status),
          (data, count, type, to, tag, from, as, communicator, status), sgm_mpi_bytes(data, count, type))

/* ---- persistent requests ---- */

#define PREPARES(name)                                                                                       \
    SGM_API int name SENT_LATER                                                                              \
    {                                                                                                        \
        uint32_t before = sgm_switch(sgm_self(), SG_CATEGORY_PRIM_SEND);                                     \
        int result = SGM_MPI(name)(data, count, type, to, tag, communicator, request);                       \
        if (is_traced() && result == MPI_SUCCESS)                                                            \
            remember((pending){.request = *request,                                                          \
                               .communicator = communicator,                                                 \
                               .bytes = sgm_mpi_bytes(data, count, type),                                    \
                               .to = to,                                                                     \
                               .tag = tag,                                                                   \
                               .sends = true,                                                                \
                               .stays = true});                                                              \
        sgm_switch(sgm_self(), before);                                                                      \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, SENT_LATER, (data, count, type, to, tag, communicator, request))
PREPARES(MPI_Send_init)
PREPARES(MPI_Bsend_init)
PREPARES(MPI_Rsend_init)
PREPARES(MPI_Ssend_init)

SGM_API int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                          MPI_Request *request)
{
    uint32_t before = sgm_switch(sgm_self(), SG_CATEGORY_PRIM_RECEIVE);
    int result = SGM_MPI(MPI_Recv_init)(data, count, type, from, tag, communicator, request);
    if (is_traced() && result == MPI_SUCCESS)
        remember((pending){.request = *request, .communicator = communicator, .stays = true});
    sgm_switch(sgm_self(), before);
    return result;
}
SGM_OF_FORTRAN(MPI_Recv_init,
               (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                MPI_Request *request),
               (data, count, type, from, tag, communicator, request))

static void started(sgm_thread *t, int count, const MPI_Request *all, uint64_t begin)
{
    pending found;
    for (int at = 0; any_known() && at < count; at++)
        if (recall(all[at], &found, false)) {
            found.posted = begin;
            remember(found);
            if (found.sends)
                sent(t, found.to, found.tag, found.bytes, found.communicator, begin);
        }
}

SGM_API int MPI_Start(MPI_Request *request)
{
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_SEND);
    uint64_t begin = t->last;
    int result = SGM_MPI(MPI_Start)(request);
    sgm_switch(t, before);
    started(t, 1, request, begin);
    return result;
}
SGM_OF_FORTRAN(MPI_Start, (MPI_Request * request), (request))

SGM_API int MPI_Startall(int count, MPI_Request *all)
{
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_SEND);
    uint64_t begin = t->last;
    int result = SGM_MPI(MPI_Startall)(count, all);
    sgm_switch(t, before);
    started(t, count, all, begin);
    return result;
}
SGM_OF_FORTRAN(MPI_Startall, (int count, MPI_Request *all), (count, all))

SGM_API int MPI_Request_free(MPI_Request *request)
{
    pending found;
    if (any_known())
        recall(*request, &found, true);
    return SGM_MPI(MPI_Request_free)(request);
}
SGM_OF_FORTRAN(MPI_Request_free, (MPI_Request * request), (request))

/* ---- completion ---- */

/* What a call that completes several requests needs: their handles before it, and their statuses. */
typedef struct several {
    MPI_Request few[AT_ONCE], *before;
    MPI_Status few_statuses[AT_ONCE], *statuses;
} several;

/* False if nothing is known of the requests, or out of memory. */
static bool begin_several(several *s, int count, const MPI_Request *all, MPI_Status *statuses)
{
    if (!any_known() || count <= 0)
        return false;
    s->before = count <= AT_ONCE ? s->few : malloc((size_t)count * sizeof *s->before);
    s->statuses = statuses;
    if (statuses == MPI_STATUSES_IGNORE)
        s->statuses = count <= AT_ONCE ? s->few_statuses : malloc((size_t)count * sizeof *s->statuses);
    if (s->before == NULL || s->statuses == NULL)
        sgm_stop("no memory for requests");
    memcpy(s->before, all, (size_t)count * sizeof *all);
    return true;
}

static void end_several(several *s, const MPI_Status *statuses)
{
    if (s->before != s->few)
        free(s->before);
    if (s->statuses != statuses && s->statuses != s->few_statuses)
        free(s->statuses);
}

#define COMPLETES_ONE(category, name, parameters, given, done)                                               \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        MPI_Status mine;                                                                                     \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t category_before = sgm_switch(t, category);                                                  \
        MPI_Request before = *request;                                                                       \
        status = status == MPI_STATUS_IGNORE ? &mine : status;                                               \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(t, category_before);                                                                      \
        if (any_known() && (done))                                                                           \
            completed(t, before, status);                                                                    \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)
COMPLETES_ONE(SG_CATEGORY_IDLE_MESSAGE, MPI_Wait, (MPI_Request * request, MPI_Status *status),
              (request, status), true)
COMPLETES_ONE(SG_CATEGORY_PRIM_RECEIVE, MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status),
              (request, flag, status), *flag)

/* `many` of the requests are completed: number `which` of `all` has status `at`. */
#define COMPLETES(category, name, parameters, given, many, which)                                            \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        several s;                                                                                           \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t category_before = sgm_switch(t, category);                                                  \
        MPI_Status *theirs = statuses;                                                                       \
        bool looks = begin_several(&s, count, all, statuses);                                                \
        statuses = looks ? s.statuses : statuses;                                                            \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(t, category_before);                                                                      \
        for (int at = 0; looks && at < (many); at++)                                                         \
            completed(t, s.before[which], &statuses[at]);                                                    \
        if (looks)                                                                                           \
            end_several(&s, theirs);                                                                         \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)
#define ALL  (int count, MPI_Request *all, MPI_Status *statuses)
#define TEST (int count, MPI_Request *all, int *flag, MPI_Status *statuses)
#define SOME (int count, MPI_Request *all, int *done, int *indices, MPI_Status *statuses)
COMPLETES(SG_CATEGORY_IDLE_MESSAGE, MPI_Waitall, ALL, (count, all, statuses), count, at)
COMPLETES(SG_CATEGORY_PRIM_RECEIVE, MPI_Testall, TEST, (count, all, flag, statuses), *flag ? count : 0, at)
/* MPI_UNDEFINED, if there was nothing to complete, is negative */
COMPLETES(SG_CATEGORY_IDLE_MESSAGE, MPI_Waitsome, SOME, (count, all, done, indices, statuses), *done,
          indices[at])
COMPLETES(SG_CATEGORY_PRIM_RECEIVE, MPI_Testsome, SOME, (count, all, done, indices, statuses), *done,
          indices[at])

#define COMPLETES_ANY(category, name, parameters, given, done)                                               \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        several s;                                                                                           \
        MPI_Status mine;                                                                                     \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t category_before = sgm_switch(t, category);                                                  \
        status = status == MPI_STATUS_IGNORE ? &mine : status;                                               \
        bool looks = begin_several(&s, count, all, s.few_statuses);                                          \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(t, category_before);                                                                      \
        if (looks && (done) && *index != MPI_UNDEFINED)                                                      \
            completed(t, s.before[*index], status);                                                          \
        if (looks)                                                                                           \
            end_several(&s, s.few_statuses);                                                                 \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)
COMPLETES_ANY(SG_CATEGORY_IDLE_MESSAGE, MPI_Waitany,
              (int count, MPI_Request *all, int *index, MPI_Status *status), (count, all, index, status),
              true)
COMPLETES_ANY(SG_CATEGORY_PRIM_RECEIVE, MPI_Testany,
              (int count, MPI_Request *all, int *index, int *flag, MPI_Status *status),
              (count, all, index, flag, status), *flag)

SGM_MPI_AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Probe,
           (int from, int tag, MPI_Comm communicator, MPI_Status *status), (from, tag, communicator, status))

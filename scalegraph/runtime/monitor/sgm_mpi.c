/* MPI by its profiling interface: what is sent and received is an overhead, what is waited for is waiting. */
#include <mpi.h>

#include "sgm.h"

int sgm_rank = -1;

static void know_rank(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &sgm_rank);
}

#define AS(category, name, parameters, given)                                                                \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        uint32_t before = sgm_switch(sgm_self(), category);                                                  \
        int result = P##name given;                                                                          \
        sgm_switch(sgm_self(), before);                                                                      \
        return result;                                                                                       \
    }

SGM_API int MPI_Init(int *count, char ***words)
{
    uint32_t before = sgm_switch(sgm_self(), SG_CATEGORY_PRIM_THREAD);
    int result = PMPI_Init(count, words);
    know_rank();
    sgm_switch(sgm_self(), before);
    return result;
}

SGM_API int MPI_Init_thread(int *count, char ***words, int wanted, int *got)
{
    uint32_t before = sgm_switch(sgm_self(), SG_CATEGORY_PRIM_THREAD);
    int result = PMPI_Init_thread(count, words, wanted, got);
    know_rank();
    sgm_switch(sgm_self(), before);
    return result;
}

AS(SG_CATEGORY_PRIM_THREAD, MPI_Finalize, (void), ())

/* A receive waits if the message is not there yet when it is called. */
SGM_API int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                     MPI_Status *status)
{
    int there = 0;
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_RECEIVE);
    PMPI_Iprobe(from, tag, communicator, &there, MPI_STATUS_IGNORE);
    if (!there)
        sgm_switch(t, SG_CATEGORY_IDLE_MESSAGE);
    int result = PMPI_Recv(data, count, type, from, tag, communicator, status);
    sgm_switch(t, before);
    return result;
}

#define SENT (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator)
#define SENT_LATER                                                                                           \
    (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,                 \
     MPI_Request *request)
AS(SG_CATEGORY_PRIM_SEND, MPI_Send, SENT, (data, count, type, to, tag, communicator))
AS(SG_CATEGORY_PRIM_SEND, MPI_Bsend, SENT, (data, count, type, to, tag, communicator))
AS(SG_CATEGORY_PRIM_SEND, MPI_Rsend, SENT, (data, count, type, to, tag, communicator))
AS(SG_CATEGORY_IDLE_LATE_RECEIVER, MPI_Ssend, SENT, (data, count, type, to, tag, communicator))
AS(SG_CATEGORY_PRIM_SEND, MPI_Isend, SENT_LATER, (data, count, type, to, tag, communicator, request))
AS(SG_CATEGORY_PRIM_SEND, MPI_Issend, SENT_LATER, (data, count, type, to, tag, communicator, request))
AS(SG_CATEGORY_PRIM_SEND, MPI_Ibsend, SENT_LATER, (data, count, type, to, tag, communicator, request))
AS(SG_CATEGORY_PRIM_RECEIVE, MPI_Irecv,
   (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Request *request),
   (data, count, type, from, tag, communicator, request))
AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Sendrecv,
   (const void *out, int outs, MPI_Datatype of, int to, int tag, void *in, int ins, MPI_Datatype type,
    int from, int as, MPI_Comm communicator, MPI_Status *status),
   (out, outs, of, to, tag, in, ins, type, from, as, communicator, status))
AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Sendrecv_replace,
   (void *data, int count, MPI_Datatype type, int to, int tag, int from, int as, MPI_Comm communicator,
    MPI_Status *status),
   (data, count, type, to, tag, from, as, communicator, status))
AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Wait, (MPI_Request * request, MPI_Status *status), (request, status))
AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Waitall, (int count, MPI_Request *requests, MPI_Status *statuses),
   (count, requests, statuses))
AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Waitany, (int count, MPI_Request *requests, int *index, MPI_Status *status),
   (count, requests, index, status))
AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Waitsome,
   (int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses),
   (count, requests, done, indices, statuses))
AS(SG_CATEGORY_IDLE_MESSAGE, MPI_Probe, (int from, int tag, MPI_Comm communicator, MPI_Status *status),
   (from, tag, communicator, status))

/* Collective operations: waiting for the others is not separated from the operation itself. */
#define TOGETHER(name, parameters, given) AS(SG_CATEGORY_IDLE_COLLECTIVE, name, parameters, given)
TOGETHER(MPI_Barrier, (MPI_Comm communicator), (communicator))
TOGETHER(MPI_Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm communicator),
         (data, count, type, root, communicator))
TOGETHER(MPI_Reduce,
         (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
          MPI_Comm communicator),
         (in, out, count, type, op, root, communicator))
#define REDUCED (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator)
TOGETHER(MPI_Allreduce, REDUCED, (in, out, count, type, op, communicator))
TOGETHER(MPI_Scan, REDUCED, (in, out, count, type, op, communicator))
TOGETHER(MPI_Exscan, REDUCED, (in, out, count, type, op, communicator))
TOGETHER(MPI_Reduce_scatter_block, REDUCED, (in, out, count, type, op, communicator))
TOGETHER(MPI_Reduce_scatter,
         (const void *in, void *out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm communicator),
         (in, out, counts, type, op, communicator))
#define ROOTED                                                                                               \
    (const void *in, int ins, MPI_Datatype of, void *out, int outs, MPI_Datatype type, int root,             \
     MPI_Comm communicator)
#define EXCHANGED                                                                                            \
    (const void *in, int ins, MPI_Datatype of, void *out, int outs, MPI_Datatype type, MPI_Comm communicator)
TOGETHER(MPI_Gather, ROOTED, (in, ins, of, out, outs, type, root, communicator))
TOGETHER(MPI_Scatter, ROOTED, (in, ins, of, out, outs, type, root, communicator))
TOGETHER(MPI_Allgather, EXCHANGED, (in, ins, of, out, outs, type, communicator))
TOGETHER(MPI_Alltoall, EXCHANGED, (in, ins, of, out, outs, type, communicator))
TOGETHER(MPI_Gatherv,
         (const void *in, int ins, MPI_Datatype of, void *out, const int outs[], const int at[],
          MPI_Datatype type, int root, MPI_Comm communicator),
         (in, ins, of, out, outs, at, type, root, communicator))
TOGETHER(MPI_Scatterv,
         (const void *in, const int ins[], const int at[], MPI_Datatype of, void *out, int outs,
          MPI_Datatype type, int root, MPI_Comm communicator),
         (in, ins, at, of, out, outs, type, root, communicator))
TOGETHER(MPI_Allgatherv,
         (const void *in, int ins, MPI_Datatype of, void *out, const int outs[], const int at[],
          MPI_Datatype type, MPI_Comm communicator),
         (in, ins, of, out, outs, at, type, communicator))
TOGETHER(MPI_Alltoallv,
         (const void *in, const int ins[], const int from[], MPI_Datatype of, void *out, const int outs[],
          const int at[], MPI_Datatype type, MPI_Comm communicator),
         (in, ins, from, of, out, outs, at, type, communicator))

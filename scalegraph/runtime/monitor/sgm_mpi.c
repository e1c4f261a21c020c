/* MPI through its profiling interface: sending and receiving are overhead, blocking is waiting. */
#include <stdlib.h>

#include "sgm_mpi.h"

int sgm_rank = -1;

static void know_rank(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &sgm_rank);
    sgm_compare_clocks(0);
}

SGM_API int MPI_Init(int *count, char ***words)
{
    uint32_t before = sgm_switch(sgm_self(), SGM_STARTING);
    int result = SGM_MPI(MPI_Init)(count, words);
    know_rank();
    sgm_switch(sgm_self(), before);
    return result;
}
SGM_OF_FORTRAN(MPI_Init, (int *count, char ***words), (count, words))

SGM_API int MPI_Init_thread(int *count, char ***words, int wanted, int *got)
{
    uint32_t before = sgm_switch(sgm_self(), SGM_STARTING);
    int result = SGM_MPI(MPI_Init_thread)(count, words, wanted, got);
    know_rank();
    sgm_switch(sgm_self(), before);
    return result;
}
SGM_OF_FORTRAN(MPI_Init_thread, (int *count, char ***words, int wanted, int *got),
               (count, words, wanted, got))

SGM_API int MPI_Finalize(void)
{
    uint32_t before = sgm_switch(sgm_self(), SGM_STARTING);
    sgm_compare_clocks(1);
    int result = SGM_MPI(MPI_Finalize)();
    sgm_switch(sgm_self(), before);
    return result;
}
SGM_OF_FORTRAN(MPI_Finalize, (void), ())

/* ---- collective operations ----
 *
 * Records when each member arrived and left; how much of that was waiting is determined after the run from
 * the times of all members. Members number a group's operations identically, so nothing is exchanged. */

enum { GROUPS = 64, NO_ROOT = -1000, OFFSET = 2166136261u, PRIME = 16777619u };

/* Numbers of collective operations, as in traces. */
enum {
    BARRIER,
    BROADCAST,
    GATHER,
    GATHER_VARIED,
    SCATTER,
    SCATTER_VARIED,
    ALL_GATHER,
    ALL_GATHER_VARIED,
    ALL_TO_ALL,
    ALL_TO_ALL_VARIED,
    ALL_REDUCE = 11,
    REDUCE,
    REDUCE_SCATTER,
    SCAN,
    EXCLUSIVE_SCAN,
    REDUCE_SCATTER_BLOCK
};

static sgm_group groups[GROUPS];
static struct {
    uint32_t number;
    uint64_t operations;
} counted[GROUPS];
static int64_t group_lock;

/* The ranks in MPI_COMM_WORLD of the members of `group`, and a hash of them and their order. */
static int *members_of(MPI_Group group, int size, uint32_t *number)
{
    MPI_Group all;
    int *ranks = malloc((size_t)size * sizeof *ranks), *world = malloc((size_t)size * sizeof *world);
    if (ranks == NULL || world == NULL)
        sgm_stop("no memory for a communicator");
    for (int rank = 0; rank < size; rank++)
        ranks[rank] = rank;
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(group, size, ranks, all, world);
    PMPI_Group_free(&all);
    free(ranks);
    *number = OFFSET;
    for (int rank = 0; rank < size; rank++)
        *number = (*number ^ (uint32_t)world[rank]) * PRIME;
    return world;
}

static void describe(sgm_group *g, MPI_Comm communicator)
{
    MPI_Group mine, others;
    int size, all, between = 0;
    uint32_t number, theirs;
    PMPI_Comm_test_inter(communicator, &between);
    free(g->world);
    *g = (sgm_group){.communicator = communicator, .used = true, .between = between != 0};
    PMPI_Comm_size(communicator, &size);
    PMPI_Comm_group(communicator, &mine);
    g->world = members_of(mine, size, &number);
    PMPI_Group_free(&mine);
    if (g->between) { /* its partners are in the other group, and both use the same number for it */
        PMPI_Comm_remote_size(communicator, &size);
        PMPI_Comm_remote_group(communicator, &others);
        free(g->world);
        g->world = members_of(others, size, &theirs);
        PMPI_Group_free(&others);
        g->number = (number ^ theirs) | 1;
        g->side = number < theirs ? 1 : 2;
        return;
    }
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    bool whole = size == all;
    for (int rank = 0; rank < size; rank++)
        whole = whole && g->world[rank] == rank;
    g->number = whole ? 0 : number | 1;
}

static const sgm_group *group_of(MPI_Comm communicator)
{
    sgm_group *g = NULL;
    for (int at = 0; at < GROUPS && g == NULL; at++)
        if (!groups[at].used || groups[at].communicator == communicator)
            g = &groups[at];
    if (g == NULL)
        g = &groups[GROUPS - 1]; /* replaces another one */
    if (!g->used || g->communicator != communicator)
        describe(g, communicator);
    return g;
}

static uint64_t next_of(uint32_t number)
{
    for (int at = 0; at < GROUPS; at++)
        if (counted[at].operations == 0 || counted[at].number == number) {
            counted[at].number = number;
            return ++counted[at].operations;
        }
    return 0; /* more groups than are counted */
}

uint64_t sgm_mpi_bytes(const void *data, int count, MPI_Datatype type)
{
    int size = 0;
    if (data == MPI_IN_PLACE || count <= 0)
        return 0;
    PMPI_Type_size(type, &size);
    return (uint64_t)count * (uint64_t)size;
}

int sgm_mpi_partner(MPI_Comm communicator, int rank, uint32_t *number)
{
    sgm_mpi_lock(&group_lock);
    const sgm_group *g = group_of(communicator);
    int partner = rank >= 0 ? g->world[rank] : -1;
    *number = g->number;
    sgm_mpi_unlock(&group_lock);
    return partner;
}

/* The rank in MPI_COMM_WORLD of an operation's root, -1: no root, or in this process's own group. */
static int root_of(const sgm_group *g, int root)
{
    if (g->between && root == MPI_ROOT)
        return sgm_rank;
    return root >= 0 ? g->world[root] : -1;
}

/* The operation lasted from `begin` until now; `root`: as in the call, `NO_ROOT` for none. */
static void gathered(sgm_thread *t, unsigned operation, int root, uint64_t bytes, MPI_Comm communicator,
                     uint64_t begin)
{
    sgm_mpi_lock(&group_lock);
    const sgm_group *g = group_of(communicator);
    uint64_t turn = next_of(g->number);
    uint64_t from = root == NO_ROOT ? 0 : (uint64_t)(root_of(g, root) + 1);
    uint32_t number = g->number, side = g->side;
    sgm_mpi_unlock(&group_lock);
    if (turn == 0)
        return;
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_COLLECTIVE,
                                       .what = (uint8_t)operation,
                                       .region = number,
                                       .time = t->switched,
                                       .first = begin,
                                       .second = from});
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_CARRIED,
                                       .what = (uint8_t)side,
                                       .region = t->region,
                                       .time = turn,
                                       .first = bytes,
                                       .second = bytes});
}

SGM_API int MPI_Comm_free(MPI_Comm *communicator)
{
    sgm_mpi_lock(&group_lock);
    for (int at = 0; at < GROUPS; at++)
        if (groups[at].used && groups[at].communicator == *communicator)
            groups[at].communicator = MPI_COMM_NULL; /* its handle may be reused */
    sgm_mpi_unlock(&group_lock);
    return SGM_MPI(MPI_Comm_free)(communicator);
}
SGM_OF_FORTRAN(MPI_Comm_free, (MPI_Comm * communicator), (communicator))

#define TOGETHER(name, operation, root, bytes, parameters, given)                                            \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t before = sgm_switch(t, SG_CATEGORY_IDLE_COLLECTIVE);                                        \
        uint64_t begin = t->last;                                                                            \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(t, before);                                                                               \
        if ((sgm_traced & SGM_TRACE_MESSAGES) != 0)                                                          \
            gathered(t, operation, root, bytes, communicator, begin);                                        \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)
TOGETHER(MPI_Barrier, BARRIER, NO_ROOT, 0, (MPI_Comm communicator), (communicator))
TOGETHER(MPI_Bcast, BROADCAST, root, sgm_mpi_bytes(data, count, type),
         (void *data, int count, MPI_Datatype type, int root, MPI_Comm communicator),
         (data, count, type, root, communicator))
TOGETHER(MPI_Reduce, REDUCE, root, sgm_mpi_bytes(in, count, type),
         (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
          MPI_Comm communicator),
         (in, out, count, type, op, root, communicator))
#define REDUCED (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator)
TOGETHER(MPI_Allreduce, ALL_REDUCE, NO_ROOT, sgm_mpi_bytes(in, count, type), REDUCED,
         (in, out, count, type, op, communicator))
TOGETHER(MPI_Scan, SCAN, NO_ROOT, sgm_mpi_bytes(in, count, type), REDUCED,
         (in, out, count, type, op, communicator))
TOGETHER(MPI_Exscan, EXCLUSIVE_SCAN, NO_ROOT, sgm_mpi_bytes(in, count, type), REDUCED,
         (in, out, count, type, op, communicator))
TOGETHER(MPI_Reduce_scatter_block, REDUCE_SCATTER_BLOCK, NO_ROOT, sgm_mpi_bytes(in, count, type), REDUCED,
         (in, out, count, type, op, communicator))
TOGETHER(MPI_Reduce_scatter, REDUCE_SCATTER, NO_ROOT, 0,
         (const void *in, void *out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm communicator),
         (in, out, counts, type, op, communicator))
#define ROOTED                                                                                               \
    (const void *in, int ins, MPI_Datatype of, void *out, int outs, MPI_Datatype type, int root,             \
     MPI_Comm communicator)
#define EXCHANGED                                                                                            \
    (const void *in, int ins, MPI_Datatype of, void *out, int outs, MPI_Datatype type, MPI_Comm communicator)
TOGETHER(MPI_Gather, GATHER, root, sgm_mpi_bytes(in, ins, of), ROOTED,
         (in, ins, of, out, outs, type, root, communicator))
TOGETHER(MPI_Scatter, SCATTER, root, sgm_mpi_bytes(out, outs, type), ROOTED,
         (in, ins, of, out, outs, type, root, communicator))
TOGETHER(MPI_Allgather, ALL_GATHER, NO_ROOT, sgm_mpi_bytes(in, ins, of), EXCHANGED,
         (in, ins, of, out, outs, type, communicator))
TOGETHER(MPI_Alltoall, ALL_TO_ALL, NO_ROOT, sgm_mpi_bytes(in, ins, of), EXCHANGED,
         (in, ins, of, out, outs, type, communicator))
TOGETHER(MPI_Gatherv, GATHER_VARIED, root, sgm_mpi_bytes(in, ins, of),
         (const void *in, int ins, MPI_Datatype of, void *out, const int outs[], const int at[],
          MPI_Datatype type, int root, MPI_Comm communicator),
         (in, ins, of, out, outs, at, type, root, communicator))
TOGETHER(MPI_Scatterv, SCATTER_VARIED, root, sgm_mpi_bytes(out, outs, type),
         (const void *in, const int ins[], const int at[], MPI_Datatype of, void *out, int outs,
          MPI_Datatype type, int root, MPI_Comm communicator),
         (in, ins, at, of, out, outs, type, root, communicator))
TOGETHER(MPI_Allgatherv, ALL_GATHER_VARIED, NO_ROOT, sgm_mpi_bytes(in, ins, of),
         (const void *in, int ins, MPI_Datatype of, void *out, const int outs[], const int at[],
          MPI_Datatype type, MPI_Comm communicator),
         (in, ins, of, out, outs, at, type, communicator))
TOGETHER(MPI_Alltoallv, ALL_TO_ALL_VARIED, NO_ROOT, 0,
         (const void *in, const int ins[], const int from[], MPI_Datatype of, void *out, const int outs[],
          const int at[], MPI_Datatype type, MPI_Comm communicator),
         (in, ins, from, of, out, outs, at, type, communicator))

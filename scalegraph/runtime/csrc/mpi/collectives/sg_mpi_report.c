/* Reports a collective operation to observers: kind, algorithm, root, bytes and times. */
#include <strings.h>

#include "sg_mpi_collective.h"
#include "sg_observer.h"

/* In the order of the trace's operations (traces/kinds.py). */
static const char *const operations[] = {
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allreduce",
    "Reduce",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Reduce_scatter_block",
};
enum { OPERATIONS = sizeof operations / sizeof *operations }; /* other calls create communicators */

/* By function name, "MPI_Bcast" or "MPI_Ibcast"; a neighbourhood collective counts as the ordinary one. A
 * call that creates no communicator but synchronises processes, such as MPI_Finalize or MPI_Win_fence, is a
 * barrier. */
static uint8_t operation_of(const char *call)
{
    static const char neighbours[] = "neighbor_";
    const char *name = call + sizeof "MPI_" - 1;
    if (strcmp(name, "Finalize") == 0 || strncmp(name, "Win_", 4) == 0)
        return 0;
    name += name[0] == 'I';
    if (strncasecmp(name, neighbours, sizeof neighbours - 1) == 0)
        name += sizeof neighbours - 1;
    for (uint8_t i = 0; i < OPERATIONS; i++)
        if (strcasecmp(name, operations[i]) == 0)
            return i;
    return OPERATIONS;
}

static uint8_t part_of(const char *call)
{
    if (strcmp(call, "MPI_Finalize") == 0)
        return SG_PART_OF_FINALIZE;
    return strncmp(call, "MPI_Win_", sizeof "MPI_Win_" - 1) == 0 ? SG_PART_OF_WINDOW : SG_PART_OF_NOTHING;
}

/* For an operation that has only one algorithm. */
static uint8_t only_algorithm(uint8_t operation)
{
    const char *name = operation < OPERATIONS ? operations[operation] : "";
    if (strcmp(name, "Barrier") == 0)
        return SG_DISSEMINATION;
    return strcmp(name, "Gather") == 0 || strcmp(name, "Scatter") == 0 ? SG_BINOMIAL : SG_LINEAR;
}

static bool moves(const sg_step *step, bool sent)
{
    if (step->kind == SG_STEP_HARDWARE)
        return sent ? step->from != NULL : step->to != NULL;
    return step->kind == (sent ? SG_STEP_SEND : SG_STEP_RECEIVE);
}

static uint64_t bytes_of(const sg_schedule *s, bool sent)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (moves(&s->steps[i], sent))
            bytes += (uint64_t)(s->steps[i].count * s->steps[i].type->size);
    return bytes;
}

void sg_schedule_report(const sg_schedule *s)
{
    if (sg_observed.gathered == NULL)
        return;
    sg_gathered g = {.begin = s->began, .context = s->comm->context, .root = -1};
    if (s->root >= 0)
        g.root = (int32_t)sg->all_ranks[sg_comm_peer(s->comm, s->root)]->first_processor;
    g.sent = bytes_of(s, true);
    g.received = bytes_of(s, false);
    g.operation = operation_of(s->call);
    g.algorithm = s->algorithm < SG_ALGORITHMS ? s->algorithm : only_algorithm(g.operation);
    g.part_of = part_of(s->call);
    sg_observe_gathered(&g);
}

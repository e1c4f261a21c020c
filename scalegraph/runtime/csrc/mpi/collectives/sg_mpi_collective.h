/* Collective operations: algorithms that add their steps to a schedule, and the rule that chooses one. */
#ifndef SG_MPI_COLLECTIVE_H
#define SG_MPI_COLLECTIVE_H

#include "sg_mpi_schedule.h"

/* ---- sg_mpi_rule.c ---- */

enum sg_collective {
    SG_BARRIER,
    SG_BCAST,
    SG_REDUCE,
    SG_ALLREDUCE,
    SG_ALLGATHER,
    SG_ALLTOALL,
    SG_REDUCE_SCATTER,
    SG_SCAN,
    SG_COLLECTIVES,
    SG_EXSCAN = SG_COLLECTIVES /* chosen as a scan */
};

enum sg_algorithm {
    SG_DISSEMINATION,
    SG_BINOMIAL,
    SG_SCATTER_DOUBLING, /* scatter, then allgather by recursive doubling */
    SG_SCATTER_RING,     /* scatter, then allgather around the ring */
    SG_DOUBLING,         /* recursive doubling */
    SG_RABENSEIFNER,     /* reduce-scatter by recursive halving, then gather or allgather */
    SG_RING,
    SG_BRUCK,
    SG_LINEAR, /* all at once */
    SG_PAIRWISE,
    SG_HALVING,
    SG_HARDWARE, /* a network of its own */
    SG_ALGORITHMS
};

/* The algorithm for so many ranks and bytes: MPICH's, or as SCALEGRAPH_MPI_RULE says, such as
 * "allreduce=ring,bcast=binomial". `simple`: the operation commutes and there is an item for each rank. */
enum sg_algorithm sg_rule(enum sg_collective what, int ranks, int64_t bytes, bool simple);

/* Whether nobody has chosen an algorithm for it, so that the machine's own network or the nodes may serve. */
bool sg_rule_is_open(enum sg_collective what, int ranks);

/* The same for a schedule, which remembers the first one. */
enum sg_algorithm sg_choose(sg_schedule *s, enum sg_collective what, int64_t bytes, bool simple);

/* ---- sg_mpi_hardware.c ---- */

/* Whether the machine has a network that does this: all processes take part, the data is short enough, and
 * what is reduced are integers. The schedule remembers that it is chosen. */
bool sg_by_hardware(sg_schedule *s, enum sg_collective what, int64_t count, const sg_type *type);
/* A step of it: the running rank gives its part. */
void sg_hardware_begin(const sg_schedule *s, sg_step *step);
/* Its result, for which it has waited, is put where it belongs. */
void sg_hardware_end(sg_step *step);

/* ---- sg_mpi_report.c ---- */

/* Reports a schedule that is done to observers. */
void sg_schedule_report(const sg_schedule *s);

/* ---- sg_mpi_match.c ---- */

/* The running rank begins a collective operation: the others' next one on this communicator must be the same.
 * `root`, `bytes`: -1 if they may differ. */
int sg_collective_check(sg_comm *c, int root, int64_t bytes);
/* The same with what the data consists of (NULL: may differ) and the operation of a reduction (NULL: none).
 * Different basic types are named in a warning. `counts`, if not NULL: of the items of `item` bytes of each
 * rank. */
int sg_collective_compare(sg_comm *c, int root, int64_t bytes, const sg_signature *signature,
                          const sg_mpi_op *op, const int counts[], int64_t item);

/* ---- sg_mpi_nodes.c ---- */

/* The operations below where ranks share nodes; false or NULL: they do not, or it is not for them. */
bool sg_nodes_barrier(sg_schedule *s);
bool sg_nodes_bcast(sg_schedule *s, void *buffer, int64_t count, sg_type *type, int root);
void *sg_nodes_reduce(sg_schedule *s, void *acc, int64_t count, sg_type *type, int root);
bool sg_nodes_allreduce(sg_schedule *s, void *acc, int64_t count, sg_type *type);

/* ---- algorithms; ranks are those of s->view ---- */

sg_type *sg_bytes(void); /* MPI_BYTE */
void sg_algorithm_barrier(sg_schedule *s);
/* The same on intercommunicators too: each side meets, then their first ranks, then each side again. */
void sg_inter_barrier(sg_schedule *s);
void sg_algorithm_bcast(sg_schedule *s, void *buffer, int64_t count, sg_type *type, int root);
/* Reduces `acc` (overwritten) of all; the result is where the return value points, at the root. */
void *sg_algorithm_reduce(sg_schedule *s, void *acc, int64_t count, sg_type *type, int root);
/* The same for all; the result is in `acc` in the end. */
void sg_algorithm_allreduce(sg_schedule *s, void *acc, int64_t count, sg_type *type);
/* `bytes` of each rank, in `all` at its place; the own ones are there already. */
void sg_algorithm_allgather(sg_schedule *s, char *all, const int64_t *bytes);
/* Blocks of equal size: the root's `all` to each rank's `own`, or the other way. */
void sg_algorithm_scatter(sg_schedule *s, const char *all, char *own, int64_t bytes, int root);
void sg_algorithm_gather(sg_schedule *s, const char *own, char *all, int64_t bytes, int root);
/* Of `acc` (overwritten), reduced, each rank gets its `counts` items at the end in `result`. */
void sg_algorithm_reduce_scatter(sg_schedule *s, char *acc, void *result, const int64_t *counts,
                                 sg_type *type);

#endif

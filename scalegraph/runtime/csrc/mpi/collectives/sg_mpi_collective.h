/* Collective operations: algorithms that add steps to a schedule, and the rule that chooses one. */
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
    SG_EXSCAN = SG_COLLECTIVES /* uses the algorithm chosen for a scan */
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
    SG_HARDWARE, /* the machine's own network for collectives */
    SG_ALGORITHMS
};

/* The algorithm for this many ranks and bytes: MPICH's choice, or that of SCALEGRAPH_MPI_RULE, such as
 * "allreduce=ring,bcast=binomial". `simple`: the operation commutes and there is at least one item per
 * rank. */
enum sg_algorithm sg_rule(enum sg_collective what, int ranks, int64_t bytes, bool simple);

/* Has the user left the algorithm open, so that the machine's own network or the node-aware versions may be
 * used? */
bool sg_rule_is_open(enum sg_collective what, int ranks);

/* The same for a schedule, which records the first one chosen. */
enum sg_algorithm sg_choose(sg_schedule *s, enum sg_collective what, int64_t bytes, bool simple);

/* ---- sg_mpi_hardware.c ---- */

/* Can the machine's collective network do it? Only if all processes take part, the data is short enough, and
 * a reduction is of integers. Records the choice in the schedule. */
bool sg_by_hardware(sg_schedule *s, enum sg_collective what, int64_t count, const sg_type *type);
/* A step of it: the running rank contributes its data. */
void sg_hardware_begin(const sg_schedule *s, sg_step *step);
/* Stores its result, which the rank has waited for. */
void sg_hardware_end(sg_step *step);

/* ---- sg_mpi_report.c ---- */

/* Reports a completed schedule to observers. */
void sg_schedule_report(const sg_schedule *s);

/* ---- sg_mpi_match.c ---- */

/* The running rank begins a collective operation: checks that it matches the other ranks' next one on this
 * communicator. `root`, `bytes`: -1 if they may differ. */
int sg_collective_check(sg_comm *c, int root, int64_t bytes);
/* The same with the type signature (NULL: may differ) and the operation of a reduction (NULL: none). Warns of
 * different basic types. `counts`, if not NULL: each rank's number of items of `item` bytes. */
int sg_collective_compare(sg_comm *c, int root, int64_t bytes, const sg_signature *signature,
                          const sg_mpi_op *op, const int counts[], int64_t item);

/* ---- sg_mpi_nodes.c ---- */

/* Node-aware versions; false or NULL: they do not apply here. */
bool sg_nodes_barrier(sg_schedule *s);
bool sg_nodes_bcast(sg_schedule *s, void *buffer, int64_t count, sg_type *type, int root);
void *sg_nodes_reduce(sg_schedule *s, void *acc, int64_t count, sg_type *type, int root);
bool sg_nodes_allreduce(sg_schedule *s, void *acc, int64_t count, sg_type *type);

/* ---- algorithms; ranks are those of s->view ---- */

sg_type *sg_bytes(void);
void sg_algorithm_barrier(sg_schedule *s);
/* The same for intercommunicators too: each side synchronises, then the first ranks of both, then each side
 * again. */
void sg_inter_barrier(sg_schedule *s);
void sg_algorithm_bcast(sg_schedule *s, void *buffer, int64_t count, sg_type *type, int root);
/* Reduces `acc` (overwritten) of all ranks; at the root, returns the address of the result. */
void *sg_algorithm_reduce(sg_schedule *s, void *acc, int64_t count, sg_type *type, int root);
/* The same for all ranks, with the result in `acc`. */
void sg_algorithm_allreduce(sg_schedule *s, void *acc, int64_t count, sg_type *type);
/* Gathers `bytes` of each rank into `all`; the rank's own are already in place. */
void sg_algorithm_allgather(sg_schedule *s, char *all, const int64_t *bytes);
/* Blocks of equal size: from the root's `all` to each rank's `own`, or back. */
void sg_algorithm_scatter(sg_schedule *s, const char *all, char *own, int64_t bytes, int root);
void sg_algorithm_gather(sg_schedule *s, const char *own, char *all, int64_t bytes, int root);
/* Reduces `acc` (overwritten); each rank gets its `counts` items in `result`. */
void sg_algorithm_reduce_scatter(sg_schedule *s, char *acc, void *result, const int64_t *counts,
                                 sg_type *type);

#endif

/* Creating communicators from communicators. */
#ifndef SG_MPI_COMM_CREATE_H
#define SG_MPI_COMM_CREATE_H

#include "sg_mpi_collective.h"

/* Collective: groups the processes by colour (MPI_UNDEFINED: in no group), ordered by key and rank. */
int sg_comm_split(sg_comm *c, int color, int key, sg_comm **result);
/* Broadcasts data from `root` to all processes of `c`. */
int sg_comm_share(sg_comm *c, void *data, int64_t bytes, int root);
/* Gathers `bytes` of each process of `c` in `all`, on every process. */
int sg_comm_collect(sg_comm *c, const void *own, int64_t bytes, void *all);

/* ---- sg_mpi_inter.c ---- */

/* Splits an intercommunicator: `made`, a part of this side, is joined with the other side's part. */
int sg_inter_split(sg_comm *c, int color, sg_comm **made);

#endif

/* Communicators from communicators. */
#ifndef SG_MPI_COMM_CREATE_H
#define SG_MPI_COMM_CREATE_H

#include "sg_mpi_collective.h"

/* Collective: the processes with the same colour (MPI_UNDEFINED: in none), ordered by key and rank. */
int sg_comm_split(sg_comm *c, int color, int key, sg_comm **result);
/* All processes of `c` agree on what its rank 0 has: numbers. */
int sg_comm_share(sg_comm *c, void *data, int64_t bytes, int root);
/* `all` gets `bytes` of each process of `c`. */
int sg_comm_collect(sg_comm *c, const void *own, int64_t bytes, void *all);

/* ---- sg_mpi_inter.c ---- */

/* Of a split of an intercommunicator: `made`, a part of the own side, becomes one with the other side's part.
 */
int sg_inter_split(sg_comm *c, int color, sg_comm **made);

#endif

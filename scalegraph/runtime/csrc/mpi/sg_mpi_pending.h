/* Buffers of sends and receives that are under way: the program must leave them alone. */
#ifndef SG_MPI_PENDING_H
#define SG_MPI_PENDING_H

#include "sg_mpi_request.h"

/* A request for a message has begun; or has ended, before its data is in the buffer: warns, once for a place
 * where requests begin, if it was changed meanwhile. */
void sg_pending_add(const sg_request *r);
void sg_pending_remove(const sg_request *r);
/* The running call sends from or receives into items: warns, once for two places, if a request that is under
 * way receives into the same memory, or sends from what is received into. */
void sg_pending_check(bool receives, const void *buffer, int64_t count, const sg_type *type);
/* The running call sends from one buffer and receives into another one: warns if they overlap. */
void sg_pending_apart(const void *out, int64_t out_count, const sg_type *sent, const void *in,
                      int64_t in_count, const sg_type *got);

#endif

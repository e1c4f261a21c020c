/* Buffers of active sends and receives, which the program must not touch. */
#ifndef SG_MPI_PENDING_H
#define SG_MPI_PENDING_H

#include "sg_mpi_request.h"

/* A message request begins, or ends before its data is in the buffer. Warns if the buffer was changed
 * meanwhile, once per place that begins requests. */
void sg_pending_add(const sg_request *r);
void sg_pending_remove(const sg_request *r);
/* The running call sends from or receives into items. Warns, once per pair of places, if an active request
 * receives into the same memory, or sends from memory that is received into. */
void sg_pending_check(bool receives, const void *buffer, int64_t count, const sg_type *type);
/* The running call sends from one buffer and receives into another: warns if they overlap. */
void sg_pending_apart(const void *out, int64_t out_count, const sg_type *sent, const void *in,
                      int64_t in_count, const sg_type *got);

#endif

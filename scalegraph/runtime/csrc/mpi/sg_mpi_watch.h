/* Buffers that the program must not read, or not change, until an operation has completed. */
#ifndef SG_MPI_WATCH_H
#define SG_MPI_WATCH_H

#include "sg_mpi.h"
#include "sg_mpi_type.h"

/* The running call, operation `of` of the running rank, has begun to use items: warns, once per pair of
 * places, if the program reads (`reads`) or changes (`writes`) them before sg_watch_end. `ends`: the call
 * that completes the operation. */
void sg_watch_begin(const void *of, const void *buffer, int64_t count, const sg_type *type, bool reads,
                    bool writes, const char *ends);
/* The operation of `rank` is complete, or no longer of interest. */
void sg_watch_end(const sg_rank *rank, const void *of);

#endif

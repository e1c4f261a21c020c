/* Type signatures: the sequence of basic elements of some data. */
#ifndef SG_MPI_SIGNATURE_H
#define SG_MPI_SIGNATURE_H

#include "sg_message.h"
#include "sg_mpi_type.h"

/* Signature of `count` items, with the running call as its origin. */
sg_signature sg_signature_of(sg_type *t, int64_t count);
/* May data with this signature be received into `count` items? The elements present must match; MPI_PACKED
 * matches anything. */
bool sg_signature_fits(const sg_signature *sent, sg_type *t, int64_t count);
/* Are two signatures of the same number of bytes equal? */
bool sg_signature_same(const sg_signature *one, const sg_signature *other);
/* "MPI_INT", or a description of several types. */
const char *sg_signature_name(const sg_signature *s);

/* Warns, once per pair of places, that the data sent does not match what `call` at `site` receives. */
void sg_signature_check(const sg_signature *sent, int32_t from, sg_type *t, int64_t count, const char *call,
                        const void *site);

#endif

/* Type signatures: which basic elements data consists of, in their order. */
#ifndef SG_MPI_SIGNATURE_H
#define SG_MPI_SIGNATURE_H

#include "sg_message.h"
#include "sg_mpi_type.h"

/* What `count` items consist of, said by the running call. */
sg_signature sg_signature_of(sg_type *t, int64_t count);
/* Whether data of a signature may be received into `count` items: the elements that there are must be the
 * same. MPI_PACKED is anything. */
bool sg_signature_fits(const sg_signature *sent, sg_type *t, int64_t count);
/* Whether two signatures of as many bytes are the same. */
bool sg_signature_same(const sg_signature *one, const sg_signature *other);
/* "MPI_INT", or what stands for several ones. */
const char *sg_signature_name(const sg_signature *s);

/* Warns, once for two places, that what was sent does not fit what `call` at `site` receives. */
void sg_signature_check(const sg_signature *sent, int32_t from, sg_type *t, int64_t count, const char *call,
                        const void *site);

#endif

/* The representation external32: big-endian, with sizes of its own for long and wchar_t. */
#ifndef SG_MPI_EXTERNAL_H
#define SG_MPI_EXTERNAL_H

#include "sg_mpi_type.h"

/* Bytes of an item there. */
int64_t sg_type_external_size(const sg_type *t);
/* Converts items in memory to it, or from it to memory. Costs time. */
void sg_type_to_external(const sg_type *t, const void *memory, int64_t count, void *packed);
void sg_type_from_external(const sg_type *t, const void *packed, int64_t count, void *memory);

#endif

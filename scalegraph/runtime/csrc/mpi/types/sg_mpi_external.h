/* The external32 representation: big-endian, with fixed sizes for long and wchar_t. */
#ifndef SG_MPI_EXTERNAL_H
#define SG_MPI_EXTERNAL_H

#include "sg_mpi_type.h"

/* Size of an item in external32. */
int64_t sg_type_external_size(const sg_type *t);
/* Convert items between memory and external32. Charged. */
void sg_type_to_external(const sg_type *t, const void *memory, int64_t count, void *packed);
void sg_type_from_external(const sg_type *t, const void *packed, int64_t count, void *memory);

#endif

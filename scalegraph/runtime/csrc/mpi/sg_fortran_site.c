/* The Fortran call site of MPI: in a file of its own because all MPI code reads it. */
#include "sg_fortran_site.h"

#include <stddef.h>

const void *sg_fortran_site = NULL;

/* Where Fortran has called MPI: a file of its own, as all of MPI reads it. */
#include "sg_fortran_site.h"

#include <stddef.h>

const void *sg_fortran_site = NULL;

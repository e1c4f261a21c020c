/* The Fortran call site of MPI. A binding lies between the Fortran call and the C function, so the C
 * function's return address tells nothing. The binding stores its caller here and the C function takes it
 * (SG_CALLER in sg_mpi.h); no other rank or thread runs in between. */
#ifndef SG_FORTRAN_SITE_H
#define SG_FORTRAN_SITE_H

#include <stdbool.h>
#include <stddef.h>

extern const void *sg_fortran_site; /* NULL: called from C */

/* Was the call made from Fortran? Valid until the site is taken. */
static inline bool sg_fortran_calls(void)
{
    return sg_fortran_site != NULL;
}

/* Call site in the program of an MPI function that returns to `site`, whether called from C or Fortran. */
static inline const void *sg_fortran_caller(const void *site)
{
    if (__builtin_expect(sg_fortran_site == NULL, 1))
        return site;
    site = sg_fortran_site;
    sg_fortran_site = NULL;
    return site;
}

#endif

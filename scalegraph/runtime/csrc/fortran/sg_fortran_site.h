/* Where Fortran calls MPI: between its call and the C function that serves it lies a binding, whose place
 * says nothing. The binding puts its caller here, the C function takes it (SG_CALLER of sg_mpi.h); no other
 * rank or thread comes in between. */
#ifndef SG_FORTRAN_SITE_H
#define SG_FORTRAN_SITE_H

#include <stdbool.h>
#include <stddef.h>

extern const void *sg_fortran_site; /* NULL: C has called */

/* Has Fortran called? Before its place is taken. */
static inline bool sg_fortran_calls(void)
{
    return sg_fortran_site != NULL;
}

/* Where the program has called a function of MPI that returns to `site`: also if Fortran did. */
static inline const void *sg_fortran_caller(const void *site)
{
    if (__builtin_expect(sg_fortran_site == NULL, 1))
        return site;
    site = sg_fortran_site;
    sg_fortran_site = NULL;
    return site;
}

#endif

/* Support for the Fortran bindings that scalegraph/runtime/mpi/bindings.py generates from mpi.h.
 *
 * gfortran passes arguments by reference and appends the lengths of all strings. A handle is an integer.
 * Where C has a null pointer or another special address, Fortran has a variable in a common block or module,
 * recognised by its address. */
#ifndef SG_FORTRAN_H
#define SG_FORTRAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "sg_fortran_site.h"

#define SG_FORTRAN_LONGEST 8193 /* longest string a call returns, including the terminating null */

extern int sg_mpi_bottom_, sg_mpi_in_place_, sg_mpi_unweighted_, sg_mpi_weights_empty_;
extern int sg_mpi_status_ignore_[], sg_mpi_statuses_ignore_[];

/* Defines the function called as `name`, and under its profiling name. */
#define SG_FORTRAN(name, parameters)                                                                         \
    void name##_ parameters __attribute__((weak, alias("p" #name "_")));                                     \
    void p##name##_ parameters;                                                                              \
    void p##name##_ parameters
#define SG_FORTRAN_PLACE() (sg_fortran_site = __builtin_return_address(0))
/* `result` may be the call itself; mpi_f08 may omit `ierror`. */
#define SG_FORTRAN_DONE(ierror, result)                                                                      \
    do {                                                                                                     \
        SG_FORTRAN_PLACE();                                                                                  \
        int sg_result = (result);                                                                            \
        sg_fortran_site = NULL; /* not every C function resets it */                                         \
        if ((ierror) != NULL)                                                                                \
            *(ierror) = sg_result;                                                                           \
    } while (0)
#define SG_FORTRAN_BUFFER(buffer)   sg_fortran_buffer(buffer)
#define SG_FORTRAN_WEIGHTS(weights) sg_fortran_weights(weights)
#define SG_FORTRAN_STATUS(status)                                                                            \
    ((int *)(status) == sg_mpi_status_ignore_ ? MPI_STATUS_IGNORE : (MPI_Status *)(status))
#define SG_FORTRAN_STATUSES(statuses)                                                                        \
    ((int *)(statuses) == sg_mpi_statuses_ignore_ ? MPI_STATUSES_IGNORE : (MPI_Status *)(statuses))

static inline void *sg_fortran_buffer(void *buffer)
{
    return buffer == &sg_mpi_bottom_ ? MPI_BOTTOM : buffer == &sg_mpi_in_place_ ? MPI_IN_PLACE : buffer;
}

static inline int *sg_fortran_weights(int *weights)
{
    return weights == &sg_mpi_unweighted_      ? MPI_UNWEIGHTED
           : weights == &sg_mpi_weights_empty_ ? MPI_WEIGHTS_EMPTY
                                               : weights;
}

/* Convert a Fortran string to C, without surrounding blanks, and back, padded with blanks. */
void sg_fortran_read(char *to, const char *from, size_t length);
void sg_fortran_write(char *to, size_t length, const char *from);
/* Length of an array with one type per partner of a collective operation: all members, or the neighbours. */
int sg_fortran_send_partners(MPI_Comm comm, bool all, const void *send_buffer);
int sg_fortran_receive_partners(MPI_Comm comm, bool all);

#endif

/* What the parts of the monitor that observe MPI share. */
#ifndef SGM_MPI_H
#define SGM_MPI_H

#include <dlfcn.h>
#include <mpi.h>

#include "sgm.h"

/* MPI's own function behind the one that is observed. MPICH's bindings for Fortran call the observed ones,
 * MPI_*; those of Open MPI call PMPI_*. So with Open MPI the monitor has functions of these names, too, which
 * pass such calls on to the observed ones, and all others to the library. */
#ifdef OPEN_MPI
#define SGM_MPI(name) SGM_REAL(P##name)
#define SGM_OF_FORTRAN(name, parameters, given)                                                              \
    SGM_API int P##name parameters                                                                           \
    {                                                                                                        \
        return sgm_is_fortran(__builtin_return_address(0)) ? name given : SGM_MPI(name) given;               \
    }
#else
#define SGM_MPI(name) P##name
#define SGM_OF_FORTRAN(name, parameters, given)
#endif

/* Whether code at `caller` is of MPI's bindings for Fortran. */
bool sgm_is_fortran(const void *caller);

/* A call of MPI whose time counts for `category`. */
#define SGM_MPI_AS(category, name, parameters, given)                                                        \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        uint32_t before = sgm_switch(sgm_self(), category);                                                  \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(sgm_self(), before);                                                                      \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)

/* Compares the clock with that of rank 0: the first time (`at` 0), and the last time (1). */
void sgm_compare_clocks(int at);

/* What is known of a communicator; those of the same processes have the same number, which is 0 for all of
 * them. */
typedef struct sgm_group {
    MPI_Comm communicator;
    bool used, between;
    uint32_t number,
        side;   /* side: of two groups this process is in the first or the second; 0: there is one */
    int *world; /* the rank in MPI_COMM_WORLD of each partner */
} sgm_group;

/* The rank in MPI_COMM_WORLD of `rank` of `communicator`, and the number of that; -1 where `rank` is none of
 * its members' (MPI_PROC_NULL). Of a communicator between two groups, it is a rank of the other group. */
int sgm_mpi_partner(MPI_Comm communicator, int rank, uint32_t *number);
/* The bytes of `count` elements of `type`. */
uint64_t sgm_mpi_bytes(const void *data, int count, MPI_Datatype type);

static inline void sgm_mpi_lock(int64_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0)
        ;
}

static inline void sgm_mpi_unlock(int64_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif

/* Shared by the parts of the monitor that observe MPI. */
#ifndef SGM_MPI_H
#define SGM_MPI_H

#include <dlfcn.h>
#include <mpi.h>

#include "sgm.h"

/* MPI's own function behind the observed one. MPICH's Fortran bindings call the observed ones, MPI_*; those
 * of Open MPI call PMPI_*. So with Open MPI the monitor also defines these names, and passes calls from the
 * bindings to the observed functions and all others to the library. */
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

/* Is the code at `caller` in MPI's Fortran bindings? */
bool sgm_is_fortran(const void *caller);

/* An MPI call whose time counts as `category`. */
#define SGM_MPI_AS(category, name, parameters, given)                                                        \
    SGM_API int name parameters                                                                              \
    {                                                                                                        \
        uint32_t before = sgm_switch(sgm_self(), category);                                                  \
        int result = SGM_MPI(name) given;                                                                    \
        sgm_switch(sgm_self(), before);                                                                      \
        return result;                                                                                       \
    }                                                                                                        \
    SGM_OF_FORTRAN(name, parameters, given)

/* Compares the clock with rank 0's: the first time (`at` 0), and the last time (1). */
void sgm_compare_clocks(int at);

/* A known communicator; those with the same processes have the same number in all of them. */
typedef struct sgm_group {
    MPI_Comm communicator;
    bool used, between;
    uint32_t number, side; /* side: for two groups, whether this process is in the first or the second; 0: a
                              single group */
    int *world;            /* the rank in MPI_COMM_WORLD of each partner */
} sgm_group;

/* The rank in MPI_COMM_WORLD of `rank` of `communicator`, and the communicator's number; -1 if `rank` is not
 * a member (MPI_PROC_NULL). Between two groups, it is a rank of the other group. */
int sgm_mpi_partner(MPI_Comm communicator, int rank, uint32_t *number);
/* Size in bytes of `count` elements of `type`. */
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

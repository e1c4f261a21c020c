/* Compares the ranks' clocks: on another computer a time stamp means another time.
 *
 * At the end of MPI_Init and at the start of MPI_Finalize every rank in turn exchanges messages with rank
 * 0. Cristian's method: use the fastest exchange, assume that rank 0's time stamp was read in the middle
 * of it; the error is half its length. (Cristian, Probabilistic clock synchronization, 1989) */
#include <stdlib.h>

#include "sgm_mpi.h"

enum { EXCHANGES = 64 }; /* enough that other programs do not spoil all of them */

sgm_clock sgm_clocks[2];
static MPI_Comm apart = MPI_COMM_NULL; /* carries none of the program's messages */

static void answer(int size)
{
    uint64_t now = 0;
    for (int other = 1; other < size; other++)
        for (int turn = 0; turn < EXCHANGES; turn++) {
            PMPI_Recv(&now, 1, MPI_UINT64_T, other, 0, apart, MPI_STATUS_IGNORE);
            now = sgm_ticks();
            PMPI_Send(&now, 1, MPI_UINT64_T, other, 0, apart);
        }
}

static void question(sgm_clock *clock)
{
    uint64_t least = UINT64_MAX;
    for (int turn = 0; turn < EXCHANGES; turn++) {
        uint64_t begin = sgm_ticks(), there = 0;
        PMPI_Send(&begin, 1, MPI_UINT64_T, 0, 0, apart);
        PMPI_Recv(&there, 1, MPI_UINT64_T, 0, 0, apart, MPI_STATUS_IGNORE);
        uint64_t took = sgm_ticks() - begin;
        if (took < least) {
            least = took;
            *clock = (sgm_clock){.own = begin + took / 2, .there = there, .error = took / 2 + 1};
        }
    }
}

void sgm_compare_clocks(int at)
{
    int rank, size;
    if (!sgm_several_computers())
        return;
    if (apart == MPI_COMM_NULL && PMPI_Comm_dup(MPI_COMM_WORLD, &apart) != MPI_SUCCESS)
        return;
    PMPI_Comm_rank(apart, &rank);
    PMPI_Comm_size(apart, &size);
    if (rank == 0)
        answer(size);
    else
        question(&sgm_clocks[at]);
    if (at == 1)
        PMPI_Comm_free(&apart);
}

/* What collective operations cost on N processes, by the bytes of their data: nothing else happens here, all
 * come at the same time, and the next one begins when all are done.
 *
 *     collectives BYTES      up to so many bytes; prints lines "broadcast BYTES SECONDS", "allreduce .."
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOTS = 4, TURNS = 8, WORD = sizeof(double) };

static int rank = 0, ranks = 1;
static double *own = NULL, *all = NULL;

static void broadcast(int words, int root)
{
    MPI_Bcast(own, words, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void allreduce(int words, int root)
{
    (void)root;
    MPI_Allreduce(own, all, words, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Seconds of an operation: several follow each other, as in the steps of a loop, from each of some roots. */
static double seconds_of(void (*operation)(int, int), int words)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < ROOTS; i++)
        for (int turn = 0; turn < TURNS; turn++)
            operation(words, i * ranks / ROOTS);
    MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / (ROOTS * TURNS);
}

static void measure(int words)
{
    double one = seconds_of(broadcast, words), other = seconds_of(allreduce, words);
    if (rank == 0)
        printf("broadcast %d %.9g\nallreduce %d %.9g\n", words * WORD, one, words * WORD, other);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int most = argc > 1 ? atoi(argv[1]) / WORD + 1 : 1;
    own = calloc((size_t)most * 4, sizeof *own);
    all = calloc((size_t)most * 4, sizeof *all);
    /* operations change at round sizes, so on both sides of them */
    for (int words = 1; words < 2 * most; words *= 2) {
        measure(words);
        measure(words + 1);
        if (words > 2) {
            measure(words + words / 2);
            measure(words + words / 2 + 1);
        }
    }
    free(own);
    free(all);
    MPI_Finalize();
    return 0;
}

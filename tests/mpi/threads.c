/* Threads of a rank wait in MPI at once: for messages and in collective operations on communicators of their own. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, TURNS = 5 };

static int rank, ranks;
static MPI_Comm comms[THREADS];

static void *work(void *number)
{
    int t = (int)(long)number, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, sum = 0, total = 0;
    for (int i = 0; i < TURNS; i++) {
        int out = 100 * rank + 10 * t + i, in = -1, all;
        MPI_Request sent, reduced;
        MPI_Isend(&out, 1, MPI_INT, next, t, MPI_COMM_WORLD, &sent);
        MPI_Probe(before, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&in, 1, MPI_INT, before, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        MPI_Iallreduce(&in, &all, 1, MPI_INT, MPI_SUM, comms[t], &reduced);
        MPI_Wait(&reduced, MPI_STATUS_IGNORE);
        total += all;
        MPI_Allreduce(&in, &all, 1, MPI_INT, MPI_MAX, comms[t]);
        sum += in + all;
        MPI_Barrier(comms[t]);
    }
    printf("%d.%d: %d %d\n", rank, t, sum, total);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
#pragma omp parallel num_threads(THREADS)
    work((void *)(long)omp_get_thread_num());
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    MPI_Finalize();
    return level == MPI_THREAD_MULTIPLE ? 0 : 1;
}

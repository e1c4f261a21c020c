/* Time of an MPI operation, measured in the usual way: the mean over ranks and calls, after a few warm-up calls.
 *
 *   messages latency|bandwidth|bcast|allreduce|barrier CALLS BYTES ..
 *
 * latency: half the round trip between the first and the last rank. bandwidth: 64 consecutive messages between them,
 * and a reply. bcast, allreduce: each call by itself, followed by a barrier. Prints "BYTES;us", for bandwidth
 * "BYTES;MB/s". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 5, WINDOW = 64 };

static int rank, ranks, last;

/* One round trip between the first and the last rank; the other ranks do nothing. */
static double there_and_back(char *data, int bytes)
{
    double start = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(data, bytes, MPI_CHAR, last, 1, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == last) {
        MPI_Recv(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / 2;
}

static double in_a_row(char *data, int bytes)
{
    MPI_Request all[WINDOW];
    char answer = 0;
    double start = MPI_Wtime();
    for (int i = 0; i < WINDOW && rank == 0; i++)
        MPI_Isend(data, bytes, MPI_CHAR, last, 1, MPI_COMM_WORLD, &all[i]);
    for (int i = 0; i < WINDOW && rank == last; i++)
        MPI_Irecv(data + (size_t)i * bytes, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &all[i]);
    if (rank == 0 || rank == last)
        MPI_Waitall(WINDOW, all, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(&answer, 1, MPI_CHAR, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == last)
        MPI_Send(&answer, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / WINDOW;
}

static double one(const char *what, char *data, char *other, int bytes)
{
    if (!strcmp(what, "latency"))
        return there_and_back(data, bytes);
    if (!strcmp(what, "bandwidth"))
        return in_a_row(data, bytes);
    double start = MPI_Wtime();
    if (!strcmp(what, "bcast"))
        MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    else if (!strcmp(what, "allreduce"))
        MPI_Allreduce(data, other, bytes / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    double time = MPI_Wtime() - start;
    if (strcmp(what, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    return time;
}

int main(int count, char **argument)
{
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    last = ranks - 1;
    const char *what = argument[1];
    int calls = atoi(argument[2]), pair = !strcmp(what, "latency") || !strcmp(what, "bandwidth");
    for (int a = 3; a < count; a++) {
        int bytes = atoi(argument[a]);
        size_t room = (size_t)(bytes > 0 ? bytes : 1) * (!strcmp(what, "bandwidth") ? WINDOW : 1);
        char *data = calloc(room, 1), *other = calloc(room, 1);
        double sum = 0, all = 0;
        for (int call = 0; call < WARM + calls; call++) {
            double time = one(what, data, other, bytes);
            sum += call >= WARM ? time : 0;
        }
        MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        double us = (pair ? sum : all / ranks) / calls * 1e6;
        if (rank == 0)
            printf("%d;%.6f\n", bytes, strcmp(what, "bandwidth") ? us : bytes / us);
        free(data);
        free(other);
    }
    MPI_Finalize();
    return 0;
}

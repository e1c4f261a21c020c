/* Every way in which a rank waits: late senders and receivers, messages under way, operations, locks of windows. */
#include <mpi.h>
static double in[4][3000], out[3000];
static volatile double sink;
static void work(int amount)
{
    double sum = 0;
    for (int i = 1; i < amount; i++)
        sum += 1.0 / i;
    sink = sum;
}
static void communicate(int rank, int size, int step)
{
    MPI_Request request[4];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(in[0], 100, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in[1], 3000, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[1]);
    work(2000);
    MPI_Isend(out, 100, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &request[2]);
    if (step % size == rank)
        work(10000);
    MPI_Isend(out, 3000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[3]);
    work(3000);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}
static void exchange(int rank, int size)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(out, 3000, MPI_DOUBLE, right, 2, in[2], 3000, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        work(5000);
        MPI_Recv(in[3], 3000, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 1)
        MPI_Send(out, 3000, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
}
static void share(int rank, int size)
{
    MPI_Win window;
    MPI_Win_create(in, sizeof in, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(out, 300, MPI_DOUBLE, 0, rank * 300, 300, MPI_DOUBLE, window);
        work(500);
        MPI_Win_unlock(0, window);
    }
    MPI_Win_fence(0, window);
    MPI_Get(out, 300, MPI_DOUBLE, (rank + 1) % size, 0, 300, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}
int main(int argc, char **argv)
{
    int rank, size;
    double sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 8; step++) {
        communicate(rank, size, step);
        work(rank == 2 ? 3000 : 300);
        exchange(rank, size);
        MPI_Allreduce(&in[0][0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(out, 500, MPI_DOUBLE, step % size, MPI_COMM_WORLD);
        MPI_Reduce(in[0], in[1], 200, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    share(rank, size);
    if (rank == 1) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status);
        MPI_Recv(in[0], 100, MPI_DOUBLE, status.MPI_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 3) {
        work(9000);
        MPI_Ssend(out, 100, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}

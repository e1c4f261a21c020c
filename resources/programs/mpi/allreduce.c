/* Sums and maxima over all ranks, repeated: the cost of a collective operation.
 *
 * ITEMS vectors of COUNT elements are distributed to the ranks in blocks. In each round a rank adds up its
 * own vectors, and all ranks obtain the sum (doubles) and the largest element (long) of all vectors. A vector
 * of a round depends on the sum of the previous round, so no round starts early.
 *
 *     allreduce COUNT ROUNDS [ITEMS [times]]    `times` also prints the microseconds of a round on rank 0
 *
 * The elements are integers below 2^53, so the result line is the same to the last digit for any number of
 * ranks. Work of the sequential algorithm: COUNT (ITEMS - 1) additions per round.
 */
#include "program.h"

enum { PERIOD = 1009 };

static long element(long item, long index, long round, long before)
{
    return (item * 31 + index * 17 + round * 7 + before) % PERIOD;
}

static void add_own(double *own, long *largest, long count, long first, long last, long round, long before)
{
    for (long j = 0; j < count; j++) {
        double sum = 0.0;
        for (long i = first; i < last; i++) {
            long value = element(i, j, round, before);
            sum += (double)value;
            *largest = value > *largest ? value : *largest;
        }
        own[j] = sum;
    }
}

static void reduce(const double *own, double *sum, long count, long *largest)
{
    long mine = *largest;
    MPI_Allreduce(own, sum, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, largest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
}

/* How many elements of `sum` are wrong. Every rank checks some, so the check costs no more than a
 * round. */
static int check(process me, const double *sum, long largest, long count, long items, long round, long before)
{
    long most = 0;
    int faults = 0;
    for (long j = me.rank; j < count; j += me.ranks) {
        long expected = 0;
        for (long i = 0; i < items; i++) {
            long value = element(i, j, round, before);
            expected += value;
            most = value > most ? value : most;
        }
        faults += sum[j] != (double)expected;
    }
    long all = 0;
    MPI_Allreduce(&most, &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return faults + (all != largest);
}

int main(int argc, char **argv)
{
    process me = begin(&argc, &argv);
    long count = number(argc, argv, 1, -1), rounds = number(argc, argv, 2, -1),
         items = number(argc, argv, 3, 64);
    if (count < 1 || count > 1 << 27 || rounds < 1 || items < 1)
        return refuse(me, "allreduce COUNT ROUNDS [ITEMS [times]]");
    double *own = memory(count, sizeof *own), *sum = memory(count, sizeof *sum);
    long first = block_begin(items, me.rank, me.ranks), last = block_begin(items, me.rank + 1, me.ranks);
    long before = 0, used = 0, largest = 0;
    double start = MPI_Wtime();
    for (long round = 0; round < rounds; round++) {
        largest = 0;
        used = before;
        add_own(own, &largest, count, first, last, round, before);
        reduce(own, sum, count, &largest);
        before = (long)sum[count - 1] % PERIOD;
    }
    double seconds = MPI_Wtime() - start;
    int faults = check(me, sum, largest, count, items, rounds - 1, used);
    if (me.rank == 0) {
        printf("%ld elements, %ld rounds: first sum %.0f, last sum %.0f, largest %ld, work %.0f flops\n",
               count, rounds, sum[0], sum[count - 1], largest,
               (double)rounds * (double)count * (double)(items - 1));
        if (given(argc, argv, 4, "times"))
            printf("a round takes %.3f us\n", seconds / (double)rounds * 1e6);
    }
    free(own);
    free(sum);
    return finish(me, faults);
}

/* Two ranks pass a message back and forth; every receiver adds one to each of its bytes.
 *
 * The sizes are 0, 1, 2, 4, 8 .. BYTES; each makes ROUNDS round trips between rank 0 and rank PEER, while the
 * other ranks wait in a barrier. Half the time of a round trip is alpha + beta S, the message time law of the
 * isospeed paper (section IV.B; nCUBE 2: alpha = 130 us, beta = 0.5 us per byte), plus the time to increment
 * the bytes. One rank alone plays with itself.
 *
 *     pingpong BYTES ROUNDS [PEER [times]]
 *
 * `times` also prints the microseconds per message of each size. The result line consists of integers and is
 * the same for any number of ranks. No floating-point work.
 */
#include "program.h"

enum { BALL = 7 };

static void catch_ball(unsigned char *ball, long size)
{
    for (long i = 0; i < size; i++)
        ball[i]++;
}

static void play_alone(unsigned char *ball, long size, long rounds)
{
    for (long hop = 0; hop < 2 * rounds; hop++) {
        MPI_Sendrecv_replace(ball, (int)size, MPI_BYTE, 0, BALL, 0, BALL, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        catch_ball(ball, size);
    }
}

static void serve(unsigned char *ball, long size, long rounds, int peer)
{
    for (long round = 0; round < rounds; round++) {
        MPI_Send(ball, (int)size, MPI_BYTE, peer, BALL, MPI_COMM_WORLD);
        MPI_Recv(ball, (int)size, MPI_BYTE, peer, BALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        catch_ball(ball, size);
    }
}

static void give_back(unsigned char *ball, long size, long rounds)
{
    for (long round = 0; round < rounds; round++) {
        MPI_Recv(ball, (int)size, MPI_BYTE, 0, BALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        catch_ball(ball, size);
        MPI_Send(ball, (int)size, MPI_BYTE, 0, BALL, MPI_COMM_WORLD);
    }
}

/* Plays with one size; returns the elapsed seconds. */
static double play(process me, unsigned char *ball, long size, long rounds, int peer)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (me.ranks == 1)
        play_alone(ball, size, rounds);
    else if (me.rank == 0)
        serve(ball, size, rounds, peer);
    else if (me.rank == peer)
        give_back(ball, size, rounds);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    process me = begin(&argc, &argv);
    long bytes = number(argc, argv, 1, -1), rounds = number(argc, argv, 2, -1);
    long peer = number(argc, argv, 3, 1);
    if (bytes < 0 || bytes > 1 << 30 || rounds < 0 || peer < 1 || (me.ranks > 1 && peer >= me.ranks))
        return refuse(me, "pingpong BYTES ROUNDS [PEER [times]], PEER a rank from 1 on");
    unsigned char *ball = memory(bytes, 1);
    int faults = 0;
    unsigned long sum = 0, played = 0;
    for (long size = 0; size <= bytes; size = size == 0 ? 1 : 2 * size) {
        memset(ball, 0, (size_t)size);
        double seconds = play(me, ball, size, rounds, (int)peer);
        played++;
        for (long i = 0; i < size && me.rank == 0; i++) {
            sum += ball[i];
            faults += ball[i] != (unsigned char)(2 * rounds);
        }
        if (me.rank == 0 && given(argc, argv, 4, "times"))
            printf("%ld bytes: %.3f us\n", size, rounds > 0 ? seconds / (2.0 * (double)rounds) * 1e6 : 0.0);
    }
    if (me.rank == 0)
        printf("%lu sizes up to %ld bytes, %ld round trips each, sum %lu\n", played, bytes, rounds, sum);
    free(ball);
    return finish(me, faults);
}

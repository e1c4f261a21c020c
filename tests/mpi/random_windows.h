/* One-sided parts of random MPI programs: each has only one possible result in the windows. */
#include "random_parts.h"

static void one_sided(world w, int distance, int count, int locks)
{
    MPI_Win window;
    long *data, *in = drawn((size_t)count * sizeof(long)), *out = room((size_t)count * sizeof(long)),
                one = 1 + w.rank;
    int to = modulo(w.rank + (long)distance, w.size);
    MPI_Aint bytes = (MPI_Aint)((size_t)(count + 1) * sizeof(long));
    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, w.comm, &data, &window);
    memset(data, 0, (size_t)bytes);
    MPI_Win_fence(0, window);
    MPI_Put(in, count, MPI_LONG, to, 0, count, MPI_LONG, window);
    MPI_Win_fence(0, window);
    MPI_Get(out, count, MPI_LONG, to, 0, count, MPI_LONG, window);
    MPI_Win_fence(locks ? MPI_MODE_NOSUCCEED : 0, window);
    if (locks) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, count, 1, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock(0, window);
    } else
        MPI_Accumulate(&one, 1, MPI_LONG, 0, count, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_fence(locks ? MPI_MODE_NOPRECEDE : 0, window);
    absorb_bytes(data, (size_t)bytes);
    absorb_bytes(out, (size_t)count * sizeof(long));
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    free(in);
    free(out);
}

/* A window of `count` longs, all zero, that every rank may access. */
static long *opened(world w, int count, int how, MPI_Win *window)
{
    long *data;
    MPI_Aint bytes = (MPI_Aint)((size_t)count * sizeof(long));
    if (how) {
        data = room((size_t)bytes);
        MPI_Win_create(data, bytes, sizeof(long), MPI_INFO_NULL, w.comm, window);
    } else
        MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, w.comm, &data, window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w.rank, 0, *window);
    memset(data, 0, (size_t)bytes);
    MPI_Win_unlock(w.rank, *window);
    MPI_Barrier(w.comm);
    return data;
}

/* Absorbs the window's contents once all accesses are complete. */
static void closed(world w, long *data, int count, int how, MPI_Win *window)
{
    MPI_Barrier(w.comm);
    MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, *window);
    absorb_bytes(data, (size_t)count * sizeof(long));
    MPI_Win_unlock(w.rank, *window);
    MPI_Win_free(window);
    if (how)
        free(data);
}

/* Operations in any order from all ranks to all ranks. */
static void accumulated(world w, int count, int operation, int epoch, int how)
{
    const MPI_Op operations[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_BOR, MPI_PROD};
    MPI_Win window;
    long *data = opened(w, count, how, &window), *in = drawn((size_t)count * sizeof(long));
    if (epoch == 0)
        MPI_Win_fence(0, window);
    if (epoch == 1)
        MPI_Win_lock_all(0, window);
    for (int to = 0; to < w.size; to++) {
        if (epoch == 2)
            MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
        MPI_Accumulate(in, count, MPI_LONG, to, 0, count, MPI_LONG, operations[operation], window);
        if (epoch == 1)
            MPI_Win_flush(to, window);
        if (epoch == 2)
            MPI_Win_unlock(to, window);
    }
    if (epoch == 0)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    if (epoch == 1)
        MPI_Win_unlock_all(window);
    closed(w, data, count, how, &window);
    free(in);
}

/* Puts and gets every second long of a block at one rank, with requests and a datatype at each end. */
static void requested(world w, int distance, int count, int how)
{
    MPI_Win window;
    MPI_Request requests[2];
    MPI_Datatype spread;
    long *data = opened(w, 2 * count, how, &window), *in = drawn((size_t)count * sizeof(long));
    long *out = room((size_t)count * sizeof(long));
    int to = modulo(w.rank + (long)distance, w.size);
    MPI_Type_vector(count, 1, 2, MPI_LONG, &spread);
    MPI_Type_commit(&spread);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
    MPI_Rput(in, count, MPI_LONG, to, 0, 1, spread, window, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(to, window);
    MPI_Rget(out, count, MPI_LONG, to, 0, 1, spread, window, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Win_unlock(to, window);
    absorb_bytes(out, (size_t)count * sizeof(long));
    closed(w, data, 2 * count, how, &window);
    MPI_Type_free(&spread);
    free(in);
    free(out);
}

/* Each rank exposes its window to the previous rank and accesses the next rank's. */
static void exposed(world w, int distance, int count, int how)
{
    MPI_Win window;
    MPI_Group all, before, after;
    long *data = opened(w, count, how, &window), *in = drawn((size_t)count * sizeof(long));
    int to = modulo(w.rank + (long)distance, w.size), from = modulo(w.rank - (long)distance, w.size);
    MPI_Comm_group(w.comm, &all);
    MPI_Group_incl(all, 1, &to, &after);
    MPI_Group_incl(all, 1, &from, &before);
    MPI_Win_post(before, 0, window);
    MPI_Win_start(after, 0, window);
    MPI_Put(in, count, MPI_LONG, to, 0, count, MPI_LONG, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    closed(w, data, count, how, &window);
    MPI_Group_free(&all);
    MPI_Group_free(&before);
    MPI_Group_free(&after);
    free(in);
}

/* Draws tickets from a counter, and swaps a slot that only one rank uses. */
static void atomics(world w, int distance, int turns, int how)
{
    MPI_Win window;
    long *data = opened(w, 2, how, &window), one = 1, ticket, got, sum = 0;
    int to = modulo(w.rank + (long)distance, w.size);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < turns; i++) {
        long expected = i, next = i + 1;
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Compare_and_swap(&next, &expected, &got, MPI_LONG, to, 1, window);
        MPI_Win_flush_all(window);
        absorb((word)got);
        sum += ticket;
    }
    MPI_Win_unlock_all(window);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, w.comm);
    absorb((word)sum); /* which rank got which ticket is undefined, but all tickets together are not */
    closed(w, data, 2, how, &window);
}

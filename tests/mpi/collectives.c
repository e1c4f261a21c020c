/* All collective operations, blocking and nonblocking, on communicators of several sizes and orders, with
 * lengths on both sides of the switch points: prints one line at the end, "wrong 0". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    MPI_Comm comm;
    int rank, size, wrong;
} state;

static void check(state *s, int right, const char *what, int n)
{
    if (!right && s->wrong++ < 5)
        printf("rank %d of %d: %s is wrong, length %d\n", s->rank, s->size, what, n);
}

/* value of item i that rank r contributes */
static long item(int r, int i)
{
    return (long)r * 7 + i % 13 + 1;
}

static long sum(int ranks, int i)
{
    long total = 0;
    for (int r = 0; r < ranks; r++)
        total += item(r, i);
    return total;
}

static void wait(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* 2 x 2 matrices: their product does not commute */
static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int k = 0; k < *len; k++) {
        const unsigned *a = (const unsigned *)in + 4 * k;
        unsigned *b = (unsigned *)inout + 4 * k, c[4];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                c[2 * i + j] = a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j];
        memcpy(b, c, sizeof c);
    }
}

static void matrix(int r, unsigned *m)
{
    m[0] = (unsigned)r + 1, m[1] = 1, m[2] = (unsigned)r % 3, m[3] = 2;
}

static void orders(state *s)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    unsigned mine[4], all[4], product[4], next[4], before[4] = {0};
    int one = 1;
    matrix(s->rank, mine);
    matrix(s->size - 1, product);
    for (int r = s->size - 2; r >= 0; r--) {
        matrix(r, next);
        multiply(next, product, &one, &type);
    }
    for (int root = 0; root < s->size; root += s->size > 2 ? s->size - 2 : 1) {
        MPI_Reduce(mine, all, 1, type, op, root, s->comm);
        check(s, s->rank != root || memcmp(all, product, sizeof all) == 0, "reduce of matrices", root);
    }
    MPI_Allreduce(mine, all, 1, type, op, s->comm);
    check(s, memcmp(all, product, sizeof all) == 0, "allreduce of matrices", 1);
    matrix(s->rank, product);
    for (int r = s->rank - 1; r >= 0; r--) {
        matrix(r, next);
        multiply(next, product, &one, &type);
        if (r == 0)
            break;
    }
    MPI_Scan(mine, all, 1, type, op, s->comm);
    check(s, memcmp(all, product, sizeof all) == 0, "scan of matrices", 1);
    MPI_Exscan(mine, before, 1, type, op, s->comm);
    if (s->rank > 0) {
        multiply(before, mine, &one, &type);
        check(s, memcmp(mine, product, sizeof mine) == 0, "exscan of matrices", 1);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void reductions(state *s, int n)
{
    long *out = malloc((size_t)n * sizeof *out + 1), *in = malloc((size_t)n * sizeof *in + 1);
    MPI_Request request;
    for (int i = 0; i < n; i++)
        out[i] = item(s->rank, i);
    for (int root = 0; root < s->size; root += s->size > 3 ? s->size - 3 : 1)
        for (int later = 0; later < 2; later++) {
            memset(in, 0, (size_t)n * sizeof *in);
            if (later)
                MPI_Ireduce(out, in, n, MPI_LONG, MPI_SUM, root, s->comm, &request), wait(&request);
            else
                MPI_Reduce(out, in, n, MPI_LONG, MPI_SUM, root, s->comm);
            for (int i = 0; i < n && s->rank == root; i++)
                check(s, in[i] == sum(s->size, i), "reduce", n);
        }
    for (int later = 0; later < 2; later++) {
        memcpy(in, out, (size_t)n * sizeof *in);
        if (later)
            MPI_Iallreduce(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, s->comm, &request), wait(&request);
        else
            MPI_Allreduce(out, in, n, MPI_LONG, MPI_SUM, s->comm);
        for (int i = 0; i < n; i++)
            check(s, in[i] == sum(s->size, i), "allreduce", n);
    }
    MPI_Scan(out, in, n, MPI_LONG, MPI_SUM, s->comm);
    for (int i = 0; i < n; i++)
        check(s, in[i] == sum(s->rank + 1, i), "scan", n);
    MPI_Iexscan(out, in, n, MPI_LONG, MPI_SUM, s->comm, &request), wait(&request);
    for (int i = 0; i < n && s->rank > 0; i++)
        check(s, in[i] == sum(s->rank, i), "exscan", n);
    free(out);
    free(in);
}

static void scattered(state *s, int n)
{
    int total = 0, first = 0, *counts = malloc((size_t)s->size * sizeof *counts);
    for (int r = 0; r < s->size; r++) {
        counts[r] = n + r % 3;
        first = r == s->rank ? total : first;
        total += counts[r];
    }
    long *out = malloc((size_t)total * sizeof *out + 1), *in = malloc((size_t)total * sizeof *in + 1);
    for (int i = 0; i < total; i++)
        out[i] = item(s->rank, i);
    MPI_Reduce_scatter(out, in, counts, MPI_LONG, MPI_SUM, s->comm);
    for (int i = 0; i < counts[s->rank]; i++)
        check(s, in[i] == sum(s->size, first + i), "reduce_scatter", n);
    MPI_Reduce_scatter_block(out, in, n, MPI_LONG, MPI_SUM, s->comm);
    for (int i = 0; i < n; i++)
        check(s, in[i] == sum(s->size, s->rank * n + i), "reduce_scatter_block", n);
    free(counts);
    free(out);
    free(in);
}

static void moves(state *s, int n)
{
    size_t all = (size_t)n * (size_t)s->size;
    int *out = malloc(all * sizeof *out + 1), *in = malloc(all * sizeof *in + 1);
    MPI_Request request;
    for (int root = 0; root < s->size; root += s->size > 3 ? s->size - 2 : 1)
        for (int later = 0; later < 2; later++) {
            for (int i = 0; i < n; i++)
                in[i] = s->rank == root ? root + i : -1;
            if (later)
                MPI_Ibcast(in, n, MPI_INT, root, s->comm, &request), wait(&request);
            else
                MPI_Bcast(in, n, MPI_INT, root, s->comm);
            for (int i = 0; i < n; i++)
                check(s, in[i] == root + i, "bcast", n);
            for (int i = 0; i < n; i++)
                out[i] = s->rank * 1000 + i;
            if (later)
                MPI_Igather(out, n, MPI_INT, in, n, MPI_INT, root, s->comm, &request), wait(&request);
            else
                MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, root, s->comm);
            for (size_t i = 0; i < all && s->rank == root; i++)
                check(s, in[i] == (int)(i / (size_t)n) * 1000 + (int)(i % (size_t)n), "gather", n);
            for (size_t i = 0; i < all; i++)
                out[i] = s->rank == root ? (int)i : -1;
            MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, root, s->comm);
            for (int i = 0; i < n; i++)
                check(s, in[i] == s->rank * n + i, "scatter", n);
        }
    for (int i = 0; i < n; i++)
        out[i] = s->rank * 1000 + i;
    MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, s->comm);
    for (size_t i = 0; i < all; i++)
        check(s, in[i] == (int)(i / (size_t)n) * 1000 + (int)(i % (size_t)n), "allgather", n);
    for (size_t i = 0; i < all; i++)
        out[i] = s->rank * 100000 + (int)i;
    for (int later = 0; later < 3; later++) {
        memset(in, 0, all * sizeof *in);
        if (later == 2)
            memcpy(in, out, all * sizeof *in);
        if (later == 1)
            MPI_Ialltoall(out, n, MPI_INT, in, n, MPI_INT, s->comm, &request), wait(&request);
        else
            MPI_Alltoall(later ? MPI_IN_PLACE : out, n, MPI_INT, in, n, MPI_INT, s->comm);
        for (size_t i = 0; i < all; i++)
            check(s, in[i] == (int)(i / (size_t)n) * 100000 + s->rank * n + (int)(i % (size_t)n), "alltoall",
                  n);
    }
    free(out);
    free(in);
}

/* blocks of different length, with gaps between them */
static void uneven(state *s, int n)
{
    int *counts = malloc((size_t)s->size * sizeof *counts),
        *places = malloc((size_t)s->size * sizeof *places);
    int total = 0, mine = n + s->rank % 4;
    for (int r = 0; r < s->size; r++) {
        counts[r] = n + r % 4;
        places[r] = total;
        total += counts[r] + 1;
    }
    int *out = malloc((size_t)total * sizeof *out), *in = malloc((size_t)total * sizeof *in);
    for (int i = 0; i < total; i++)
        out[i] = s->rank * 1000 + i;
    for (int which = 0; which < 3; which++) {
        int root = s->size - 1;
        for (int i = 0; i < total; i++)
            in[i] = -1;
        if (which == 0)
            MPI_Allgatherv(out, mine, MPI_INT, in, counts, places, MPI_INT, s->comm);
        else if (which == 1)
            MPI_Gatherv(out, mine, MPI_INT, in, counts, places, MPI_INT, root, s->comm);
        else
            MPI_Scatterv(out, counts, places, MPI_INT, in, mine, MPI_INT, root, s->comm);
        for (int r = 0; r < s->size && (which == 0 || (which == 1 && s->rank == root)); r++)
            for (int i = 0; i <= counts[r]; i++)
                check(s, in[places[r] + i] == (i < counts[r] ? r * 1000 + i : -1), "gatherv", n);
        for (int i = 0; which == 2 && i < mine; i++)
            check(s, in[i] == root * 1000 + places[s->rank] + i, "scatterv", n);
    }
    int *same = malloc((size_t)s->size * sizeof *same), *at = malloc((size_t)s->size * sizeof *at);
    for (int r = 0; r < s->size; r++) {
        same[r] = mine;
        at[r] = r * mine;
    }
    int *got = malloc((size_t)s->size * (size_t)(mine + 1) * sizeof *got);
    MPI_Alltoallv(out, counts, places, MPI_INT, got, same, at, MPI_INT, s->comm);
    for (int r = 0; r < s->size; r++)
        for (int i = 0; i < mine; i++)
            check(s, got[r * mine + i] == r * 1000 + places[s->rank] + i, "alltoallv", n);
    free(counts), free(places), free(out), free(in), free(same), free(at), free(got);
}

/* two operations at once; every second rank waits for them in the opposite order */
static void together(state *s)
{
    int one = s->rank, two = s->rank == 0 ? 5 : 0, sums = 0;
    MPI_Request requests[3];
    MPI_Iallreduce(&one, &sums, 1, MPI_INT, MPI_SUM, s->comm, &requests[0]);
    MPI_Ibcast(&two, 1, MPI_INT, 0, s->comm, &requests[1]);
    MPI_Ibarrier(s->comm, &requests[2]);
    if (s->rank % 2)
        for (int i = 2; i >= 0; i--)
            wait(&requests[i]);
    else
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    check(s, sums == s->size * (s->size - 1) / 2 && two == 5, "operations together", 1);
}

/* columns of a matrix: types with gaps */
static void columns(state *s)
{
    int rows = 5, *a = malloc((size_t)rows * (size_t)s->size * sizeof *a);
    int *b = malloc((size_t)rows * (size_t)s->size * sizeof *b);
    MPI_Datatype column, step;
    MPI_Type_vector(rows, 1, s->size, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &step);
    MPI_Type_commit(&step);
    for (int i = 0; i < rows * s->size; i++)
        a[i] = s->rank * 1000 + i;
    MPI_Alltoall(a, 1, step, b, 1, step, s->comm);
    for (int i = 0; i < rows * s->size; i++)
        check(s, b[i] == i % s->size * 1000 + i / s->size * s->size + s->rank, "alltoall of columns", rows);
    MPI_Bcast(a, s->size, step, 0, s->comm);
    for (int i = 0; i < rows * s->size; i++)
        check(s, a[i] == i, "bcast of columns", rows);
    MPI_Type_free(&column), MPI_Type_free(&step);
    free(a), free(b);
}

static int all(MPI_Comm comm)
{
    static const int lengths[] = {1, 3, 40, 300, 5000};
    state s = {.comm = comm};
    MPI_Comm_rank(comm, &s.rank);
    MPI_Comm_size(comm, &s.size);
    for (int k = 0; k < 5; k++) {
        reductions(&s, lengths[k]);
        moves(&s, lengths[k]);
        if (k < 4)
            uneven(&s, lengths[k]), scattered(&s, lengths[k]);
        MPI_Barrier(comm);
    }
    orders(&s);
    together(&s);
    columns(&s);
    return s.wrong;
}

int main(int argc, char **argv)
{
    int rank, size, wrong, total;
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    wrong = all(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 0, -rank, &part);
    wrong += all(part);
    MPI_Comm_free(&part);
    MPI_Comm_dup(MPI_COMM_WORLD, &part);
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, part);
    MPI_Comm_free(&part);
    if (rank == 0)
        printf("wrong %d\n", total);
    MPI_Finalize();
    return 0;
}

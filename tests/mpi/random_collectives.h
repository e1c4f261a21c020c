/* Parts of random MPI programs: collective operations, communicators, topologies, one-sided operations. */
#include "random_threads.h"

static void finished(int waits, MPI_Request *request)
{
    int flag = 0;
    if (waits == 1)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    while (waits == 2 && !flag)
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

/* ---- reductions: of 0 sums, 1 products, 2 largest, 3 smallest; 4 to 6 bitwise, 7 and 8 logical, integers
 * only */

typedef struct element {
    MPI_Datatype type;
    size_t size;
} element;

static element element_of(int which)
{
    element all[] = {{MPI_INT, sizeof(int)},     {MPI_UNSIGNED, sizeof(unsigned)},
                     {MPI_LONG, sizeof(long)},   {MPI_UNSIGNED_LONG, sizeof(long)},
                     {MPI_SHORT, sizeof(short)}, {MPI_UNSIGNED_CHAR, 1},
                     {MPI_INT64_T, 8},           {MPI_UINT32_T, 4},
                     {MPI_FLOAT, sizeof(float)}, {MPI_DOUBLE, sizeof(double)}};
    return all[which];
}

static void store(int which, void *data, int i, long value)
{
    if (which == 8)
        ((float *)data)[i] = (float)value;
    else if (which == 9)
        ((double *)data)[i] = (double)value;
    else /* little endian: the low bytes come first */
        memcpy((char *)data + (size_t)i * element_of(which).size, &value, element_of(which).size);
}

/* Small numbers with sums and products that are exact in every type. */
static void *numbers(int which, int operation, int count)
{
    void *data = room((size_t)count * 8);
    for (int i = 0; i < count; i++) {
        word x = mix(state + (word)i);
        store(which, data, i, operation == 1 ? 1 + 2 * (long)(x % 8 == 0) : (long)(x % 61));
        if (operation == 1 && which != 1 && which != 3 && which != 5 && which != 7)
            store(which, data, i, x % 2 ? 1 : -1);
    }
    return data;
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const word *first = in;
    word *second = inout;
    (void)type;
    for (int i = 0; i < *count;
         i++) { /* composition of maps x -> a x + b, the left one first: does not commute */
        word a = first[2 * i] * second[2 * i], b = second[2 * i] * first[2 * i + 1] + second[2 * i + 1];
        second[2 * i] = a;
        second[2 * i + 1] = b;
    }
}

/* `what`: 0 reduce, 1 allreduce, 2 scan, 3 exscan, 4 reduce_scatter_block, 5 reduce_scatter; `waits` 0:
 * blocking.
 */
static void run_reduction(world w, int what, int root, int waits, void *in, void *out, int count, size_t size,
                          MPI_Datatype type, MPI_Op op)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int length = count, *counts = room((size_t)w.size * sizeof(int)), own = 0;
    for (int i = 0; i < w.size; i++)
        counts[i] = (i + 1) * count / w.size - i * count / w.size;
    own = counts[w.rank];
    if (what == 0 && waits)
        MPI_Ireduce(in, out, count, type, op, root, w.comm, &request);
    else if (what == 0)
        MPI_Reduce(in, out, count, type, op, root, w.comm);
    else if (what == 1 && waits)
        MPI_Iallreduce(in, out, count, type, op, w.comm, &request);
    else if (what == 1)
        MPI_Allreduce(in, out, count, type, op, w.comm);
    else if (what == 2 && waits)
        MPI_Iscan(in, out, count, type, op, w.comm, &request);
    else if (what == 2)
        MPI_Scan(in, out, count, type, op, w.comm);
    else if (what == 3 && waits)
        MPI_Iexscan(in, out, count, type, op, w.comm, &request);
    else if (what == 3)
        MPI_Exscan(in, out, count, type, op, w.comm);
    else if (what == 4 && waits)
        MPI_Ireduce_scatter_block(in, out, count / w.size, type, op, w.comm, &request);
    else if (what == 4)
        MPI_Reduce_scatter_block(in, out, count / w.size, type, op, w.comm);
    else if (waits)
        MPI_Ireduce_scatter(in, out, counts, type, op, w.comm, &request);
    else
        MPI_Reduce_scatter(in, out, counts, type, op, w.comm);
    finished(waits, &request);
    length = what == 4 ? count / w.size : what == 5 ? own : count;
    if ((what != 0 || w.rank == root) && (what != 3 || w.rank > 0))
        absorb_bytes(out, (size_t)length * size);
    free(counts);
}

static void reduction(world w, int what, int root, int count, int which, int operation, int waits)
{
    MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR};
    element e = element_of(which);
    void *in = numbers(which, operation, count), *out = room((size_t)count * 8);
    run_reduction(w, what, modulo(root, w.size), waits, in, out, count, e.size, e.type, all[operation]);
    free(in);
    free(out);
}

static void reduction_in_place(world w, int count, int which, int operation)
{
    MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    void *data = numbers(which, operation, count);
    MPI_Allreduce(MPI_IN_PLACE, data, count, element_of(which).type, all[operation], w.comm);
    absorb_bytes(data, (size_t)count * element_of(which).size);
    free(data);
}

static void composition(world w, int what, int root, int count, int waits)
{
    MPI_Op op;
    MPI_Datatype pair;
    void *in = drawn((size_t)count * 16), *out = room((size_t)count * 16);
    MPI_Type_contiguous(2, MPI_UNSIGNED_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    run_reduction(w, what, modulo(root, w.size), waits, in, out, count, 16, pair, op);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(in);
    free(out);
}

static void extremes(world w, int largest, int root)
{
    struct {
        double value;
        int place;
    } own = {(double)(mix(state) % 5), w.rank}, found = {0.0, -1};
    int pair[2] = {(int)(mix(state + 1) % 3), w.rank * 2}, best[2];
    MPI_Allreduce(&own, &found, 1, MPI_DOUBLE_INT, largest ? MPI_MAXLOC : MPI_MINLOC, w.comm);
    MPI_Reduce(pair, best, 1, MPI_2INT, largest ? MPI_MINLOC : MPI_MAXLOC, modulo(root, w.size), w.comm);
    absorb((word)found.place * 8 + (word)found.value);
    if (w.rank == modulo(root, w.size))
        absorb((word)best[0] * 1000 + (word)best[1]);
}

/* ---- data movement */

static void broadcast(world w, int root, int count, int kind, int waits)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = made_type(kind, count);
    root = modulo(root, w.size);
    void *data = w.rank == root ? drawn(SPAN(count)) : room(SPAN(count));
    if (waits)
        MPI_Ibcast(data, 1, type, root, w.comm, &request);
    else
        MPI_Bcast(data, 1, type, root, w.comm);
    finished(waits, &request);
    absorb_bytes(data, SPAN(count));
    MPI_Type_free(&type);
    free(data);
}

/* `what`: 0 gather, 1 scatter, 2 allgather, 3 alltoall; all ranks have the same number of longs. */
static void even_blocks(world w, int what, int root, int count, int waits)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype t = MPI_LONG;
    size_t bytes = (size_t)(count * w.size) * sizeof(long);
    void *in = drawn(bytes), *out = room(bytes);
    root = modulo(root, w.size);
    if (what == 0 && waits)
        MPI_Igather(in, count, t, out, count, t, root, w.comm, &request);
    else if (what == 0)
        MPI_Gather(in, count, t, out, count, t, root, w.comm);
    else if (what == 1 && waits)
        MPI_Iscatter(in, count, t, out, count, t, root, w.comm, &request);
    else if (what == 1)
        MPI_Scatter(in, count, t, out, count, t, root, w.comm);
    else if (what == 2 && waits)
        MPI_Iallgather(in, count, t, out, count, t, w.comm, &request);
    else if (what == 2)
        MPI_Allgather(in, count, t, out, count, t, w.comm);
    else if (waits)
        MPI_Ialltoall(in, count, t, out, count, t, w.comm, &request);
    else
        MPI_Alltoall(in, count, t, out, count, t, w.comm);
    finished(waits, &request);
    absorb_bytes(out, bytes);
    free(in);
    free(out);
}

/* What rank `from` sends to rank `to`: blocks of different lengths, some empty. */
static int length_of(int from, int to, int count)
{
    return (from * 3 + to * 5 + 1) % (count + 1);
}

/* `what`: 0 gatherv, 1 scatterv, 2 allgatherv, 3 alltoallv, 4 alltoallw; between blocks one item stays
 * unused.
 */
static void uneven_blocks(world w, int what, int root, int count)
{
    int *ins = room((size_t)w.size * 4), *outs = room((size_t)w.size * 4);
    int *in_places = room((size_t)w.size * 4), *out_places = room((size_t)w.size * 4);
    MPI_Datatype *types = room((size_t)w.size * sizeof *types), t = MPI_LONG;
    size_t bytes = (size_t)((count + 1) * w.size) * sizeof(long);
    long *in = drawn(bytes), *out = room(bytes);
    int own, scale = what == 4 ? (int)sizeof(long) : 1;
    root = modulo(root, w.size);
    for (int i = 0; i < w.size; i++) {
        ins[i] = length_of(what == 1 ? root : w.rank, i, count);
        outs[i] = length_of(i, what == 3 || what == 4 ? w.rank : root, count);
        in_places[i] = out_places[i] = i * (count + 1) * scale;
        types[i] = t;
    }
    own = what == 1 ? ins[w.rank] : length_of(w.rank, root, count);
    if (what == 0)
        MPI_Gatherv(in, own, t, out, outs, out_places, t, root, w.comm);
    else if (what == 1)
        MPI_Scatterv(in, ins, in_places, t, out, own, t, root, w.comm);
    else if (what == 2)
        MPI_Allgatherv(in, own, t, out, outs, out_places, t, w.comm);
    else if (what == 3)
        MPI_Alltoallv(in, ins, in_places, t, out, outs, out_places, t, w.comm);
    else
        MPI_Alltoallw(in, ins, in_places, types, out, outs, out_places, types, w.comm);
    absorb_bytes(out, bytes);
    free(ins);
    free(outs);
    free(in_places);
    free(out_places);
    free(types);
    free(in);
    free(out);
}

static void barrier(world w, int waits)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (waits)
        MPI_Ibarrier(w.comm, &request);
    else
        MPI_Barrier(w.comm);
    finished(waits, &request);
}

/* ---- communicators */

static world split(world w, int colours, int factor, int leaves_out)
{
    MPI_Comm made;
    int colour = modulo((long)w.rank * factor, colours);
    MPI_Comm_split(w.comm, leaves_out && w.rank % 3 == 2 ? MPI_UNDEFINED : colour,
                   modulo(-(long)w.rank * factor, w.size), &made);
    return within(made);
}

static world subgroup(world w, int step)
{
    MPI_Group all, some;
    MPI_Comm made;
    int range[3] = {w.size - 1, 0, -step}, first = 0, there;
    MPI_Comm_group(w.comm, &all);
    MPI_Group_range_incl(all, 1, &range, &some);
    MPI_Comm_create(w.comm, some, &made);
    MPI_Group_translate_ranks(some, 1, &first, all, &there);
    absorb((word)there);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return within(made);
}

static world duplicate(world w)
{
    MPI_Comm made;
    MPI_Comm_dup(w.comm, &made);
    return within(made);
}

/* Even and odd ranks as two groups that exchange messages, then as one again. */
static void two_groups(world w, int tag)
{
    MPI_Comm half, between, merged;
    int others, side = w.rank % 2;
    word own = mix(state), got, sum = 0;
    if (w.size < 2)
        return;
    MPI_Comm_split(w.comm, side, w.rank, &half);
    MPI_Intercomm_create(half, 0, w.comm, 1 - side, tag, &between);
    MPI_Comm_remote_size(between, &others);
    MPI_Request *r = room((size_t)others * sizeof *r);
    for (int i = 0; i < others; i++)
        MPI_Isend(&own, 1, MPI_UNSIGNED_LONG, i, tag, between, &r[i]);
    for (int i = 0; i < others; i++) {
        MPI_Recv(&got, 1, MPI_UNSIGNED_LONG, i, tag, between, MPI_STATUS_IGNORE);
        absorb(got);
    }
    MPI_Waitall(others, r, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&own, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, between);
    MPI_Intercomm_merge(between, side, &merged);
    absorb(sum + (word)within(merged).rank);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    free(r);
}

/* ---- topologies */

static void cartesian(world w, int dimensions, int periodic, int count, int tag)
{
    int dims[3] = {0, 0, 0}, periods[3], place[3], keep[3] = {1, 0, 1}, can_exchange = 1, from, to;
    MPI_Comm grid, plane;
    MPI_Dims_create(w.size, dimensions, dims);
    for (int d = 0; d < dimensions; d++) {
        periods[d] = periodic >> d & 1;
        /* both neighbours are the same rank: the standard does not say which of its messages belongs to which
         * side */
        can_exchange &= !periods[d] || dims[d] > 2;
    }
    MPI_Cart_create(w.comm, dimensions, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, w.rank, dimensions, place);
    absorb_bytes(place, (size_t)dimensions * sizeof(int));
    size_t bytes = (size_t)(2 * dimensions * count) * sizeof(long);
    void *in = drawn(bytes), *out = room(bytes);
    for (int d = 0; d < dimensions; d++) {
        MPI_Cart_shift(grid, d, 1, &from, &to);
        MPI_Sendrecv(in, count, MPI_LONG, to, tag, out, count, MPI_LONG, from, tag, grid, MPI_STATUS_IGNORE);
        absorb_bytes(out, (size_t)count * sizeof(long));
    }
    MPI_Neighbor_allgather(in, count, MPI_LONG, out, count, MPI_LONG, grid);
    absorb_bytes(out, bytes);
    if (can_exchange)
        MPI_Neighbor_alltoall(in, count, MPI_LONG, out, count, MPI_LONG, grid);
    absorb_bytes(out, bytes);
    MPI_Cart_sub(grid, keep, &plane);
    broadcast(within(plane), tag, count, 0, 0);
    MPI_Comm_free(&plane);
    MPI_Comm_free(&grid);
    free(in);
    free(out);
}

static void graph(world w, int one, int other, int count)
{
    int from[2] = {modulo(w.rank - (long)one, w.size), modulo(w.rank - (long)other, w.size)};
    int to[2] = {modulo(w.rank + (long)one, w.size), modulo(w.rank + (long)other, w.size)},
        n = from[0] == from[1] ? 1 : 2;
    MPI_Comm made;
    void *in = drawn((size_t)count * 16), *out = room((size_t)count * 16);
    MPI_Dist_graph_create_adjacent(w.comm, n, from, MPI_UNWEIGHTED, n, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &made);
    MPI_Neighbor_alltoall(in, count, MPI_LONG, out, count, MPI_LONG, made);
    absorb_bytes(out, (size_t)count * 16);
    MPI_Comm_free(&made);
    free(in);
    free(out);
}

/* ---- the programs */

static void print_states(world w, int seed)
{
    word *all = room((size_t)w.size * sizeof *all);
    MPI_Gather(&state, 1, MPI_UNSIGNED_LONG, all, 1, MPI_UNSIGNED_LONG, 0, w.comm);
    for (int i = 0; i < w.size && w.rank == 0; i++)
        printf("program %d, rank %d: %016lx\n", seed, i, all[i]);
    free(all);
}

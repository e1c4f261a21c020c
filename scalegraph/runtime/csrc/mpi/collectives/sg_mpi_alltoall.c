/* All-to-all: each rank has a block for every other rank. */
#include "sg_mpi_calls.h"

/* Blocks are ordered by distance to their target; step k moves all blocks whose distance has bit k, by 2^k
 * ranks. */
static void bruck(sg_schedule *s, const char *out, char *in, int64_t bytes)
{
    int size = s->view->size, me = s->view->rank;
    char *turned = sg_schedule_memory(s, size * bytes), *sent = sg_schedule_memory(s, size * bytes);
    for (int i = 0; i < size; i++)
        sg_add_copy(s, out + (me + i) % size * bytes, bytes, sg_bytes(), turned + i * bytes, bytes,
                    sg_bytes());
    sg_add_wait(s);
    for (int bit = 1; bit < size; bit *= 2) {
        char *got = sg_schedule_memory(s, size * bytes);
        int blocks = 0;
        for (int i = 0; i < size; i++)
            if (i & bit)
                sg_add_copy(s, turned + i * bytes, bytes, sg_bytes(), sent + blocks++ * bytes, bytes,
                            sg_bytes());
        sg_add_wait(s);
        sg_add_receive(s, got, blocks * bytes, sg_bytes(), (me - bit + size) % size);
        sg_add_send(s, sent, blocks * bytes, sg_bytes(), (me + bit) % size);
        sg_add_wait(s);
        blocks = 0;
        for (int i = 0; i < size; i++)
            if (i & bit)
                sg_add_copy(s, got + blocks++ * bytes, bytes, sg_bytes(), turned + i * bytes, bytes,
                            sg_bytes());
        sg_add_wait(s);
    }
    for (int i = 0; i < size; i++)
        sg_add_copy(s, turned + i * bytes, bytes, sg_bytes(), in + (me - i + size) % size * bytes, bytes,
                    sg_bytes());
    sg_add_wait(s);
}

/* With one rank at a time: the one whose number differs in the same bits, or at the same distance. */
static void pairwise(sg_schedule *s, const sg_mpi_block *out, const sg_mpi_block *in)
{
    int size = s->view->size, me = s->view->rank;
    bool even = (size & (size - 1)) == 0;
    for (int step = 1; step < size; step++) {
        int to = even ? me ^ step : (me + step) % size, from = even ? to : (me - step + size) % size;
        sg_add_receive(s, in[from].at, in[from].count, in[from].type, from);
        sg_add_send(s, out[to].at, out[to].count, out[to].type, to);
        sg_add_wait(s);
    }
}

/* Exchanges blocks with all ranks; the rank's own block is copied. */
static void exchange_all(sg_schedule *s, const sg_mpi_block *out, const sg_mpi_block *in, bool one_by_one)
{
    int size = sg_comm_peers(s->comm), me = s->comm->rank;
    bool inter = s->comm->remote != NULL;
    if (!inter) {
        sg_own_block(s, out[me].count * out[me].type->size, in[me].count * in[me].type->size);
        sg_add_copy(s, out[me].at, out[me].count, out[me].type, in[me].at, in[me].count, in[me].type);
    }
    if (one_by_one && !inter) {
        pairwise(s, out, in);
        return;
    }
    for (int k = inter ? 0 : 1; k < size; k++) {
        int i = (me - k + size + (inter ? me : 0)) % size, from = inter ? k : i;
        sg_add_receive(s, in[from].at, in[from].count, in[from].type, from);
    }
    for (int k = inter ? 0 : 1; k < size; k++) {
        int to = inter ? k : (me + k) % size;
        sg_add_send(s, out[to].at, out[to].count, out[to].type, to);
    }
    sg_add_wait(s);
}

/* Copies the data in the result buffers into blocks to be sent. */
static void in_place(sg_schedule *s, sg_mpi_block *out, const sg_mpi_block *in)
{
    for (int i = 0; i < sg_comm_peers(s->comm); i++) {
        int64_t bytes = in[i].count * in[i].type->size;
        void *copy = sg_schedule_memory(s, bytes);
        sg_add_copy(s, in[i].at, in[i].count, in[i].type, copy, bytes, sg_bytes());
        out[i] = (sg_mpi_block){i, copy, bytes, sg_bytes()};
    }
    sg_add_wait(s);
}

static int alltoall(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                    int in_count, MPI_Datatype in_type, MPI_Comm comm)
{
    sg_type *sent = NULL, *got;
    int error = out != MPI_IN_PLACE ? sg_collective_type(comm, out, out_type, out_count, &sent) : MPI_SUCCESS;
    if (error == MPI_SUCCESS)
        error = sg_collective_type(comm, in, in_type, in_count, &got);
    const int64_t ranks = error == MPI_SUCCESS ? sg_comm_peers(sg_comm_of(comm)) : 0;
    if (error == MPI_SUCCESS)
        error =
            sg_collective_apart(sg_comm_of(comm), out, out_count * ranks, sent, in, in_count * ranks, got);
    int64_t bytes = error == MPI_SUCCESS ? in_count * got->size : 0;
    if (error == MPI_SUCCESS)
        error = sg_collective_begin_typed(comm, SG_NO_ROOT, in_count, got, NULL, s);
    if (error != MPI_SUCCESS)
        return error;
    int size = sg_comm_peers((*s)->comm);
    enum sg_algorithm how = sg_choose(*s, SG_ALLTOALL, bytes, true);
    if (how == SG_BRUCK && out != MPI_IN_PLACE && (*s)->comm->remote == NULL) {
        sg_own_block(*s, out_count * sent->size, bytes);
        char *packed = sg_packed(*s, out, (int64_t)size * out_count, sent);
        char *result = sg_schedule_memory(*s, size * bytes);
        bruck(*s, packed, result, bytes);
        sg_add_copy(*s, result, size * bytes, sg_bytes(), in, (int64_t)size * in_count, got);
        return MPI_SUCCESS;
    }
    sg_mpi_block *from = sg_schedule_memory(*s, size * (int64_t)sizeof *from);
    sg_mpi_block *to = sg_schedule_memory(*s, size * (int64_t)sizeof *to);
    for (int i = 0; i < size; i++) {
        to[i] = (sg_mpi_block){i, sg_item(in, (int64_t)i * in_count, got), in_count, got};
        if (sent != NULL)
            from[i] = (sg_mpi_block){i, sg_item(out, (int64_t)i * out_count, sent), out_count, sent};
    }
    if (out == MPI_IN_PLACE)
        in_place(*s, from, to);
    exchange_all(*s, from, to, how == SG_PAIRWISE);
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Alltoall, Ialltoall, alltoall,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                      MPI_Datatype in_type, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, in_count, in_type, comm))

/* Counts, displacements and types of one side of the v and w forms. `types` NULL: all are `type`, and
 * displacements count its extents; otherwise they count bytes. */
typedef struct side {
    const void *buffer;
    const int *counts, *places;
    MPI_Datatype type;
    const MPI_Datatype *types;
} side;

static int blocks_of(MPI_Comm comm, int size, const side *from, sg_mpi_block **blocks)
{
    SG_NEEDS(from->counts, from->places)
    *blocks = sg_mpi_new((size_t)size * sizeof **blocks);
    for (int i = 0; i < size; i++) {
        sg_mpi_block *b = &(*blocks)[i];
        const char *buffer = (const char *)from->buffer + (from->types != NULL ? from->places[i] : 0);
        int error = sg_collective_type(comm, buffer, from->types != NULL ? from->types[i] : from->type,
                                       from->counts[i], &b->type);
        if (error != MPI_SUCCESS)
            return error;
        b->peer = i;
        b->count = from->counts[i];
        b->at = from->types != NULL ? (char *)(uintptr_t)from->buffer + from->places[i]
                                    : sg_item(from->buffer, from->places[i], b->type);
    }
    return MPI_SUCCESS;
}

/* Checks all sent against all received blocks if the buffers as a whole overlap. */
static int apart(sg_comm *c, const sg_mpi_block *from, const sg_mpi_block *to, int size)
{
    uintptr_t low[2] = {UINTPTR_MAX, UINTPTR_MAX}, high[2] = {0, 0};
    int error = MPI_SUCCESS;
    for (int i = 0; i < 2 * size; i++) {
        const sg_mpi_block *b = i < size ? &from[i] : &to[i - size];
        if (b->count * b->type->size == 0)
            continue;
        uintptr_t begin = (uintptr_t)b->at + (uintptr_t)b->type->true_lb;
        uintptr_t end = begin + (uintptr_t)(b->count * b->type->size); /* beyond that, items may have gaps */
        low[i >= size] = begin < low[i >= size] ? begin : low[i >= size];
        high[i >= size] = end > high[i >= size] ? end : high[i >= size];
    }
    if (high[0] <= low[1] || high[1] <= low[0])
        return MPI_SUCCESS;
    for (int i = 0; i < size; i++)
        for (int k = 0; error == MPI_SUCCESS && k < size; k++)
            error = sg_collective_apart(c, from[i].at, from[i].count, from[i].type, to[k].at, to[k].count,
                                        to[k].type);
    return error;
}

static int general(sg_schedule **s, const side *out, const side *in, MPI_Comm comm)
{
    const sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int size = sg_comm_peers(c);
    sg_mpi_block *from = NULL, *to = NULL;
    int error = blocks_of(comm, size, in, &to);
    if (error == MPI_SUCCESS && out->buffer != MPI_IN_PLACE)
        error = blocks_of(comm, size, out, &from);
    if (error == MPI_SUCCESS && from != NULL)
        error = apart(sg_comm_of(comm), from, to, size);
    if (error == MPI_SUCCESS)
        error = sg_collective_begin(comm, SG_NO_ROOT, -1, s);
    if (error == MPI_SUCCESS && out->buffer == MPI_IN_PLACE) {
        from = sg_mpi_new((size_t)size * sizeof *from);
        in_place(*s, from, to);
    }
    if (error == MPI_SUCCESS)
        exchange_all(*s, from, to, false);
    sg_mpi_free(from);
    sg_mpi_free(to);
    return error;
}

static int alltoallv(sg_schedule **s, const void *out, const int out_counts[], const int out_places[],
                     MPI_Datatype out_type, void *in, const int in_counts[], const int in_places[],
                     MPI_Datatype in_type, MPI_Comm comm)
{
    return general(s, &(side){out, out_counts, out_places, out_type, NULL},
                   &(side){in, in_counts, in_places, in_type, NULL}, comm);
}
SG_COLLECTIVE(Alltoallv, Ialltoallv, alltoallv,
              SG_LIST(const void *out, const int out_counts[], const int out_places[], MPI_Datatype out_type,
                      void *in, const int in_counts[], const int in_places[], MPI_Datatype in_type,
                      MPI_Comm comm),
              SG_LIST(out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm))

static int alltoallw(sg_schedule **s, const void *out, const int out_counts[], const int out_places[],
                     const MPI_Datatype out_types[], void *in, const int in_counts[], const int in_places[],
                     const MPI_Datatype in_types[], MPI_Comm comm)
{
    SG_NEEDS(in_types)
    if (out != MPI_IN_PLACE)
        SG_NEEDS(out_types)
    return general(s, &(side){out, out_counts, out_places, MPI_DATATYPE_NULL, out_types},
                   &(side){in, in_counts, in_places, MPI_DATATYPE_NULL, in_types}, comm);
}
SG_COLLECTIVE(Alltoallw, Ialltoallw, alltoallw,
              SG_LIST(const void *out, const int out_counts[], const int out_places[],
                      const MPI_Datatype out_types[], void *in, const int in_counts[], const int in_places[],
                      const MPI_Datatype in_types[], MPI_Comm comm),
              SG_LIST(out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm))

/* Barrier, broadcast, gather, scatter and allgather by published algorithms. */
#include "sg_mpi_collective.h"

sg_type *sg_bytes(void)
{
    return sg_type_predefined((uintptr_t)MPI_BYTE);
}

/* Dissemination: after each step a rank has heard from 2, 4, 8 ... ranks, itself included. */
void sg_algorithm_barrier(sg_schedule *s)
{
    int size = s->view->size, rank = s->view->rank;
    if (size > 1 && sg_by_hardware(s, SG_BARRIER, 0, sg_bytes())) {
        sg_add_hardware(s, SG_BARRIER, NULL, NULL, 0, sg_bytes());
        return;
    }
    if (sg_nodes_barrier(s))
        return;
    for (int step = 1; step < size; step *= 2) {
        sg_add_receive(s, NULL, 0, sg_bytes(), (rank - step + size) % size);
        sg_add_send(s, NULL, 0, sg_bytes(), (rank + step) % size);
        sg_add_wait(s);
    }
}

void sg_inter_barrier(sg_schedule *s)
{
    sg_comm *c = s->comm;
    if (c->remote == NULL) {
        sg_algorithm_barrier(s);
        return;
    }
    s->view = c->local;
    sg_algorithm_barrier(s);
    s->view = c;
    if (c->rank == 0) {
        sg_add_receive(s, NULL, 0, sg_bytes(), 0);
        sg_add_send(s, NULL, 0, sg_bytes(), 0);
    }
    sg_add_wait(s);
    s->view = c->local;
    sg_algorithm_barrier(s);
}

/* ---- broadcast ---- */

static void binomial_bcast(sg_schedule *s, void *buffer, int64_t count, sg_type *type, int root)
{
    int size = s->view->size, me = (s->view->rank - root + size) % size, bit = 1;
    for (; bit < size && !(me & bit); bit *= 2)
        ;
    if (me != 0) {
        sg_add_receive(s, buffer, count, type, (me - bit + root) % size);
        sg_add_wait(s);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < size)
            sg_add_send(s, buffer, count, type, (me + bit + root) % size);
    sg_add_wait(s);
}

/* Scatters the root's data down a binomial tree, in pieces of `piece` bytes numbered from the root. */
static void scatter_pieces(sg_schedule *s, char *data, int64_t bytes, int64_t piece, int root)
{
    int size = s->view->size, me = (s->view->rank - root + size) % size, bit = 1;
    for (; bit < size && !(me & bit); bit *= 2)
        ;
#define BEGIN(i) ((int64_t)(i) * piece < bytes ? (int64_t)(i) * piece : bytes)
    if (me != 0) {
        int end = me + bit < size ? me + bit : size;
        sg_add_receive(s, data + BEGIN(me), BEGIN(end) - BEGIN(me), sg_bytes(), (me - bit + root) % size);
        sg_add_wait(s);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        int other = me + bit, end = other + bit < size ? other + bit : size;
        if (other < size)
            sg_add_send(s, data + BEGIN(other), BEGIN(end) - BEGIN(other), sg_bytes(), (other + root) % size);
    }
    sg_add_wait(s);
}

/* All-gathers the pieces, numbered from the root: by recursive doubling, or around the ring. */
static void allgather_pieces(sg_schedule *s, char *data, int64_t bytes, int64_t piece, int root,
                             bool doubling)
{
    int size = s->view->size, me = (s->view->rank - root + size) % size;
    for (int bit = 1; doubling && bit < size; bit *= 2) {
        int other = me ^ bit, mine = me & ~(bit - 1), theirs = other & ~(bit - 1);
        sg_add_receive(s, data + BEGIN(theirs), BEGIN(theirs + bit) - BEGIN(theirs), sg_bytes(),
                       (other + root) % size);
        sg_add_send(s, data + BEGIN(mine), BEGIN(mine + bit) - BEGIN(mine), sg_bytes(),
                    (other + root) % size);
        sg_add_wait(s);
    }
    for (int step = 1; !doubling && step < size; step++) {
        int out = (me - step + 1 + size) % size, in = (me - step + size) % size;
        sg_add_receive(s, data + BEGIN(in), BEGIN(in + 1) - BEGIN(in), sg_bytes(),
                       (me - 1 + root + size) % size);
        sg_add_send(s, data + BEGIN(out), BEGIN(out + 1) - BEGIN(out), sg_bytes(), (me + 1 + root) % size);
        sg_add_wait(s);
    }
#undef BEGIN
}

void sg_algorithm_bcast(sg_schedule *s, void *buffer, int64_t count, sg_type *type, int root)
{
    int size = s->view->size;
    int64_t bytes = count * type->size, piece = (bytes + size - 1) / size;
    if (size < 2 || bytes == 0)
        return;
    if (sg_by_hardware(s, SG_BCAST, count, type)) {
        bool gives = s->view->rank == root;
        sg_add_hardware(s, SG_BCAST, gives ? buffer : NULL, gives ? NULL : buffer, count, type);
        return;
    }
    if (sg_nodes_bcast(s, buffer, count, type, root))
        return;
    enum sg_algorithm how = sg_choose(s, SG_BCAST, bytes, true);
    if (how == SG_BINOMIAL) {
        binomial_bcast(s, buffer, count, type, root);
        return;
    }
    bool flat = sg_type_flat(type, count);
    char *data = flat ? (char *)buffer + type->true_lb : sg_schedule_memory(s, bytes);
    if (!flat && s->view->rank == root)
        sg_add_copy(s, buffer, count, type, data, bytes, sg_bytes());
    scatter_pieces(s, data, bytes, piece, root);
    allgather_pieces(s, data, bytes, piece, root, how == SG_SCATTER_DOUBLING);
    if (!flat && s->view->rank != root)
        sg_add_copy(s, data, bytes, sg_bytes(), buffer, count, type);
    sg_add_wait(s);
}

/* ---- allgather ---- */

static void doubling_allgather(sg_schedule *s, char *all, const int64_t *at)
{
    int size = s->view->size, me = s->view->rank;
    for (int bit = 1; bit < size; bit *= 2) {
        int other = me ^ bit, mine = me & ~(bit - 1), theirs = other & ~(bit - 1);
        sg_add_receive(s, all + at[theirs], at[theirs + bit] - at[theirs], sg_bytes(), other);
        sg_add_send(s, all + at[mine], at[mine + bit] - at[mine], sg_bytes(), other);
        sg_add_wait(s);
    }
}

static void ring_allgather(sg_schedule *s, char *all, const int64_t *at)
{
    int size = s->view->size, me = s->view->rank;
    for (int step = 1; step < size; step++) {
        int out = (me - step + 1 + size) % size, in = (me - step + size) % size;
        sg_add_receive(s, all + at[in], at[in + 1] - at[in], sg_bytes(), (me - 1 + size) % size);
        sg_add_send(s, all + at[out], at[out + 1] - at[out], sg_bytes(), (me + 1) % size);
        sg_add_wait(s);
    }
}

/* Bruck: blocks are kept in the order own, next, next but one ...; each step doubles the number held. */
static void bruck_allgather(sg_schedule *s, char *all, const int64_t *at, const int64_t *bytes)
{
    int size = s->view->size, me = s->view->rank;
    int64_t *begin = sg_schedule_memory(s, (int64_t)sizeof *begin * (size + 1));
    for (int i = 0; i < size; i++)
        begin[i + 1] = begin[i] + bytes[(me + i) % size];
    char *turned = sg_schedule_memory(s, begin[size]);
    sg_add_copy(s, all + at[me], bytes[me], sg_bytes(), turned, bytes[me], sg_bytes());
    sg_add_wait(s);
    for (int step = 1; step < size; step *= 2) {
        int blocks = step < size - step ? step : size - step;
        sg_add_receive(s, turned + begin[step], begin[step + blocks] - begin[step], sg_bytes(),
                       (me + step) % size);
        sg_add_send(s, turned, begin[blocks], sg_bytes(), (me - step + size) % size);
        sg_add_wait(s);
    }
    int64_t behind = at[size] - at[me]; /* this rank's block and those after it come first */
    sg_add_copy(s, turned, behind, sg_bytes(), all + at[me], behind, sg_bytes());
    sg_add_copy(s, turned + behind, at[me], sg_bytes(), all, at[me], sg_bytes());
    sg_add_wait(s);
}

void sg_algorithm_allgather(sg_schedule *s, char *all, const int64_t *bytes)
{
    int size = s->view->size;
    int64_t *at = sg_schedule_memory(s, (int64_t)sizeof *at * (size + 1));
    for (int i = 0; i < size; i++)
        at[i + 1] = at[i] + bytes[i];
    if (size < 2)
        return;
    enum sg_algorithm how = sg_choose(s, SG_ALLGATHER, at[size], true);
    if (how == SG_DOUBLING)
        doubling_allgather(s, all, at);
    else if (how == SG_BRUCK)
        bruck_allgather(s, all, at, bytes);
    else
        ring_allgather(s, all, at);
}

/* ---- scatter and gather by binomial trees; a rank's subtree is the next ranks, counted from the root
 * ---- */

static int subtree(int me, int size)
{
    int bit = 1;
    while (bit < size && !(me & bit))
        bit *= 2;
    return me + bit < size ? bit : size - me;
}

void sg_algorithm_scatter(sg_schedule *s, const char *all, char *own, int64_t bytes, int root)
{
    int size = s->view->size, me = (s->view->rank - root + size) % size, bit = 1;
    char *held = own;
    for (; bit < size && !(me & bit); bit *= 2)
        ;
    if (me == 0) { /* the root's own block comes first */
        held = sg_schedule_memory(s, size * bytes);
        sg_add_copy(s, all + root * bytes, (size - root) * bytes, sg_bytes(), held, (size - root) * bytes,
                    sg_bytes());
        sg_add_copy(s, all, root * bytes, sg_bytes(), held + (size - root) * bytes, root * bytes, sg_bytes());
        sg_add_wait(s);
    } else {
        int blocks = subtree(me, size);
        if (blocks > 1)
            held = sg_schedule_memory(s, blocks * bytes);
        sg_add_receive(s, held, blocks * bytes, sg_bytes(), (me - bit + root) % size);
        sg_add_wait(s);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < size)
            sg_add_send(s, held + bit * bytes, subtree(me + bit, size) * bytes, sg_bytes(),
                        (me + bit + root) % size);
    if (held != own)
        sg_add_copy(s, held, bytes, sg_bytes(), own, bytes, sg_bytes());
    sg_add_wait(s);
}

void sg_algorithm_gather(sg_schedule *s, const char *own, char *all, int64_t bytes, int root)
{
    int size = s->view->size, me = (s->view->rank - root + size) % size, bit = 1;
    int blocks = subtree(me, size);
    char *held = sg_schedule_memory(s, (me == 0 ? size : blocks) * bytes);
    sg_add_copy(s, own, bytes, sg_bytes(), held, bytes, sg_bytes());
    for (; bit < size && !(me & bit); bit *= 2)
        if (me + bit < size)
            sg_add_receive(s, held + bit * bytes, subtree(me + bit, size) * bytes, sg_bytes(),
                           (me + bit + root) % size);
    sg_add_wait(s);
    if (me != 0) {
        sg_add_send(s, held, blocks * bytes, sg_bytes(), (me - bit + root) % size);
    } else {
        sg_add_copy(s, held, (size - root) * bytes, sg_bytes(), all + root * bytes, (size - root) * bytes,
                    sg_bytes());
        sg_add_copy(s, held + (size - root) * bytes, root * bytes, sg_bytes(), all, root * bytes, sg_bytes());
    }
    sg_add_wait(s);
}

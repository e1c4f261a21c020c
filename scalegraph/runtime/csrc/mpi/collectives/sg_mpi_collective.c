/* Barrier, broadcast, gather, scatter, allgather: blocking and nonblocking. */
#include "sg_mpi_calls.h"
#include "sg_mpi_signature.h"

static int begin(MPI_Comm comm, int root, int64_t bytes, const sg_signature *signature, const sg_mpi_op *op,
                 const int counts[], int64_t item, sg_schedule **s)
{
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    bool special = c->remote != NULL && (root == MPI_ROOT || root == MPI_PROC_NULL);
    if (root != SG_NO_ROOT && !special && (root < 0 || root >= sg_comm_peers(c)))
        return sg_mpi_error(c, MPI_ERR_ROOT, "the root %d is not one of the %d ranks of the communicator",
                            root, sg_comm_peers(c));
    bool all = c->remote == NULL;
    int error = sg_collective_compare(c, all && root >= 0 ? root : -1, all ? bytes : -1,
                                      all ? signature : NULL, all ? op : NULL, all ? counts : NULL, item);
    if (error == MPI_ERR_ROOT)
        return error;
    /* after any other error that is returned, the rank still takes part, so that nobody waits for it in
     * vain */
    *s = sg_schedule_new(c);
    (*s)->root = root >= 0 ? root : -1;
    (*s)->error = error;
    return MPI_SUCCESS;
}

int sg_collective_begin(MPI_Comm comm, int root, int64_t bytes, sg_schedule **s)
{
    return begin(comm, root, bytes, NULL, NULL, NULL, 0, s);
}

int sg_collective_begin_typed(MPI_Comm comm, int root, int64_t count, sg_type *type, const sg_mpi_op *op,
                              sg_schedule **s)
{
    sg_signature signature = sg_signature_of(type, count);
    return begin(comm, root, count * type->size, &signature, op, NULL, 0, s);
}

int sg_collective_begin_list(MPI_Comm comm, int64_t count, const int counts[], sg_type *type,
                             const sg_mpi_op *op, sg_schedule **s)
{
    sg_signature signature = sg_signature_of(type, count);
    return begin(comm, SG_NO_ROOT, count * type->size, &signature, op, counts, type->size, s);
}

void sg_exchange(sg_schedule *s, const sg_mpi_block *out, int out_count, const sg_mpi_block *in, int in_count)
{
    for (int i = 0; i < in_count; i++)
        if (in[i].peer != MPI_PROC_NULL)
            sg_add_receive(s, in[i].at, in[i].count, in[i].type, in[i].peer);
    for (int i = 0; i < out_count; i++)
        if (out[i].peer != MPI_PROC_NULL)
            sg_add_send(s, out[i].at, out[i].count, out[i].type, out[i].peer);
    sg_add_wait(s);
}

void *sg_packed(sg_schedule *s, const void *buffer, int64_t count, sg_type *type)
{
    if (sg_type_flat(type, count))
        return (char *)(uintptr_t)buffer + type->true_lb;
    char *packed = sg_schedule_memory(s, count * type->size);
    sg_add_copy(s, buffer, count, type, packed, count * type->size, sg_bytes());
    sg_add_wait(s);
    return packed;
}

/* Are the root's arguments significant here? On an intercommunicator: at MPI_ROOT. */
static bool at_root(MPI_Comm comm, int root)
{
    const sg_comm *c = sg_comm_of(comm);
    return c != NULL && (c->remote != NULL ? root == MPI_ROOT : root == c->rank);
}

/* ---- barrier ---- */

SG_API int PMPI_Barrier(MPI_Comm comm)
{
    SG_ENTER("Barrier");
    sg_schedule *s = NULL;
    int error = sg_collective_begin(comm, SG_NO_ROOT, -1, &s);
    if (error != MPI_SUCCESS)
        return error;
    sg_inter_barrier(s);
    return sg_schedule_run(s);
}
SG_MPI_NAME(Barrier)

SG_API int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    SG_ENTER("Ibarrier");
    SG_NEEDS(request)
    sg_schedule *s = NULL;
    int error = sg_collective_begin(comm, SG_NO_ROOT, -1, &s);
    if (error != MPI_SUCCESS)
        return error;
    sg_inter_barrier(s);
    *request = sg_request_of_schedule(s);
    return MPI_SUCCESS;
}
SG_MPI_NAME(Ibarrier)

/* ---- broadcast ---- */

static int bcast(sg_schedule **s, void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    sg_type *t;
    int error = sg_collective_type(comm, buffer, type, count, &t);
    if (error == MPI_SUCCESS)
        error = sg_collective_begin_typed(comm, root, count, t, NULL, s);
    if (error != MPI_SUCCESS)
        return error;
    if ((*s)->comm->remote == NULL)
        sg_algorithm_bcast(*s, buffer, count, t, root);
    else if (root == MPI_ROOT)
        sg_add_send(*s, buffer, count, t, 0);
    else if (root != MPI_PROC_NULL) {
        if ((*s)->comm->rank == 0)
            sg_add_receive(*s, buffer, count, t, root);
        sg_add_wait(*s);
        (*s)->view = (*s)->comm->local;
        sg_algorithm_bcast(*s, buffer, count, t, 0);
    }
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Bcast, Ibcast, bcast,
              SG_LIST(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
              SG_LIST(buffer, count, type, root, comm))

/* ---- gather and scatter ---- */

/* Begins with whichever of two types is given, or with none: on an intercommunicator's other ranks. */
static int begin_one_of(MPI_Comm comm, int root, int64_t count, sg_type *type, int64_t other_count,
                        sg_type *other, sg_schedule **s)
{
    if (type == NULL && other == NULL)
        return sg_collective_begin(comm, root, 0, s);
    return sg_collective_begin_typed(comm, root, type != NULL ? count : other_count,
                                     type != NULL ? type : other, NULL, s);
}

static int gather(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                  int in_count, MPI_Datatype in_type, int root, MPI_Comm comm)
{
    sg_type *sent = NULL, *got = NULL;
    bool is_root = at_root(comm, root),
         gives = out != MPI_IN_PLACE && root != MPI_ROOT && root != MPI_PROC_NULL;
    int error = gives ? sg_collective_type(comm, out, out_type, out_count, &sent) : MPI_SUCCESS;
    if (error == MPI_SUCCESS && is_root)
        error = sg_collective_type(comm, in, in_type, in_count, &got);
    int64_t bytes = sent != NULL ? out_count * sent->size : got != NULL ? in_count * got->size : 0;
    if (error == MPI_SUCCESS && gives && is_root)
        error = sg_collective_apart(sg_comm_of(comm), out, out_count, sent,
                                    sg_item(in, (int64_t)root * in_count, got), in_count, got);
    if (error == MPI_SUCCESS)
        error = begin_one_of(comm, root, out_count, sent, in_count, got, s);
    if (error != MPI_SUCCESS)
        return error;
    int size = sg_comm_peers((*s)->comm);
    if ((*s)->comm->remote != NULL) {
        for (int i = 0; is_root && i < size; i++)
            sg_add_receive(*s, sg_item(in, (int64_t)i * in_count, got), in_count, got, i);
        if (root >= 0)
            sg_add_send(*s, out, out_count, sent, root);
        return MPI_SUCCESS;
    }
    if (is_root && gives)
        sg_own_block(*s, bytes, in_count * got->size);
    const void *own = out == MPI_IN_PLACE
                          ? sg_packed(*s, sg_item(in, (int64_t)root * in_count, got), in_count, got)
                          : sg_packed(*s, out, out_count, sent);
    char *all = is_root ? sg_schedule_memory(*s, size * bytes) : NULL;
    sg_algorithm_gather(*s, own, all, bytes, root);
    if (is_root)
        sg_add_copy(*s, all, size * bytes, sg_bytes(), in, (int64_t)size * in_count, got);
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Gather, Igather, gather,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                      MPI_Datatype in_type, int root, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, in_count, in_type, root, comm))

static int scatter(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                   int in_count, MPI_Datatype in_type, int root, MPI_Comm comm)
{
    sg_type *sent = NULL, *got = NULL;
    bool is_root = at_root(comm, root),
         takes = in != MPI_IN_PLACE && root != MPI_ROOT && root != MPI_PROC_NULL;
    int error = takes ? sg_collective_type(comm, in, in_type, in_count, &got) : MPI_SUCCESS;
    if (error == MPI_SUCCESS && is_root)
        error = sg_collective_type(comm, out, out_type, out_count, &sent);
    int64_t bytes = got != NULL ? in_count * got->size : sent != NULL ? out_count * sent->size : 0;
    if (error == MPI_SUCCESS && takes && is_root)
        error = sg_collective_apart(sg_comm_of(comm), sg_item(out, (int64_t)root * out_count, sent),
                                    out_count, sent, in, in_count, got);
    if (error == MPI_SUCCESS)
        error = begin_one_of(comm, root, in_count, got, out_count, sent, s);
    if (error != MPI_SUCCESS)
        return error;
    int size = sg_comm_peers((*s)->comm);
    if ((*s)->comm->remote != NULL) {
        for (int i = 0; is_root && i < size; i++)
            sg_add_send(*s, sg_item(out, (int64_t)i * out_count, sent), out_count, sent, i);
        if (root >= 0)
            sg_add_receive(*s, in, in_count, got, root);
        return MPI_SUCCESS;
    }
    if (is_root && takes)
        sg_own_block(*s, out_count * sent->size, bytes);
    const char *all = is_root ? sg_packed(*s, out, (int64_t)size * out_count, sent) : NULL;
    char *own = sg_schedule_memory(*s, bytes);
    sg_algorithm_scatter(*s, all, own, bytes, root);
    if (takes)
        sg_add_copy(*s, own, bytes, sg_bytes(), in, in_count, got);
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Scatter, Iscatter, scatter,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                      MPI_Datatype in_type, int root, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, in_count, in_type, root, comm))

static int gatherv(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                   const int counts[], const int places[], MPI_Datatype in_type, int root, MPI_Comm comm)
{
    sg_type *sent = NULL, *got = NULL;
    bool is_root = at_root(comm, root),
         gives = out != MPI_IN_PLACE && root != MPI_ROOT && root != MPI_PROC_NULL;
    int error = gives ? sg_collective_type(comm, out, out_type, out_count, &sent) : MPI_SUCCESS;
    if (error == MPI_SUCCESS && is_root)
        error = sg_collective_types(comm, in, in_type, counts, places, &got);
    if (error == MPI_SUCCESS && gives && is_root)
        error = sg_blocks_apart(sg_comm_of(comm), out, out_count, sent, in, counts, places, got);
    if (error == MPI_SUCCESS)
        error = sg_collective_begin(comm, root, -1, s);
    if (error != MPI_SUCCESS)
        return error;
    bool inter = (*s)->comm->remote != NULL;
    for (int i = 0; is_root && i < sg_comm_peers((*s)->comm); i++)
        if (inter || i != (*s)->comm->rank)
            sg_add_receive(*s, sg_item(in, places[i], got), counts[i], got, i);
    if (gives && !(is_root && !inter))
        sg_add_send(*s, out, out_count, sent, root);
    if (gives && is_root && !inter) {
        sg_own_block(*s, out_count * sent->size, counts[root] * got->size);
        sg_add_copy(*s, out, out_count, sent, sg_item(in, places[root], got), counts[root], got);
    }
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Gatherv, Igatherv, gatherv,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, const int counts[],
                      const int places[], MPI_Datatype in_type, int root, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, counts, places, in_type, root, comm))

static int scatterv(sg_schedule **s, const void *out, const int counts[], const int places[],
                    MPI_Datatype out_type, void *in, int in_count, MPI_Datatype in_type, int root,
                    MPI_Comm comm)
{
    sg_type *sent = NULL, *got = NULL;
    bool is_root = at_root(comm, root),
         takes = in != MPI_IN_PLACE && root != MPI_ROOT && root != MPI_PROC_NULL;
    int error = takes ? sg_collective_type(comm, in, in_type, in_count, &got) : MPI_SUCCESS;
    if (error == MPI_SUCCESS && is_root)
        error = sg_collective_types(comm, out, out_type, counts, places, &sent);
    if (error == MPI_SUCCESS && takes && is_root)
        error = sg_blocks_apart(sg_comm_of(comm), in, in_count, got, out, counts, places, sent);
    if (error == MPI_SUCCESS)
        error = sg_collective_begin(comm, root, -1, s);
    if (error != MPI_SUCCESS)
        return error;
    bool inter = (*s)->comm->remote != NULL;
    for (int i = 0; is_root && i < sg_comm_peers((*s)->comm); i++)
        if (inter || i != (*s)->comm->rank)
            sg_add_send(*s, sg_item(out, places[i], sent), counts[i], sent, i);
    if (takes && !(is_root && !inter))
        sg_add_receive(*s, in, in_count, got, root);
    if (takes && is_root && !inter) {
        sg_own_block(*s, counts[root] * sent->size, in_count * got->size);
        sg_add_copy(*s, sg_item(out, places[root], sent), counts[root], sent, in, in_count, got);
    }
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Scatterv, Iscatterv, scatterv,
              SG_LIST(const void *out, const int counts[], const int places[], MPI_Datatype out_type,
                      void *in, int in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
              SG_LIST(out, counts, places, out_type, in, in_count, in_type, root, comm))

/* ---- allgather ---- */

static int all_apart(sg_comm *c, const void *out, int out_count, const sg_type *sent, const void *in,
                     int count, const int counts[], const int places[], const sg_type *got)
{
    if (counts != NULL)
        return sg_blocks_apart(c, out, out_count, sent, in, counts, places, got);
    return sg_collective_apart(c, out, out_count, sent, in, (int64_t)count * sg_comm_peers(c), got);
}

/* Number of items that must be equal on all ranks: `count` from each, or the sum of `counts`. */
static int64_t passed_by_all(const sg_comm *c, int count, const int counts[])
{
    int64_t sum = count;
    for (int i = 0; counts != NULL && i < sg_comm_peers(c); i++)
        sum += counts[i];
    return sum;
}

/* `counts` items from each rank; NULL: `count` from each, contiguous. */
static int all_of(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in, int count,
                  const int counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm)
{
    sg_type *sent = NULL, *got;
    int error = out != MPI_IN_PLACE ? sg_collective_type(comm, out, out_type, out_count, &sent) : MPI_SUCCESS;
    if (error == MPI_SUCCESS)
        error = counts == NULL ? sg_collective_type(comm, in, in_type, count, &got)
                               : sg_collective_types(comm, in, in_type, counts, places, &got);
    if (error == MPI_SUCCESS)
        error = all_apart(sg_comm_of(comm), out, out_count, sent, in, count, counts, places, got);
    if (error == MPI_SUCCESS)
        error = sg_collective_begin_list(comm, passed_by_all(sg_comm_of(comm), count, counts), counts, got,
                                         NULL, s);
    if (error != MPI_SUCCESS)
        return error;
    sg_comm *c = (*s)->comm;
    int size = sg_comm_peers(c), me = c->rank;
#define COUNT(i) (counts != NULL ? counts[i] : count)
#define PLACE(i) sg_item(in, places != NULL ? places[i] : (int64_t)(i) * count, got)
    if (c->remote != NULL) {
        for (int i = 0; i < size; i++) {
            sg_add_receive(*s, PLACE(i), COUNT(i), got, i);
            sg_add_send(*s, out, out_count, sent, i);
        }
        return MPI_SUCCESS;
    }
    int64_t *bytes = sg_schedule_memory(*s, (int64_t)sizeof *bytes * (size + 1)), total = 0, mine = 0;
    for (int i = 0; i < size; i++) {
        bytes[i] = COUNT(i) * got->size;
        mine = i == me ? total : mine;
        total += bytes[i];
    }
    if (out != MPI_IN_PLACE)
        sg_own_block(*s, out_count * sent->size, bytes[me]);
    bool direct = counts == NULL && sg_type_flat(got, (int64_t)size * count);
    char *all = direct ? (char *)in + got->true_lb : sg_schedule_memory(*s, total);
    if (out != MPI_IN_PLACE)
        sg_add_copy(*s, out, out_count, sent, all + mine, bytes[me], sg_bytes());
    else if (!direct)
        sg_add_copy(*s, PLACE(me), COUNT(me), got, all + mine, bytes[me], sg_bytes());
    sg_add_wait(*s);
    sg_algorithm_allgather(*s, all, bytes);
    int64_t at = 0;
    for (int i = 0; i < size && !direct; at += bytes[i++])
        sg_add_copy(*s, all + at, bytes[i], sg_bytes(), PLACE(i), COUNT(i), got);
#undef COUNT
#undef PLACE
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Allgather, Iallgather, all_of,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                      MPI_Datatype in_type, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, in_count, NULL, NULL, in_type, comm))
static int all_of_list(sg_schedule **s, const void *out, int out_count, MPI_Datatype out_type, void *in,
                       const int counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm)
{
    SG_NEEDS(counts, places)
    return all_of(s, out, out_count, out_type, in, 0, counts, places, in_type, comm);
}
SG_COLLECTIVE(Allgatherv, Iallgatherv, all_of_list,
              SG_LIST(const void *out, int out_count, MPI_Datatype out_type, void *in, const int counts[],
                      const int places[], MPI_Datatype in_type, MPI_Comm comm),
              SG_LIST(out, out_count, out_type, in, counts, places, in_type, comm))

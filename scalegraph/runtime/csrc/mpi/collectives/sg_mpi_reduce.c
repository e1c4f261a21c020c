/* Reductions and scans: blocking and nonblocking. */
#include "sg_mpi_calls.h"

/* First checks of every reduction: buffers, type and operation, then that the other ranks do the same.
 * `in_count`: items of the result; `count`: items of the data. */
static int begin(sg_schedule **s, const void *out, int64_t count, const void *in, int64_t in_count,
                 MPI_Datatype type, MPI_Op op, int root, const int counts[], MPI_Comm comm, sg_type **t)
{
    sg_mpi_op *operation;
    sg_comm *c = sg_comm_of(comm);
    int error = c == NULL ? sg_comm_missing(comm) : sg_type_argument(c, type, count, t);
    if (error == MPI_SUCCESS)
        error = sg_reduction_buffers(c, root, out, count, in, in_count, *t);
    if (error == MPI_SUCCESS)
        error = sg_op_argument(c, op, *t, &operation);
    if (error == MPI_SUCCESS)
        error = counts != NULL ? sg_collective_begin_list(comm, count, counts, *t, operation, s)
                               : sg_collective_begin_typed(comm, root, count, *t, operation, s);
    if (error != MPI_SUCCESS)
        return error;
    sg_op_take(operation);
    (*s)->op = operation;
    return MPI_SUCCESS;
}

/* A copy of the rank's contribution that may be overwritten. */
static void *contribution(sg_schedule *s, const void *own, int64_t count, sg_type *t)
{
    void *acc = sg_schedule_items(s, count, t);
    sg_add_copy(s, own, count, t, acc, count, t);
    sg_add_wait(s);
    return acc;
}

/* ---- reduce ---- */

static int reduce(sg_schedule **s, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm comm)
{
    sg_type *t;
    int error = begin(s, out, count, in, count, type, op, root, NULL, comm, &t);
    if (error != MPI_SUCCESS)
        return error;
    sg_comm *c = (*s)->comm;
    if (c->remote == NULL) {
        void *acc = contribution(*s, out == MPI_IN_PLACE ? in : out, count, t);
        void *result = sg_algorithm_reduce(*s, acc, count, t, root);
        if (c->rank == root)
            sg_add_copy(*s, result, count, t, in, count, t);
        return MPI_SUCCESS;
    }
    if (root == MPI_ROOT)
        sg_add_receive(*s, in, count, t, 0);
    if (root < 0)
        return MPI_SUCCESS;
    void *acc = contribution(*s, out, count, t);
    (*s)->view = c->local;
    void *result = sg_algorithm_reduce(*s, acc, count, t, 0);
    (*s)->view = c;
    if (c->rank == 0)
        sg_add_send(*s, result, count, t, root);
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Reduce, Ireduce, reduce,
              SG_LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm),
              SG_LIST(out, in, count, type, op, root, comm))

/* On an intercommunicator: the other side's reduction arrives in `in` at this side's first rank. */
static void exchange_reduced(sg_schedule *s, const void *out, void *in, int64_t count, sg_type *t)
{
    sg_comm *c = s->comm;
    void *acc = contribution(s, out, count, t);
    s->view = c->local;
    void *result = sg_algorithm_reduce(s, acc, count, t, 0);
    s->view = c;
    if (c->rank == 0) {
        sg_add_receive(s, in, count, t, 0);
        sg_add_send(s, result, count, t, 0);
    }
    sg_add_wait(s);
    s->view = c->local;
}

static int allreduce(sg_schedule **s, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm)
{
    sg_type *t;
    int error = begin(s, out, count, in, count, type, op, SG_NO_ROOT, NULL, comm, &t);
    if (error != MPI_SUCCESS)
        return error;
    if ((*s)->comm->remote != NULL) {
        exchange_reduced(*s, out, in, count, t);
        sg_algorithm_bcast(*s, in, count, t, 0);
        return MPI_SUCCESS;
    }
    if (out != MPI_IN_PLACE)
        sg_add_copy(*s, out, count, t, in, count, t);
    sg_add_wait(*s);
    sg_algorithm_allreduce(*s, in, count, t);
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Allreduce, Iallreduce, allreduce,
              SG_LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              SG_LIST(out, in, count, type, op, comm))

/* ---- reduce-scatter ---- */

/* `each`: the count of all ranks if `counts` is NULL. */
static int scattered(sg_schedule **s, const void *out, void *in, int each, const int counts[],
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int64_t total = 0;
    for (int i = 0; i < c->size; i++) {
        int n = counts != NULL ? counts[i] : each;
        if (n < 0)
            return sg_mpi_error(c, MPI_ERR_COUNT, "the count of rank %d is %d", i, n);
        total += n;
    }
    sg_type *t;
    int64_t mine = counts != NULL ? counts[c->rank] : each;
    int error = begin(s, out, total, in, mine, type, op, SG_NO_ROOT, counts, comm, &t);
    if (error != MPI_SUCCESS)
        return error;
    int64_t *all = sg_schedule_memory(*s, (int64_t)sizeof *all * (c->size + 1));
    for (int i = 0; i < c->size; i++)
        all[i] = counts != NULL ? counts[i] : each;
    if (c->remote == NULL) {
        void *acc = contribution(*s, out == MPI_IN_PLACE ? in : out, total, t);
        sg_algorithm_reduce_scatter(*s, acc, in, all, t);
        return MPI_SUCCESS;
    }
    char *other = sg_schedule_items(*s, total, t);
    exchange_reduced(*s, out, other, total, t);
    int64_t at = 0;
    for (int i = 0; i < c->size; at += all[i++]) {
        if (c->rank == 0 && i == 0)
            sg_add_copy(*s, other, all[0], t, in, all[0], t);
        else if (c->rank == 0)
            sg_add_send(*s, sg_item(other, at, t), all[i], t, i);
    }
    if (c->rank != 0)
        sg_add_receive(*s, in, all[c->rank], t, 0);
    return MPI_SUCCESS;
}
static int scattered_list(sg_schedule **s, const void *out, void *in, const int counts[], MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm)
{
    SG_NEEDS(counts)
    return scattered(s, out, in, 0, counts, type, op, comm);
}
SG_COLLECTIVE(Reduce_scatter, Ireduce_scatter, scattered_list,
              SG_LIST(const void *out, void *in, const int counts[], MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm),
              SG_LIST(out, in, counts, type, op, comm))
SG_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, scattered,
              SG_LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              SG_LIST(out, in, count, NULL, type, op, comm))

/* ---- scans ---- */

/* Recursive doubling: `part` is the reduction over the ranks heard from so far, `before` over the lower ones
 * among them. */
static int scan(sg_schedule **s, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, bool own,
                MPI_Comm comm)
{
    sg_type *t;
    sg_comm *c = sg_comm_of(comm);
    if (c != NULL && c->remote != NULL)
        return sg_mpi_error(c, MPI_ERR_COMM, "a scan needs an intracommunicator");
    bool gets =
        own || out == MPI_IN_PLACE || c == NULL || c->rank > 0; /* the first rank has none before it */
    int error = begin(s, out, count, in, gets ? count : 0, type, op, SG_NO_ROOT, NULL, comm, &t);
    if (error != MPI_SUCCESS)
        return error;
    const void *mine = out == MPI_IN_PLACE ? in : out;
    if (c->size > 1 && count > 0 && sg_by_hardware(*s, SG_SCAN, count, t)) {
        bool takes = own || c->rank > 0;
        sg_add_hardware(*s, own ? SG_SCAN : SG_EXSCAN, mine, takes ? in : NULL, count, t);
        return MPI_SUCCESS;
    }
    if (c->size > 1)
        sg_choose(*s, SG_SCAN, count * t->size, true);
    char *part = contribution(*s, mine, count, t), *before = own ? contribution(*s, mine, count, t) : NULL;
    for (int bit = 1; bit < c->size; bit *= 2) {
        int other = c->rank ^ bit;
        if (other >= c->size)
            continue;
        char *got = sg_schedule_items(*s, count, t);
        sg_add_receive(*s, got, count, t, other);
        sg_add_send(*s, part, count, t, other);
        sg_add_wait(*s);
        if (other > c->rank) { /* part op received, in order of ranks */
            sg_add_combine(*s, part, got, count, t);
            sg_add_wait(*s);
            part = got;
            continue;
        }
        if (before != NULL) {
            sg_add_combine(*s, got, before, count, t);
        } else {
            before = sg_schedule_items(*s, count, t);
            sg_add_copy(*s, got, count, t, before, count, t);
        }
        sg_add_combine(*s, got, part, count, t);
        sg_add_wait(*s);
    }
    if (before != NULL)
        sg_add_copy(*s, before, count, t, in, count, t);
    return MPI_SUCCESS;
}
SG_COLLECTIVE(Scan, Iscan, scan,
              SG_LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              SG_LIST(out, in, count, type, op, true, comm))
SG_COLLECTIVE(Exscan, Iexscan, scan,
              SG_LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              SG_LIST(out, in, count, type, op, false, comm))

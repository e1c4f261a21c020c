/* Functions that access the memory of other ranks. */
#include "sg_mpi_watch.h"
#include "sg_mpi_window.h"

/* One side of an access, as the program describes it. */
typedef struct end {
    const void *buffer;
    int count;
    MPI_Datatype type;
} end;

typedef struct call {
    enum sg_access_kind kind;
    end data;   /* goes to the target */
    end result; /* comes from the target */
    int target;
    MPI_Aint displacement;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    const void *compare;
} call;

/* ---- checks ---- */

/* Does an epoch allow the rank to access the target? Takes the lock that MPI_Win_lock_all has deferred. */
static bool may_access(sg_window *w, int rank, sg_target *t)
{
    if (t->lock != 0 || t->started)
        return true;
    if (w->all_locked) {
        sg_lock_lazily(w, rank, t);
        return true;
    }
    return w->fenced;
}

/* Gets the type of one side, or, if this rank has no buffer there, the type and count of the target. */
static int take_type(sg_window *w, const end *e, const call *target, sg_type **type)
{
    MPI_Errhandler before = w->comm->handler;
    w->comm->handler = w->handler == MPI_ERRORS_ARE_FATAL ? w->handler : MPI_ERRORS_RETURN;
    int error = e != NULL ? sg_buffer_argument(w->comm, e->buffer, e->type, e->count, type)
                          : sg_type_argument(w->comm, target->type, target->count, type);
    w->comm->handler = before;
    if (error != MPI_SUCCESS && w->handler != MPI_ERRORS_RETURN)
        return sg_mpi_raise_of(w->handle, w->handler, error, "wrong buffer, count or datatype");
    return error;
}

/* Integers, logicals and bytes, as the standard requires for MPI_Compare_and_swap. */
static bool can_be_swapped(const sg_type *t)
{
    return t->basic && ((t->class >= SG_CLASS_BYTE && t->class <= SG_CLASS_U64) ||
                        (t->class >= SG_CLASS_BOOL && t->class <= SG_CLASS_LOGICAL64));
}

static int check_operation(sg_window *w, const call *c, const sg_type *type)
{
    const sg_mpi_op *op = sg_op_of(c->op);
    if (c->kind == SG_COMPARE_AND_SWAP && !can_be_swapped(type))
        return sg_window_error(w, MPI_ERR_TYPE,
                               "only whole numbers, logical values and bytes can be swapped");
    if (c->kind != SG_ACCUMULATE && c->kind != SG_GET_ACCUMULATE)
        return MPI_SUCCESS;
    if (op == NULL || op->name == NULL)
        return sg_window_error(w, MPI_ERR_OP, "the operation is not one of MPI's own");
    if (!sg_accumulates(op->handle, type))
        return sg_window_error(w, MPI_ERR_OP, "%s does not work on the datatype of the target", op->name);
    return MPI_SUCCESS;
}

static int check_target(sg_window *w, const call *c, sg_type **type, char **at)
{
    if (c->target < 0 || c->target >= w->comm->size)
        return sg_window_error(w, MPI_ERR_RANK, "rank %d is not one of the %d ranks of the window", c->target,
                               w->comm->size);
    int error = take_type(w, NULL, c, type);
    if (error != MPI_SUCCESS)
        return error;
    if (!may_access(w, c->target, sg_window_target(w, c->target)))
        return sg_window_error(
            w, MPI_ERR_RMA_SYNC,
            "rank %d is accessed outside an epoch: no MPI_Win_fence, MPI_Win_start or MPI_Win_lock "
            "has begun one for it",
            c->target);
    const sg_exposure *e = &w->all->of[c->target];
    bool dynamic = w->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (c->displacement < 0 && !dynamic)
        return sg_window_error(w, MPI_ERR_DISP, "the displacement is %lld", (long long)c->displacement);
    *at = dynamic ? (char *)c->displacement : e->base + c->displacement * e->unit;
    if (sg_exposes(e, dynamic, *at, c->count, *type))
        return MPI_SUCCESS;
    if (dynamic)
        return sg_window_error(w, MPI_ERR_RMA_RANGE, "rank %d has not attached all of the memory at %p",
                               c->target, (void *)*at);
    return sg_window_error(
        w, MPI_ERR_RMA_RANGE,
        "%d items of the datatype from displacement %lld on are not within the %lld bytes of the "
        "window of rank %d",
        c->count, (long long)c->displacement, (long long)e->size, c->target);
}

/* ---- the access ---- */

/* Packs the program's data. */
static void take_data(sg_remote *a, const call *c, const sg_type *type)
{
    size_t each = (size_t)type->size, items = (size_t)c->data.count * each;
    bool swaps = c->kind == SG_COMPARE_AND_SWAP;
    a->bytes = swaps ? 2 * items : items;
    a->data = sg_mpi_new(a->bytes);
    sg_type_pack(c->data.buffer, c->data.count, type, a->data);
    if (swaps)
        sg_type_pack(c->compare, 1, type, a->data + items);
}

static sg_remote *new_access(sg_window *w, const call *c, sg_type *data, sg_type *result, sg_type *type,
                             char *at)
{
    sg_remote *a = sg_mpi_new(sizeof *a);
    a->references = 1;
    a->kind = c->kind;
    a->target = c->target;
    a->from = sg_rank_self();
    a->to = sg->all_ranks[w->comm->world[c->target]];
    a->talk = (sg_talk){w->comm->context, (int32_t)a->to->number};
    a->at = at;
    a->count = c->count;
    a->type = sg_type_take(type);
    a->op = (uintptr_t)c->op;
    if (data != NULL)
        take_data(a, c, data);
    if (result != NULL) {
        a->answer_bytes = (size_t)(c->count * type->size);
        a->answer = sg_mpi_new(a->answer_bytes);
        a->result = (void *)(uintptr_t)c->result.buffer;
        a->result_count = c->result.count;
        a->result_type = sg_type_take(result);
    }
    return a;
}

/* Watches what the program must not touch until the access is complete. */
static void watch(const sg_window *w, const call *c, const sg_remote *a, const sg_type *data)
{
    const char *ends = w->fenced            ? "MPI_Win_fence"
                       : w->started != NULL ? "MPI_Win_complete"
                                            : "MPI_Win_unlock or MPI_Win_flush";
    if (a->result_type != NULL)
        sg_watch_begin(a, a->result, a->result_count, a->result_type, true, true, ends);
    if (data != NULL)
        sg_watch_begin(a, c->data.buffer, c->data.count, data, false, true, ends);
}

static void issue(sg_window *w, sg_remote *a)
{
    w->used = true;
    sg_conflict_check(w, a, sg_window_target(w, a->target));
    sg_access_begin(a, sg_window_target(w, a->target));
    if (w->last != NULL)
        w->last->next = a;
    else
        w->first = a;
    w->last = a;
}

static int check_room(sg_window *w, const call *c, const sg_type *data, const sg_type *result,
                      const sg_type *type)
{
    int64_t bytes = c->count * type->size;
    if (data != NULL && c->data.count * data->size != bytes)
        return sg_window_error(w, MPI_ERR_TRUNCATE,
                               "%lld bytes are sent, but the datatype of the target has %lld",
                               (long long)(c->data.count * data->size), (long long)bytes);
    if (result != NULL && c->result.count * result->size < bytes)
        return sg_window_error(w, MPI_ERR_TRUNCATE, "%lld bytes do not fit into the %lld of the result",
                               (long long)bytes, (long long)(c->result.count * result->size));
    return MPI_SUCCESS;
}

/* `made`: gets the access for a request; NULL: no request. */
static int access_target(const call *c, MPI_Win win, sg_remote **made)
{
    SG_WINDOW(w, win)
    sg_type *data = NULL, *result = NULL, *type = NULL;
    bool reads = c->kind == SG_GET || c->kind == SG_GET_ACCUMULATE || c->kind == SG_COMPARE_AND_SWAP;
    bool writes = c->kind != SG_GET && !(c->kind == SG_GET_ACCUMULATE && c->op == MPI_NO_OP);
    char *at = NULL;
    int error = MPI_SUCCESS;
    if (writes)
        error = take_type(w, c->target == MPI_PROC_NULL ? NULL : &c->data, c, &data);
    if (error == MPI_SUCCESS && reads)
        error = take_type(w, c->target == MPI_PROC_NULL ? NULL : &c->result, c, &result);
    if (error != MPI_SUCCESS || c->target == MPI_PROC_NULL)
        return error;
    error = check_target(w, c, &type, &at);
    if (error == MPI_SUCCESS)
        error = check_operation(w, c, type);
    if (error == MPI_SUCCESS)
        error = check_room(w, c, data, result, type);
    if (error != MPI_SUCCESS)
        return error;
    sg_remote *a = new_access(w, c, data, result, type, at);
    a->references += made != NULL;
    watch(w, c, a, data);
    issue(w, a);
    if (made != NULL)
        *made = a;
    return MPI_SUCCESS;
}

static int request_access(const call *c, MPI_Win win, MPI_Request *request)
{
    sg_remote *a = NULL;
    int error = access_target(c, win, &a);
    if (error != MPI_SUCCESS)
        return error;
    sg_request *r = sg_request_new(SG_REQUEST_ACCESS, NULL, NULL);
    r->access = a;
    r->complete = a == NULL;
    r->partner = c->target;
    r->active = true;
    *request = sg_request_handle(r);
    return MPI_SUCCESS;
}

/* ---- functions, each with and without a request ---- */

#define LIST(...) __VA_ARGS__
#define ACCESS(name, begins, parameters, ...)                                                                \
    SG_API int PMPI_##name(parameters, MPI_Win win)                                                          \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        return access_target(&(call){__VA_ARGS__}, win, NULL);                                               \
    }                                                                                                        \
    SG_API int PMPI_##begins(parameters, MPI_Win win, MPI_Request *request)                                  \
    {                                                                                                        \
        SG_ENTER(#begins);                                                                                   \
        SG_NEEDS(request)                                                                                    \
        return request_access(&(call){__VA_ARGS__}, win, request);                                           \
    }                                                                                                        \
    SG_MPI_NAME(name)                                                                                        \
    SG_MPI_NAME(begins)

ACCESS(Put, Rput,
       LIST(const void *from, int from_count, MPI_Datatype from_type, int target, MPI_Aint displacement,
            int count, MPI_Datatype type),
       .kind = SG_PUT, .data = {from, from_count, from_type}, .target = target, .displacement = displacement,
       .count = count, .type = type)
ACCESS(Get, Rget,
       LIST(void *to, int to_count, MPI_Datatype to_type, int target, MPI_Aint displacement, int count,
            MPI_Datatype type),
       .kind = SG_GET, .result = {to, to_count, to_type}, .target = target, .displacement = displacement,
       .count = count, .type = type)
ACCESS(Accumulate, Raccumulate,
       LIST(const void *from, int from_count, MPI_Datatype from_type, int target, MPI_Aint displacement,
            int count, MPI_Datatype type, MPI_Op op),
       .kind = SG_ACCUMULATE, .data = {from, from_count, from_type}, .target = target,
       .displacement = displacement, .count = count, .type = type, .op = op)
ACCESS(Get_accumulate, Rget_accumulate,
       LIST(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
            MPI_Datatype to_type, int target, MPI_Aint displacement, int count, MPI_Datatype type, MPI_Op op),
       .kind = SG_GET_ACCUMULATE, .data = {from, from_count, from_type}, .result = {to, to_count, to_type},
       .target = target, .displacement = displacement, .count = count, .type = type, .op = op)

SG_API int PMPI_Fetch_and_op(const void *from, void *to, MPI_Datatype type, int target, MPI_Aint displacement,
                             MPI_Op op, MPI_Win win)
{
    SG_ENTER("Fetch_and_op");
    call c = {.kind = SG_GET_ACCUMULATE, .data = {from, 1, type}, .result = {to, 1, type}, .target = target};
    c.displacement = displacement;
    c.count = 1;
    c.type = type;
    c.op = op;
    return access_target(&c, win, NULL);
}

SG_API int PMPI_Compare_and_swap(const void *from, const void *compare, void *to, MPI_Datatype type,
                                 int target, MPI_Aint displacement, MPI_Win win)
{
    SG_ENTER("Compare_and_swap");
    call c = {
        .kind = SG_COMPARE_AND_SWAP, .data = {from, 1, type}, .result = {to, 1, type}, .target = target};
    c.displacement = displacement;
    c.count = 1;
    c.type = type;
    c.compare = compare;
    if (compare == NULL && target != MPI_PROC_NULL) {
        SG_WINDOW(w, win)
        return sg_window_error(w, MPI_ERR_BUFFER, "the buffer of what is compared is NULL");
    }
    return access_target(&c, win, NULL);
}

SG_MPI_NAME(Fetch_and_op)
SG_MPI_NAME(Compare_and_swap)

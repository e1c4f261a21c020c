/* Creating communicators from communicators: their processes exchange messages to agree on the members and on
 * the context. Each process proposes a context; the proposal of the new communicator's first process is
 * used. */
#include <stdlib.h>

#include "sg_mpi_comm_create.h"
#include "sg_mpi_request.h"
#include "sg_mpi_topology.h"

typedef struct member {
    int color, key, rank;
    uint32_t context, world;
} member;

int sg_comm_share(sg_comm *c, void *data, int64_t bytes, int root)
{
    sg_schedule *s = sg_schedule_new(c);
    sg_algorithm_bcast(s, data, bytes, sg_bytes(), root);
    return sg_schedule_run(s);
}

int sg_comm_collect(sg_comm *c, const void *own, int64_t bytes, void *all)
{
    sg_schedule *s = sg_schedule_new(c);
    int64_t *sizes = sg_schedule_memory(s, (int64_t)sizeof *sizes * (c->size + 1));
    for (int i = 0; i < c->size; i++)
        sizes[i] = bytes;
    memcpy((char *)all + c->rank * bytes, own, (size_t)bytes);
    sg_algorithm_allgather(s, all, sizes);
    return sg_schedule_run(s);
}

static int by_key(const void *a, const void *b)
{
    const member *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return one->rank - other->rank;
}

int sg_comm_split(sg_comm *c, int color, int key, sg_comm **result)
{
    member own = {color, key, c->rank, sg_comm_context(), sg_mpi_number()};
    member *all = sg_mpi_new((size_t)c->size * sizeof *all);
    int error = sg_comm_collect(c, &own, sizeof own, all);
    *result = NULL;
    uint32_t count = 0;
    for (int i = 0; i < c->size; i++)
        if (all[i].color == color)
            all[count++] = all[i];
    if (error == MPI_SUCCESS && color != MPI_UNDEFINED) {
        qsort(all, count, sizeof *all, by_key);
        sg_members *members = sg_members_new(count);
        for (uint32_t i = 0; i < count; i++)
            members->world[i] = all[i].world;
        *result = sg_comm_new(all[0].context, members, NULL);
        sg_handler_take(c->handler);
        (*result)->handler = c->handler;
    }
    sg_mpi_free(all);
    return error;
}

#define COMM(c, handle)                                                                                      \
    sg_comm *c = sg_comm_of(handle);                                                                         \
    if (c == NULL)                                                                                           \
        return sg_comm_missing(handle);

static int checked(MPI_Comm handle, sg_comm **c)
{
    *c = sg_comm_of(handle);
    return *c == NULL ? sg_comm_missing(handle) : sg_collective_check(*c, -1, -1);
}

static MPI_Comm named(const sg_comm *c)
{
    return c != NULL ? sg_comm_handle(c) : MPI_COMM_NULL;
}

/* ---- splits ---- */

static int split(MPI_Comm comm, int color, int key, MPI_Comm *result)
{
    sg_comm *c, *made = NULL;
    int error = checked(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    if (color < 0 && color != MPI_UNDEFINED)
        return sg_mpi_error(c, MPI_ERR_ARG, "the colour is %d", color);
    error = sg_comm_split(c->remote != NULL ? c->local : c, color, key, &made);
    if (c->remote != NULL && error == MPI_SUCCESS)
        error = sg_inter_split(c, color, &made);
    *result = named(made);
    return error;
}

SG_API int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *result)
{
    SG_ENTER("Comm_split");
    SG_NEEDS(result)
    return split(comm, color, key, result);
}

SG_API int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *result)
{
    SG_ENTER("Comm_split_type");
    SG_NEEDS(result)
    SG_INFO(info)
    if (sg_comm_of(comm) == NULL)
        return sg_comm_missing(comm);
    if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED)
        return sg_mpi_error(sg_comm_of(comm), MPI_ERR_ARG, "the type of the split is %d", type);
    return split(comm, type == MPI_UNDEFINED ? type : sg_mpi_node(), key, result);
}

SG_API int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *result)
{
    SG_ENTER("Comm_create");
    SG_NEEDS(result)
    sg_comm *c, *made = NULL;
    int error = checked(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    const sg_mpi_group *g = sg_group_of(group);
    if (g == NULL)
        return sg_group_missing(group);
    for (uint32_t i = 0; i < g->members->size; i++)
        if (sg_members_find(c->members, g->members->world[i]) == MPI_UNDEFINED)
            return sg_mpi_error(c, MPI_ERR_GROUP, "rank %u of the group does not belong to the communicator",
                                i);
    /* disjoint parts may pass different groups: those with the same first member belong together */
    int color = g->rank != MPI_UNDEFINED ? (int)g->members->world[0] : MPI_UNDEFINED;
    error = sg_comm_split(c->remote != NULL ? c->local : c, color, g->rank, &made);
    if (c->remote != NULL && error == MPI_SUCCESS)
        error = sg_inter_split(c, color != MPI_UNDEFINED ? 0 : color, &made);
    *result = named(made);
    return error;
}

/* Called only by the members: the first one sends the context to the others. */
SG_API int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *result)
{
    SG_ENTER("Comm_create_group");
    SG_NEEDS(result)
    COMM(c, comm)
    const sg_mpi_group *g = sg_group_of(group);
    if (g == NULL)
        return sg_group_missing(group);
    if (tag < 0)
        return sg_mpi_error(c, MPI_ERR_TAG, "tag %d is negative", tag);
    *result = MPI_COMM_NULL;
    if (g->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    sg_comm *made = sg_comm_new(0, sg_members_take(g->members), NULL);
    uint32_t context = sg_comm_context(), own = c->context + 1;
    int size = made->size, me = made->rank, bit = 1;
    enum { APART = 0x40000000 }; /* tags not used by collective operations */
    for (; bit < size && !(me & bit); bit *= 2)
        ;
    if (me != 0) {
        int from = sg_members_find(c->members, made->world[me - bit]);
        sg_receive *r = sg_message_receive(own, from, (int32_t)made->world[me - bit], tag | APART);
        sg_wait_receive(r);
        sg_receive_finish(r);
        memcpy(&context, r->data, sizeof context);
        sg_receive_free(r);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < size) {
            sg_send *s = sg_message_send(made->world[me + bit], own, c->rank, tag | APART, &context,
                                         sizeof context, SG_SEND_STANDARD);
            sg_wait_send(s);
            sg_send_free(s);
        }
    made->context = context;
    sg_handler_take(c->handler);
    made->handler = c->handler;
    *result = sg_comm_handle(made);
    return MPI_SUCCESS;
}

/* ---- duplicates ---- */

/* A communicator like `c`, except for its context. */
static sg_comm *alike(sg_comm *c, uint32_t context)
{
    sg_comm *made = sg_comm_new(context, sg_members_take(c->members),
                                c->remote != NULL ? sg_members_take(c->remote) : NULL);
    if (c->local != NULL)
        made->local = sg_comm_new(context + 2, sg_members_take(c->members), NULL);
    made->low = c->low;
    sg_handler_take(c->handler);
    made->handler = c->handler;
    made->topology = sg_topology_copy(c->topology);
    return made;
}

/* All agree on the context of rank 0, in the first group of an intercommunicator. */
static int agree(sg_comm *c, uint32_t *context)
{
    *context = sg_comm_context();
    sg_comm_context(); /* the next two contexts are the local group's */
    sg_comm *inside = c->remote != NULL ? c->local : c;
    if (c->remote != NULL && c->rank == 0) {
        uint32_t other;
        sg_schedule *s = sg_schedule_new(c);
        sg_add_receive(s, &other, sizeof other, sg_bytes(), 0);
        sg_add_send(s, context, sizeof *context, sg_bytes(), 0);
        int error = sg_schedule_run(s);
        if (error != MPI_SUCCESS)
            return error;
        *context = c->low ? *context : other;
    } else if (c->remote != NULL) {
        c->collectives++;
    }
    return sg_comm_share(inside, context, sizeof *context, 0);
}

static int duplicate(MPI_Comm comm, MPI_Info info, bool with_info, MPI_Comm *result)
{
    sg_comm *c;
    uint32_t context;
    sg_attribute *attributes = NULL;
    *result = MPI_COMM_NULL;
    int error = checked(comm, &c);
    if (error == MPI_SUCCESS)
        error = agree(c, &context);
    if (error == MPI_SUCCESS)
        error = sg_attributes_copy(SG_KIND_COMM, c->handle, c->attributes, &attributes);
    if (error != MPI_SUCCESS)
        return error;
    sg_comm *made = alike(c, context);
    made->attributes = attributes;
    MPI_Info from = with_info ? info : c->info;
    made->info = from != MPI_INFO_NULL ? sg_info_copy(from) : MPI_INFO_NULL;
    *result = sg_comm_handle(made);
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *result)
{
    SG_ENTER("Comm_dup");
    SG_NEEDS(result)
    return duplicate(comm, MPI_INFO_NULL, false, result);
}

SG_API int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *result)
{
    SG_ENTER("Comm_dup_with_info");
    SG_NEEDS(result)
    SG_INFO(info)
    return duplicate(comm, info, true, result);
}

/* A communicator that already has its handle, and gets its context when that is known. */
typedef struct promise {
    sg_comm *made;
    uint32_t context;
} promise;

static void keep(void *context)
{
    promise *p = context;
    p->made->context = p->context;
    if (p->made->local != NULL)
        p->made->local->context = p->context + 2;
}

SG_API int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *result, MPI_Request *request)
{
    SG_ENTER("Comm_idup");
    SG_NEEDS(result, request)
    sg_comm *c;
    int error = checked(comm, &c);
    if (error != MPI_SUCCESS)
        return error;
    sg_attribute *attributes = NULL;
    error = sg_attributes_copy(SG_KIND_COMM, c->handle, c->attributes, &attributes);
    if (error != MPI_SUCCESS)
        return error;
    sg_schedule *s = sg_schedule_new(c);
    promise *p = sg_schedule_memory(s, sizeof *p);
    p->made = alike(c, 0);
    p->made->attributes = attributes;
    p->context = sg_comm_context();
    sg_comm_context();
    if (c->remote != NULL && c->rank == 0) {
        if (c->low)
            sg_add_send(s, &p->context, sizeof p->context, sg_bytes(), 0);
        else
            sg_add_receive(s, &p->context, sizeof p->context, sg_bytes(), 0);
        sg_add_wait(s);
    }
    s->view = c->remote != NULL ? c->local : c;
    sg_algorithm_bcast(s, &p->context, sizeof p->context, sg_bytes(), 0);
    sg_add_call(s, keep, p);
    *result = sg_comm_handle(p->made);
    *request = sg_request_of_schedule(s);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Comm_split)
SG_MPI_NAME(Comm_split_type)
SG_MPI_NAME(Comm_create)
SG_MPI_NAME(Comm_create_group)
SG_MPI_NAME(Comm_dup)
SG_MPI_NAME(Comm_dup_with_info)
SG_MPI_NAME(Comm_idup)

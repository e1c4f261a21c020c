/* Intercommunicators: two groups whose processes send to the other group. */
#include "sg_mpi_comm_create.h"
#include "sg_mpi_request.h"

/* What the leaders of both groups send each other before the members of their groups. */
typedef struct hello {
    uint32_t context, size;
    int32_t low;
} hello;

/* The leaders exchange data and each sends what it received to its group. Returns it in allocated memory. */
static void *exchange(sg_comm *local, int leader, sg_comm *peers, int other, int tag, const void *data,
                      int64_t bytes, int64_t *got_bytes)
{
    void *got = NULL;
    if (local->rank == leader) {
        sg_receive *r = sg_message_receive(peers->context, other, (int32_t)sg_comm_peer(peers, other), tag);
        sg_send *s = sg_message_send(sg_comm_peer(peers, other), peers->context, peers->rank, tag, data,
                                     (size_t)bytes, SG_SEND_STANDARD);
        sg_wait_receive(r);
        sg_receive_finish(r);
        *got_bytes = (int64_t)r->bytes;
        got = sg_mpi_copy(r->data, r->bytes);
        sg_receive_free(r);
        sg_wait_send(s);
        sg_send_free(s);
    }
    sg_comm_share(local, got_bytes, sizeof *got_bytes, leader);
    if (got == NULL)
        got = sg_mpi_new((size_t)*got_bytes);
    sg_comm_share(local, got, *got_bytes, leader);
    return got;
}

/* Creates the intercommunicator with the other group as the leaders report it. */
static sg_comm *joined(sg_comm *local, int leader, sg_comm *peers, int other, int tag)
{
    uint32_t size = local->members->size;
    int64_t bytes = (int64_t)(sizeof(hello) + size * sizeof(uint32_t)), got_bytes = 0;
    hello *mine = sg_mpi_new((size_t)bytes);
    uint32_t context = sg_comm_context();
    sg_comm_context(); /* two more, for the local group of each side */
    sg_comm_context();
    *mine = (hello){context, size, 0};
    memcpy(mine + 1, local->world, size * sizeof(uint32_t));
    hello *theirs = exchange(local, leader, peers, other, tag, mine, bytes, &got_bytes);
    sg_members *remote = sg_members_new(theirs->size);
    memcpy(remote->world, theirs + 1, theirs->size * sizeof(uint32_t));
    /* the group with the lower first process decides; all of it must know its leader's context */
    bool low = local->world[0] < remote->world[0];
    sg_comm_share(local, &context, sizeof context, leader);
    uint32_t agreed = low ? context : theirs->context;
    sg_comm *made = sg_comm_new(agreed, sg_members_take(local->members), remote);
    made->local = sg_comm_new(agreed + (low ? 2 : 4), sg_members_take(local->members), NULL);
    made->low = low;
    sg_handler_take(local->handler);
    made->handler = local->handler;
    sg_mpi_free(mine);
    sg_mpi_free(theirs);
    return made;
}

SG_API int PMPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm peer_comm, int other, int tag,
                                 MPI_Comm *result)
{
    SG_ENTER("Intercomm_create");
    SG_NEEDS(result)
    sg_comm *local = sg_comm_of(comm);
    if (local == NULL)
        return sg_comm_missing(comm);
    if (local->remote != NULL)
        return sg_mpi_error(local, MPI_ERR_COMM, "the local communicator is an intercommunicator");
    if (leader < 0 || leader >= local->size)
        return sg_mpi_error(local, MPI_ERR_RANK, "the local leader %d is not one of the %d ranks", leader,
                            local->size);
    if (tag < 0)
        return sg_mpi_error(local, MPI_ERR_TAG, "tag %d is negative", tag);
    sg_comm *peers = sg_comm_of(peer_comm);
    if (local->rank == leader && peers == NULL)
        return sg_comm_missing(peer_comm);
    if (local->rank == leader && (other < 0 || other >= sg_comm_peers(peers)))
        return sg_mpi_error(peers, MPI_ERR_RANK, "the remote leader %d is not one of the %d ranks", other,
                            sg_comm_peers(peers));
    *result = sg_comm_handle(joined(local, leader, peers, other, tag));
    return MPI_SUCCESS;
}

/* `made`: this side's part; becomes the intercommunicator with the other side's part of the same colour. All
 * of `c` take part. */
int sg_inter_split(sg_comm *c, int color, sg_comm **made)
{
    typedef struct side {
        int32_t color;
        uint32_t context, world, place;
    } side;
    sg_comm *part = *made, *local = c->local;
    int64_t bytes = (int64_t)sizeof(side) * local->size, got_bytes = 0;
    side own = {color, sg_comm_context(), sg_mpi_number(), part != NULL ? (uint32_t)part->rank : 0};
    sg_comm_context();
    sg_comm_context();
    side *all = sg_mpi_new((size_t)bytes);
    sg_comm_collect(local, &own, sizeof own, all);
    side *others = exchange(local, 0, c, 0, 0x7fffffff, all, bytes, &got_bytes);
    int64_t count = got_bytes / (int64_t)sizeof *others, found = 0;
    for (int64_t i = 0; i < count; i++)
        found += others[i].color == color;
    *made = NULL;
    if (part != NULL && found > 0) {
        sg_members *remote = sg_members_new((uint32_t)found);
        uint32_t context = 0;
        for (int64_t i = 0; i < count; i++)
            if (others[i].color == color) {
                remote->world[others[i].place] = others[i].world;
                context = others[i].place == 0 && !c->low ? others[i].context : context;
            }
        for (int i = 0; i < local->size && c->low; i++)
            if (all[i].color == color && all[i].place == 0)
                context = all[i].context;
        *made = sg_comm_new(context, sg_members_take(part->members), remote);
        (*made)->local = sg_comm_new(context + (c->low ? 2 : 4), sg_members_take(part->members), NULL);
        (*made)->low = c->low;
        sg_handler_take(c->handler);
        (*made)->handler = c->handler;
    }
    if (part != NULL) {
        sg_handle_free(part->handle);
        sg_comm_drop(part);
    }
    sg_mpi_free(all);
    sg_mpi_free(others);
    return MPI_SUCCESS;
}

SG_API int PMPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *result)
{
    SG_ENTER("Intercomm_merge");
    SG_NEEDS(result)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    if (c->remote == NULL)
        return sg_mpi_error(c, MPI_ERR_COMM, "the communicator is not an intercommunicator");
    struct {
        uint32_t context;
        int32_t high;
    } mine = {sg_comm_context(), high != 0}, *theirs;
    int64_t bytes = 0;
    sg_comm_share(c->local, &mine, sizeof mine, 0);
    theirs = exchange(c->local, 0, c, 0, 0x7ffffffe, &mine, sizeof mine, &bytes);
    bool first = mine.high != theirs->high ? !mine.high : c->low;
    uint32_t context = c->low ? mine.context : theirs->context;
    const sg_members *front = first ? c->members : c->remote, *back = first ? c->remote : c->members;
    sg_members *members = sg_members_new(front->size + back->size);
    memcpy(members->world, front->world, front->size * sizeof members->world[0]);
    memcpy(members->world + front->size, back->world, back->size * sizeof members->world[0]);
    sg_comm *made = sg_comm_new(context, members, NULL);
    sg_handler_take(c->handler);
    made->handler = c->handler;
    sg_mpi_free(theirs);
    *result = sg_comm_handle(made);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Intercomm_create)
SG_MPI_NAME(Intercomm_merge)

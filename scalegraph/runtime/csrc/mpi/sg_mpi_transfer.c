/* Common to all sends and receives. */
#include <stdio.h>

#include "sg_alloc.h"
#include "sg_mpi_request.h"
#include "sg_mpi_signature.h"

int sg_check_transfer(MPI_Comm comm, const void *buffer, int64_t count, MPI_Datatype type, int partner,
                      int tag, bool receives, sg_comm **c, sg_type **t)
{
    *c = sg_comm_of(comm);
    if (*c == NULL)
        return sg_comm_missing(comm);
    if (partner == MPI_PROC_NULL && type == MPI_DATATYPE_NULL && count == 0)
        type = MPI_BYTE; /* nothing is sent or received */
    int ranks = sg_comm_peers(*c), error = sg_type_argument(*c, type, count, t);
    if (error != MPI_SUCCESS)
        return error;
    bool any = partner == MPI_PROC_NULL || (receives && partner == MPI_ANY_SOURCE);
    if (!any && (partner < 0 || partner >= ranks))
        return sg_mpi_error(*c, MPI_ERR_RANK, "rank %d is not one of the %d ranks of the communicator",
                            partner, ranks);
    if (tag < 0 && !(receives && tag == MPI_ANY_TAG))
        return sg_mpi_error(*c, MPI_ERR_TAG, "tag %d is negative", tag);
    if (partner == MPI_PROC_NULL || count * (*t)->size == 0)
        return MPI_SUCCESS;
    return sg_buffer_given(*c, buffer, *t);
}

sg_send *sg_begin_send(sg_comm *c, const void *buffer, int64_t count, sg_type *type, int to, int tag,
                       enum sg_send_mode mode)
{
    size_t bytes = (size_t)(count * type->size);
    uint32_t peer = sg_comm_peer(c, to);
    sg_signature signature = sg_signature_of(type, count);
    if (sg_type_flat(type, count))
        return sg_message_send_typed(peer, c->context, c->rank, tag, (const char *)buffer + type->true_lb,
                                     bytes, mode, &signature);
    char *packed = sg_mpi_new(bytes);
    sg_message_talk(c->context, (int32_t)peer);
    sg_type_pack(buffer, count, type, packed);
    sg_send *send = sg_message_send_typed(peer, c->context, c->rank, tag, packed, bytes, mode, &signature);
    sg_mpi_free(packed);
    return send;
}

sg_receive *sg_begin_receive(const sg_comm *c, int from, int tag)
{
    int32_t source = from == MPI_ANY_SOURCE ? SG_ANY : from;
    int32_t rank = from == MPI_ANY_SOURCE ? SG_ANY : (int32_t)sg_comm_peer(c, from);
    return sg_message_receive(c->context, source, rank, tag == MPI_ANY_TAG ? SG_ANY : tag);
}

/* Reports a message longer than the rest of the memory block in which the buffer begins. */
static void check_block(const sg_receive *r, void *buffer, int64_t count, const sg_type *type, size_t bytes,
                        const char *call, const void *site)
{
    char text[300], block[96];
    if (buffer == NULL || bytes == 0 || !sg_type_flat(type, count) ||
        !sg_alloc_exceeds((char *)buffer + type->true_lb, bytes, block))
        return;
    snprintf(text, sizeof text,
             "rank %u writes the %zu bytes of a message from rank %d with %s at 0x%llx beyond the end of a "
             "block%s",
             r->rank->number, bytes, r->from, call, (unsigned long long)(uintptr_t)site, block);
    sg_warn(text);
}

int sg_take_receive(sg_comm *c, sg_receive *r, void *buffer, int64_t count, sg_type *type, const char *call,
                    const void *site, MPI_Status *status)
{
    size_t room = (size_t)(count * type->size), bytes = r->bytes;
    int error = MPI_SUCCESS, source = r->source, tag = r->tag;
    sg_receive_finish(r);
    if (r->cancelled) {
        sg_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
        sg_receive_free(r);
        return MPI_SUCCESS;
    }
    sg_status_set(status, source, tag, (int64_t)(bytes < room ? bytes : room), false);
    sg_signature_check(&r->message->signature, r->from, type, count, call, site);
    check_block(r, buffer, count, type, bytes < room ? bytes : room, call, site);
    sg_type_unpack(r->data, bytes < room ? bytes : room, buffer, count, type);
    sg_receive_free(r);
    if (bytes > room)
        error = sg_mpi_error(
            c, MPI_ERR_TRUNCATE,
            "a message of %zu bytes from rank %d with tag %d does not fit into the %zu bytes of the receive",
            bytes, source, tag, room);
    return error;
}

/* The first of what the other files of this folder replace: predefined datatypes, the two predefined
 * communicators, four operations and four collective operations by trees. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sg_mpi.h"

#define FIRST __attribute__((weak))

FIRST sg_comm *sg_comm_of(MPI_Comm comm)
{
    sg_mpi *mpi = sg_rank_self()->mpi;
    if (comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)
        sg_mpi_error(MPI_COMM_WORLD, MPI_ERR_COMM, "the communicator is none");
    return comm == MPI_COMM_SELF ? &mpi->comm_self : &mpi->comm_world;
}

FIRST int sg_mpi_error(MPI_Comm comm, int error_class, const char *sentence, ...)
{
    char text[400];
    va_list list;
    (void)comm, (void)error_class;
    va_start(list, sentence);
    vsnprintf(text, sizeof text, sentence, list);
    va_end(list);
    sg_stop(SG_STATUS_CRASHED, "rank %u, %s at 0x%llx: %s", sg_rank_self()->number, sg_rank_self()->call,
            (unsigned long long)(uintptr_t)sg_now->site, text);
}

FIRST size_t sg_type_size(MPI_Datatype type)
{
    static const struct {
        MPI_Datatype type;
        size_t size;
    } sizes[] = {{MPI_INT, sizeof(int)},
                 {MPI_DOUBLE, sizeof(double)},
                 {MPI_FLOAT, sizeof(float)},
                 {MPI_LONG, sizeof(long)},
                 {MPI_LONG_LONG, 8},
                 {MPI_UNSIGNED, 4},
                 {MPI_UNSIGNED_LONG, 8},
                 {MPI_CHAR, 1},
                 {MPI_BYTE, 1},
                 {MPI_UNSIGNED_CHAR, 1},
                 {MPI_INT64_T, 8},
                 {MPI_UINT64_T, 8},
                 {MPI_INT32_T, 4},
                 {MPI_UINT32_T, 4},
                 {MPI_UNSIGNED_LONG_LONG, 8}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].type == type)
            return sizes[i].size;
    sg_mpi_error(MPI_COMM_WORLD, MPI_ERR_TYPE, "the datatype is not served yet");
    return 1;
}

FIRST void sg_type_pack(const void *buffer, size_t count, MPI_Datatype type, void *to)
{
    memcpy(to, buffer, count * sg_type_size(type));
}

FIRST size_t sg_type_unpack(const void *from, size_t bytes, void *buffer, size_t count, MPI_Datatype type)
{
    (void)count, (void)type;
    if (bytes > 0)
        memcpy(buffer, from, bytes);
    return bytes;
}

#define COMBINE(c_type)                                                                                      \
    for (int i = 0; i < count; i++) {                                                                        \
        c_type a = ((const c_type *)in)[i], *b = (c_type *)into + i;                                         \
        *b = op == MPI_SUM ? *b + a : op == MPI_PROD ? *b * a : (op == MPI_MAX) == (a > *b) ? a : *b;        \
    }

static void combine(const void *in, void *into, int count, MPI_Datatype type, MPI_Op op)
{
    if (type == MPI_DOUBLE) {
        COMBINE(double)
    } else if (type == MPI_FLOAT) {
        COMBINE(float)
    } else if (type == MPI_INT) {
        COMBINE(int)
    } else if (sg_type_size(type) == 8) {
        COMBINE(long)
    } else {
        sg_mpi_error(MPI_COMM_WORLD, MPI_ERR_OP, "the operation is not served yet for this datatype");
    }
}

static void send(const sg_comm *c, const void *buffer, int count, MPI_Datatype type, int to)
{
    sg_mpi_end_send(sg_mpi_begin_send(c, c->context + 1, buffer, count, type, to, 1, SG_SEND_STANDARD));
}

static void receive(const sg_comm *c, void *buffer, int count, MPI_Datatype type, int from)
{
    sg_mpi_end_receive(sg_mpi_begin_receive(c, c->context + 1, from, 1), MPI_COMM_WORLD, buffer, count, type,
                       MPI_STATUS_IGNORE);
}

static void broadcast(const sg_comm *c, void *buffer, int count, MPI_Datatype type, int root)
{
    int me = (c->rank - root + c->size) % c->size, bit = 1;
    for (; bit < c->size && !(me & bit); bit *= 2)
        ;
    if (me != 0)
        receive(c, buffer, count, type, (me - bit + root) % c->size);
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < c->size)
            send(c, buffer, count, type, (me + bit + root) % c->size);
}

static void reduce(const sg_comm *c, void *into, int count, MPI_Datatype type, MPI_Op op, int root)
{
    int me = (c->rank - root + c->size) % c->size;
    bool before = sg_alloc_own(true);
    char *other = malloc(sg_type_size(type) * (size_t)count + 1);
    sg_alloc_own(before);
    for (int bit = 1; bit < c->size; bit *= 2) {
        if (me & bit) {
            send(c, into, count, type, (me - bit + root) % c->size);
            break;
        }
        if (me + bit < c->size) {
            receive(c, other, count, type, (me + bit + root) % c->size);
            combine(other, into, count, type, op);
        }
    }
    free(other);
}

FIRST int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    sg_mpi_enter("MPI_Bcast", SG_CALLER);
    sg_rank_self()->collective = true;
    broadcast(sg_comm_of(comm), buffer, count, type, root);
    sg_rank_self()->collective = false;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Bcast)

FIRST int PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    sg_mpi_enter("MPI_Allreduce", SG_CALLER);
    const sg_comm *c = sg_comm_of(comm);
    sg_rank_self()->collective = true;
    if (in != MPI_IN_PLACE)
        memcpy(out, in, sg_type_size(type) * (size_t)count);
    reduce(c, out, count, type, op, 0);
    broadcast(c, out, count, type, 0);
    sg_rank_self()->collective = false;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Allreduce)

FIRST int PMPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm)
{
    sg_mpi_enter("MPI_Reduce", SG_CALLER);
    const sg_comm *c = sg_comm_of(comm);
    size_t bytes = sg_type_size(type) * (size_t)count;
    bool before = sg_alloc_own(true);
    void *sum = malloc(bytes + 1);
    sg_alloc_own(before);
    memcpy(sum, in == MPI_IN_PLACE ? out : in, bytes);
    sg_rank_self()->collective = true;
    reduce(c, sum, count, type, op, root);
    sg_rank_self()->collective = false;
    if (c->rank == root)
        memcpy(out, sum, bytes);
    free(sum);
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Reduce)

FIRST int PMPI_Barrier(MPI_Comm comm)
{
    const void *site = SG_CALLER;
    if (sg_rank_self()->call == NULL || strncmp(sg_rank_self()->call, "MPI_Init", 8) != 0)
        sg_mpi_enter("MPI_Barrier", site);
    const sg_comm *c = sg_comm_of(comm);
    char none = 0;
    sg_rank_self()->collective = true;
    for (int step = 1; step < c->size; step *= 2) {
        sg_receive *r = sg_mpi_begin_receive(c, c->context + 1, (c->rank - step + c->size) % c->size, 2);
        sg_send *s = sg_mpi_begin_send(c, c->context + 1, &none, 0, MPI_BYTE, (c->rank + step) % c->size, 2,
                                       SG_SEND_STANDARD);
        sg_mpi_end_receive(r, comm, &none, 0, MPI_BYTE, MPI_STATUS_IGNORE);
        sg_mpi_end_send(s);
    }
    sg_rank_self()->collective = false;
    return MPI_SUCCESS;
}
SG_MPI_ALIAS(Barrier)

/* Finds mismatched collective operations: all ranks must call the same ones in the same order. */
#include <stdio.h>

#include "sg_mpi_collective.h"
#include "sg_mpi_signature.h"
#include "sg_table.h"

/* The call of the first rank to reach an operation of a communicator; `number` is that of its messages. */
typedef struct record {
    uint32_t number, arrived;
    uint32_t ordinal; /* among the program's operations, from 1 */
    int rank, root;
    int64_t bytes;
    const char *call;
    const void *site;
    sg_signature signature;
    const char *op; /* a predefined one */
    int64_t *sizes; /* bytes of each rank, if the call has a list */
} record;

/* Operations not all ranks have arrived at: a ring, as some ranks may be far ahead. Unchecked operations have
 * no record. */
struct sg_collective_log {
    record **ring;
    uint32_t room, front; /* a power of two; index of the first */
    uint32_t count, base; /* number of entries; operation number of the first */
    uint32_t made;
};

static sg_table logs = {.used = 0}; /* by the communicator's context */

static struct sg_collective_log *log_of(sg_comm *c)
{
    if (c->log != NULL)
        return c->log;
    sg_table_entry *entry = sg_table_make(&logs, (uint64_t)c->context + 1, 64);
    if (entry->number == 0)
        entry->pointer = sg_mpi_new(sizeof *c->log);
    return c->log = entry->pointer;
}

static void grow(struct sg_collective_log *log, uint32_t count)
{
    uint32_t room = log->room > 0 ? log->room : 8;
    while (room < count)
        room *= 2;
    record **ring = sg_mpi_new(room * sizeof(record *));
    for (uint32_t i = 0; i < log->count; i++)
        ring[i] = log->ring[(log->front + i) & (log->room - 1)];
    sg_mpi_free(log->ring);
    log->ring = ring;
    log->room = room;
    log->front = 0;
}

/* Entry for operation `number`; NULL: all ranks have passed it. */
static record **place_of(struct sg_collective_log *log, uint32_t number)
{
    if (log->count == 0)
        log->base = number;
    uint32_t at = number - log->base;
    if ((int32_t)at < 0)
        return NULL;
    if (at >= log->room)
        grow(log, at + 1);
    if (at >= log->count)
        log->count = at + 1;
    return &log->ring[(log->front + at) & (log->room - 1)];
}

/* Removes a record that all ranks have arrived at. */
static void drop(struct sg_collective_log *log, record **at)
{
    sg_mpi_free((*at)->sizes);
    sg_mpi_free(*at);
    *at = NULL;
    while (log->count > 0 && log->ring[log->front] == NULL) {
        log->front = (log->front + 1) & (log->room - 1);
        log->base++;
        log->count--;
    }
}

/* Warns if the data's types differ from the first rank's. */
static void compare_types(const record *first, const sg_signature *s)
{
    char text[300];
    if (s == NULL || sg_signature_same(&first->signature, s) || !sg_mpi_first_time(first->site, s->site))
        return;
    snprintf(text, sizeof text,
             "rank %u: %s at 0x%llx passes %s, but rank %d of the communicator %s at 0x%llx", sg_mpi_number(),
             s->call, (unsigned long long)(uintptr_t)s->site, sg_signature_name(s), first->rank,
             sg_signature_name(&first->signature), (unsigned long long)(uintptr_t)first->site);
    sg_warn(text);
}

static int compare(sg_comm *c, const record *first, int root, int64_t bytes, const char *op)
{
    const char *call = sg_mpi_self()->call;
    unsigned long long site = (uintptr_t)first->site;
    if (strcmp(call, first->call) != 0)
        sg_mpi_fatal(
            "rank %d of the communicator called %s instead, at 0x%llx, as its collective operation number %u",
            first->rank, first->call, site, first->ordinal);
    if (root >= 0 && first->root >= 0 && root != first->root)
        return sg_mpi_error(c, MPI_ERR_ROOT, "the root is %d, but %d in the call of rank %d at 0x%llx", root,
                            first->root, first->rank, site);
    if (op != NULL && first->op != NULL && op != first->op)
        return sg_mpi_error(c, MPI_ERR_OP, "the operation is %s, but %s in the call of rank %d at 0x%llx", op,
                            first->op, first->rank, site);
    if (bytes >= 0 && first->bytes >= 0 && bytes != first->bytes)
        return sg_mpi_error(c, MPI_ERR_COUNT,
                            "%lld bytes are passed, but %lld in the call of rank %d at 0x%llx",
                            (long long)bytes, (long long)first->bytes, first->rank, site);
    return MPI_SUCCESS;
}

/* Records each rank's bytes, or compares them with the first rank's. */
static int compare_sizes(sg_comm *c, record *first, const int *counts, int64_t item)
{
    int64_t *sizes = first->sizes;
    if (sizes == NULL) {
        sizes = first->sizes = sg_mpi_new((size_t)c->size * sizeof *sizes);
        for (int i = 0; i < c->size; i++)
            sizes[i] = counts[i] * item;
    }
    for (int i = 0; i < c->size; i++)
        if (sizes[i] != counts[i] * item)
            return sg_mpi_error(c, MPI_ERR_COUNT,
                                "rank %d has %lld of the bytes, but %lld in the call of rank %d at 0x%llx", i,
                                (long long)(counts[i] * item), (long long)sizes[i], first->rank,
                                (unsigned long long)(uintptr_t)first->site);
    return MPI_SUCCESS;
}

int sg_collective_check(sg_comm *c, int root, int64_t bytes)
{
    return sg_collective_compare(c, root, bytes, NULL, NULL, NULL, 0);
}

int sg_collective_compare(sg_comm *c, int root, int64_t bytes, const sg_signature *signature,
                          const sg_mpi_op *op, const int counts[], int64_t item)
{
    const struct sg_mpi *m = sg_mpi_self();
    uint32_t all = (uint32_t)c->size + (c->remote != NULL ? c->remote->size : 0);
    if (all < 2)
        return MPI_SUCCESS;
    record **at = place_of(log_of(c), c->collectives);
    if (at == NULL)
        return MPI_SUCCESS;
    record *r = *at;
    if (r == NULL) {
        *at = r = sg_mpi_new(sizeof *r);
        *r = (record){c->collectives, 0,       ++log_of(c)->made, c->rank,         root,
                      bytes,          m->call, m->site,           .signature = {0}};
        if (signature != NULL)
            r->signature = *signature;
    }
    const char *name = op != NULL ? op->name : NULL;
    r->op = r->arrived == 0 ? name : r->op;
    int error = compare(c, r, root, bytes, name);
    if (error == MPI_SUCCESS && counts != NULL)
        error = compare_sizes(c, r, counts, item);
    if (error == MPI_SUCCESS)
        compare_types(r, signature);
    if (++r->arrived == all)
        drop(log_of(c), place_of(log_of(c), r->number)); /* an error handler may have called others */
    return error;
}

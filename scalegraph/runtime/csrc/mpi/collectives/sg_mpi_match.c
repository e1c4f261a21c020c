/* Collective operations that do not fit each other: all ranks must call the same ones in the same order. */
#include "sg_mpi_collective.h"
#include "sg_table.h"

/* What the first rank called as operation `number` of a communicator. */
typedef struct record {
    struct record *next;
    uint32_t number, arrived;
    int rank, root;
    int64_t bytes;
    const char *call;
    const void *site;
} record;

struct sg_collective_log {
    record *first;
};

static sg_table logs = {.used = 0}; /* by the number of the communicator's messages */

static struct sg_collective_log *log_of(sg_comm *c)
{
    if (c->log != NULL)
        return c->log;
    sg_table_entry *entry = sg_table_make(&logs, (uint64_t)c->context + 1, 64);
    if (entry->number == 0)
        entry->pointer = sg_mpi_new(sizeof *c->log);
    return c->log = entry->pointer;
}

static int compare(sg_comm *c, const record *first, int root, int64_t bytes)
{
    const char *call = sg_mpi_self()->call;
    unsigned long long site = (uintptr_t)first->site;
    if (strcmp(call, first->call) != 0)
        sg_mpi_fatal(
            "rank %d of the communicator called %s instead, at 0x%llx, as its collective operation number %u",
            first->rank, first->call, site, first->number + 1);
    if (root >= 0 && first->root >= 0 && root != first->root)
        return sg_mpi_error(c, MPI_ERR_ROOT, "the root is %d, but %d in the call of rank %d at 0x%llx", root,
                            first->root, first->rank, site);
    if (bytes >= 0 && first->bytes >= 0 && bytes != first->bytes && c->handler == MPI_ERRORS_ARE_FATAL)
        return sg_mpi_error(c, MPI_ERR_COUNT,
                            "%lld bytes are passed, but %lld in the call of rank %d at 0x%llx",
                            (long long)bytes, (long long)first->bytes, first->rank, site);
    return MPI_SUCCESS;
}

int sg_collective_check(sg_comm *c, int root, int64_t bytes)
{
    const struct sg_mpi *m = sg_mpi_self();
    uint32_t all = (uint32_t)c->size + (c->remote != NULL ? c->remote->size : 0);
    if (all < 2)
        return MPI_SUCCESS;
    record **at = &log_of(c)->first;
    while (*at != NULL && (*at)->number != c->collectives)
        at = &(*at)->next;
    record *r = *at;
    if (r == NULL) {
        *at = r = sg_mpi_new(sizeof *r);
        *r = (record){NULL, c->collectives, 0, c->rank, root, bytes, m->call, m->site};
    }
    int error = compare(c, r, root, bytes);
    if (++r->arrived == all) {
        *at = r->next;
        sg_mpi_free(r);
    }
    return error;
}

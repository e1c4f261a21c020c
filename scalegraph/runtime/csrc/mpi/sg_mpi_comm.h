/* Communicators and groups. */
#ifndef SG_MPI_COMM_H
#define SG_MPI_COMM_H

#include "sg_mpi.h"

/* Members by node: sg_mpi_nodes.c. */
typedef struct sg_layout sg_layout;
void sg_layout_free(sg_layout *layout);

/* World ranks of a group; a communicator's are shared by all its ranks. */
typedef struct sg_members {
    uint32_t references, size;
    sg_layout *layout; /* NULL: not needed so far */
    uint32_t world[];
} sg_members;

struct sg_mpi_group {
    sg_members *members;
    int rank; /* rank of this process; MPI_UNDEFINED: not a member */
};

struct sg_topology;
struct sg_collective_log;

/* A rank's view of a communicator. Its point-to-point messages use `context`, its collective operations the
 * next number. */
struct sg_comm {
    uint32_t context;
    int rank, size;
    const uint32_t *world; /* rank in it -> rank in MPI_COMM_WORLD */
    sg_members *members;
    sg_members *remote; /* remote group of an intercommunicator; otherwise NULL */
    sg_comm *local;     /* for an intercommunicator: the local group, for its own messages */
    bool low;           /* for an intercommunicator: its group comes first */
    uint32_t references;
    uintptr_t handle;
    MPI_Errhandler handler;
    sg_attribute *attributes;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    struct sg_topology *topology;
    struct sg_collective_log *log;
    struct sg_nodes *nodes; /* the rank's node and the others' nodes; NULL: not needed so far */
    bool within_node;       /* the ranks of one node, for the node-level steps of a larger operation */
    uint32_t collectives;   /* number begun so far */
};

/* ---- sg_mpi_group.c ---- */

sg_members *sg_members_new(uint32_t size);
sg_members *sg_members_take(sg_members *members);
void sg_members_drop(sg_members *members);
/* Index of a world rank among the members; MPI_UNDEFINED: not a member. */
int sg_members_find(const sg_members *members, uint32_t number);
sg_mpi_group *sg_group_of(MPI_Group handle);
MPI_Group sg_group_new(sg_members *members);
int sg_group_missing(MPI_Group handle);
/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int sg_members_compare(const sg_members *a, const sg_members *b);

/* ---- sg_mpi_comm.c ---- */

/* The communicator of a handle, or NULL. */
static inline sg_comm *sg_comm_of(MPI_Comm handle)
{
    const struct sg_mpi *m = sg_mpi_self();
    if (handle == MPI_COMM_WORLD)
        return m->world;
    return handle == MPI_COMM_SELF ? m->self : sg_handle_get(SG_KIND_COMM, (uintptr_t)handle);
}
static inline MPI_Comm sg_comm_handle(const sg_comm *comm)
{
    return (MPI_Comm)comm->handle;
}
/* Creates a communicator of these members (takes ownership), with its own handle. */
sg_comm *sg_comm_new(uint32_t context, sg_members *members, sg_members *remote);
void sg_comm_drop(sg_comm *comm);
sg_comm *sg_comm_take(sg_comm *comm);
/* Creates MPI_COMM_WORLD and MPI_COMM_SELF. */
void sg_comm_open(struct sg_mpi *m);
/* Reserves contexts for a new communicator: this one and the next. */
uint32_t sg_comm_context(void);
/* Size of the group that messages go to, and the world rank of one of its members. */
static inline int sg_comm_peers(const sg_comm *c)
{
    return c->remote != NULL ? (int)c->remote->size : c->size;
}
static inline uint32_t sg_comm_peer(const sg_comm *c, int rank)
{
    return c->remote != NULL ? c->remote->world[rank] : c->world[rank];
}

#endif

/* Communicator objects and queries about them. */
#include <stdio.h>

#include "sg_mpi_comm.h"
#include "sg_mpi_topology.h"

static uint32_t next_context = 4;    /* of the next communicator created by any rank */
static sg_members *everybody = NULL; /* the group of MPI_COMM_WORLD */

uint32_t sg_comm_context(void)
{
    sg_settle();
    next_context += 2;
    return next_context - 2;
}

sg_comm *sg_comm_new(uint32_t context, sg_members *members, sg_members *remote)
{
    sg_comm *c = sg_mpi_new(sizeof *c);
    c->context = context;
    c->members = members;
    c->remote = remote;
    c->world = members->world;
    c->size = (int)members->size;
    c->rank = sg_members_find(members, sg_mpi_number());
    c->references = 1;
    c->handler = MPI_ERRORS_ARE_FATAL;
    c->info = MPI_INFO_NULL;
    c->handle = sg_handle_new(SG_KIND_COMM, c);
    sg_settle();
    sg_observe_communicator(context, members->size, "", sg_mpi_self()->site);
    return c;
}

sg_comm *sg_comm_take(sg_comm *c)
{
    c->references++;
    return c;
}

void sg_comm_drop(sg_comm *c)
{
    if (--c->references > 0)
        return;
    sg_members_drop(c->members);
    sg_mpi_free(c->nodes);
    if (c->remote != NULL)
        sg_members_drop(c->remote);
    if (c->local != NULL) {
        sg_handle_free(c->local->handle);
        sg_comm_drop(c->local);
    }
    sg_handler_drop(c->handler);
    sg_info_free(c->info);
    sg_topology_free(c->topology);
    sg_mpi_free(c);
}

void sg_comm_open(struct sg_mpi *m)
{
    if (everybody == NULL) {
        everybody = sg_members_new(sg_mpi_count());
        for (uint32_t i = 0; i < everybody->size; i++)
            everybody->world[i] = i;
    }
    sg_members *alone = sg_members_new(1);
    alone->world[0] = sg_mpi_number();
    m->world = sg_comm_new(0, sg_members_take(everybody), NULL);
    m->self = sg_comm_new(2, alone, NULL);
    sg_handle_free(m->world->handle);
    sg_handle_free(m->self->handle);
    m->world->handle = (uintptr_t)MPI_COMM_WORLD;
    m->self->handle = (uintptr_t)MPI_COMM_SELF;
    snprintf(m->world->name, sizeof m->world->name, "MPI_COMM_WORLD");
    snprintf(m->self->name, sizeof m->self->name, "MPI_COMM_SELF");
    sg_observe_communicator(m->world->context, everybody->size, m->world->name, NULL);
    sg_observe_communicator(m->self->context, 1, m->self->name, NULL);
}

/* ---- queries ---- */

#define COMM(c, handle)                                                                                      \
    sg_comm *c = sg_comm_of(handle);                                                                         \
    if (c == NULL)                                                                                           \
        return sg_comm_missing(handle);

SG_API int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    SG_ENTER("Comm_rank");
    SG_NEEDS(rank)
    COMM(c, comm)
    *rank = c->rank;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    SG_ENTER("Comm_size");
    SG_NEEDS(size)
    COMM(c, comm)
    *size = c->size;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    SG_ENTER("Comm_remote_size");
    SG_NEEDS(size)
    COMM(c, comm)
    if (c->remote == NULL)
        return sg_mpi_error(c, MPI_ERR_COMM, "the communicator is not an intercommunicator");
    *size = (int)c->remote->size;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    SG_ENTER("Comm_test_inter");
    SG_NEEDS(flag)
    COMM(c, comm)
    *flag = c->remote != NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    SG_ENTER("Comm_group");
    SG_NEEDS(group)
    COMM(c, comm)
    *group = sg_group_new(sg_members_take(c->members));
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    SG_ENTER("Comm_remote_group");
    SG_NEEDS(group)
    COMM(c, comm)
    if (c->remote == NULL)
        return sg_mpi_error(c, MPI_ERR_COMM, "the communicator is not an intercommunicator");
    *group = sg_group_new(sg_members_take(c->remote));
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_compare(MPI_Comm one, MPI_Comm other, int *result)
{
    SG_ENTER("Comm_compare");
    SG_NEEDS(result)
    COMM(a, one)
    COMM(b, other)
    int locals = sg_members_compare(a->members, b->members), remotes = MPI_IDENT;
    if ((a->remote == NULL) != (b->remote == NULL))
        locals = MPI_UNEQUAL;
    else if (a->remote != NULL)
        remotes = sg_members_compare(a->remote, b->remote);
    if (a == b)
        *result = MPI_IDENT;
    else if (locals == MPI_IDENT && remotes == MPI_IDENT)
        *result = MPI_CONGRUENT;
    else
        *result = locals == MPI_UNEQUAL || remotes == MPI_UNEQUAL ? MPI_UNEQUAL : MPI_SIMILAR;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    SG_ENTER("Comm_set_name");
    SG_NEEDS(name)
    COMM(c, comm)
    snprintf(c->name, sizeof c->name, "%s", name);
    sg_settle();
    sg_observe_communicator(c->context, c->members->size, c->name, NULL);
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *length)
{
    SG_ENTER("Comm_get_name");
    SG_NEEDS(name, length)
    if (comm == MPI_COMM_NULL) {
        *length = snprintf(name, MPI_MAX_OBJECT_NAME, "MPI_COMM_NULL");
        return MPI_SUCCESS;
    }
    COMM(c, comm)
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", c->name);
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    SG_ENTER("Comm_set_info");
    COMM(c, comm)
    SG_INFO(info)
    sg_info_free(c->info);
    c->info = sg_info_copy(info);
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    SG_ENTER("Comm_get_info");
    SG_NEEDS(info)
    COMM(c, comm)
    *info = sg_info_copy(c->info);
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    SG_ENTER("Comm_get_parent");
    SG_NEEDS(parent)
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* Frees the handle; pending operations keep the communicator itself. */
static int release(MPI_Comm *comm)
{
    COMM(c, *comm)
    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
        return sg_mpi_error(c, MPI_ERR_COMM, "%s cannot be freed", c->name);
    int error = sg_attributes_delete(SG_KIND_COMM, c->handle, &c->attributes);
    if (error != MPI_SUCCESS)
        return error;
    sg_handle_free(c->handle);
    sg_comm_drop(c);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_Comm_free(MPI_Comm *comm)
{
    SG_ENTER("Comm_free");
    SG_NEEDS(comm)
    return release(comm);
}

SG_API int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    SG_ENTER("Comm_disconnect");
    SG_NEEDS(comm)
    return release(comm);
}

SG_MPI_NAME(Comm_rank)
SG_MPI_NAME(Comm_size)
SG_MPI_NAME(Comm_remote_size)
SG_MPI_NAME(Comm_test_inter)
SG_MPI_NAME(Comm_group)
SG_MPI_NAME(Comm_remote_group)
SG_MPI_NAME(Comm_compare)
SG_MPI_NAME(Comm_set_name)
SG_MPI_NAME(Comm_get_name)
SG_MPI_NAME(Comm_set_info)
SG_MPI_NAME(Comm_get_info)
SG_MPI_NAME(Comm_get_parent)
SG_MPI_NAME(Comm_free)
SG_MPI_NAME(Comm_disconnect)

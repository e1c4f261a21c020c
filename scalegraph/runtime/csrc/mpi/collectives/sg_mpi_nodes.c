/* Collective operations of ranks on several nodes, as in MPICH (MPIR_Barrier_intra_smp and similar): within
 * each node, then among the first ranks of the nodes, then within each node again. Messages within a node
 * have a tag of their own, because ranks are counted from 0 in each node. */
#include <stdlib.h>

#include "sg_mpi_collective.h"
#include "sg_rank.h"

/* The members by node, shared by all of them. Nodes are ordered by their first ranks. */
struct sg_layout {
    uint32_t nodes;
    uint32_t *node, *local; /* by rank: its node, and its number there */
    uint32_t *begin;        /* start of each node in `sorted`, with one extra entry at the end */
    uint32_t *sorted;       /* ranks in MPI_COMM_WORLD, node by node */
    uint32_t *first;        /* first rank of each node */
};

struct sg_nodes {
    sg_comm own;    /* ranks of this rank's node */
    sg_comm firsts; /* first ranks of the nodes; no rank if this is not one of them */
    const sg_layout *layout;
};

static uint32_t node_of(uint32_t number)
{
    return sg->all_ranks[number]->first_processor / sg_config_node_processors(&sg->config);
}

void sg_layout_free(sg_layout *layout)
{
    if (layout != NULL)
        sg_mpi_free(layout->node);
    sg_mpi_free(layout);
}

static sg_layout *layout_new(const sg_members *members)
{
    uint32_t size = members->size, most = 0, nodes = 0;
    for (uint32_t i = 0; i < size; i++)
        most = node_of(members->world[i]) >= most ? node_of(members->world[i]) + 1 : most;
    uint32_t *number = sg_mpi_new(most * sizeof *number); /* by node of the machine, from 1; 0: none yet */
    sg_layout *l = sg_mpi_new(sizeof *l);
    l->node = sg_mpi_new((3 * (size_t)size + 2 * (size_t)most + 1) * sizeof *l->node);
    l->local = l->node + size;
    l->sorted = l->local + size;
    l->begin = l->sorted + size;
    l->first = l->begin + most + 1;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t *known = &number[node_of(members->world[i])];
        if (*known == 0) {
            l->first[nodes] = members->world[i];
            *known = ++nodes;
        }
        l->node[i] = *known - 1;
        l->local[i] = l->begin[*known]++;
    }
    for (uint32_t i = 0; i < nodes; i++)
        l->begin[i + 1] += l->begin[i];
    for (uint32_t i = 0; i < size; i++)
        l->sorted[l->begin[l->node[i]] + l->local[i]] = members->world[i];
    l->nodes = nodes;
    sg_mpi_free(number);
    return l;
}

static struct sg_nodes *nodes_new(sg_comm *c)
{
    if (c->members->layout == NULL)
        c->members->layout = layout_new(c->members);
    const sg_layout *l = c->members->layout;
    uint32_t node = l->node[c->rank], local = l->local[c->rank];
    struct sg_nodes *n = sg_mpi_new(sizeof *n);
    n->layout = l;
    n->own = (sg_comm){.context = c->context,
                       .rank = (int)local,
                       .size = (int)(l->begin[node + 1] - l->begin[node]),
                       .world = l->sorted + l->begin[node],
                       .within_node = true};
    n->firsts = (sg_comm){.context = c->context,
                          .rank = local == 0 ? (int)node : MPI_UNDEFINED,
                          .size = (int)l->nodes,
                          .world = l->first};
    return n;
}

/* MPICH's variable; a value that begins like 0, no or false turns it off. */
static bool wanted(void)
{
    const char *text = getenv("MPIR_CVAR_ENABLE_SMP_COLLECTIVES");
    return text == NULL || strchr("0nNfF", text[0]) == NULL;
}

/* The communicator's nodes if the operation should use them: there are several nodes, and some node has
 * several ranks. */
static const struct sg_nodes *nodes_for(const sg_schedule *s, enum sg_collective what)
{
    sg_comm *c = s->comm;
    if (s->view != c || c->remote != NULL || c->size < 3 || c->rank < 0 || !wanted() ||
        !sg_rule_is_open(what, c->size))
        return NULL;
    if (c->nodes == NULL)
        c->nodes = nodes_new(c);
    uint32_t nodes = c->nodes->layout->nodes;
    return nodes > 1 && nodes < (uint32_t)c->size ? c->nodes : NULL;
}

static bool is_first(const struct sg_nodes *n)
{
    return n->own.rank == 0;
}

bool sg_nodes_barrier(sg_schedule *s)
{
    const struct sg_nodes *n = nodes_for(s, SG_BARRIER);
    if (n == NULL)
        return false;
    s->view = &n->own;
    sg_algorithm_barrier(s);
    if (is_first(n)) {
        s->view = &n->firsts;
        sg_algorithm_barrier(s);
        s->view = &n->own;
    }
    sg_algorithm_bcast(s, sg_schedule_memory(s, 1), 1, sg_bytes(), 0);
    s->view = s->comm;
    return true;
}

bool sg_nodes_bcast(sg_schedule *s, void *buffer, int64_t count, sg_type *type, int root)
{
    const struct sg_nodes *n = nodes_for(s, SG_BCAST);
    enum sg_algorithm flat =
        n != NULL ? sg_rule(SG_BCAST, s->comm->size, count * type->size, true) : SG_LINEAR;
    if (flat != SG_BINOMIAL && flat != SG_SCATTER_DOUBLING)
        return false; /* long messages use the ring of all ranks */
    const sg_layout *l = n->layout;
    int node = (int)l->node[root], local = (int)l->local[root];
    bool beside_root = (int)l->node[s->comm->rank] == node;
    s->view = &n->own;
    if (flat == SG_BINOMIAL && beside_root && local != 0) {
        if (n->own.rank == local)
            sg_add_send(s, buffer, count, type, 0);
        if (is_first(n))
            sg_add_receive(s, buffer, count, type, local);
        sg_add_wait(s);
    } else if (flat != SG_BINOMIAL && beside_root) {
        sg_algorithm_bcast(s, buffer, count, type, local);
    }
    if (is_first(n)) {
        s->view = &n->firsts;
        sg_algorithm_bcast(s, buffer, count, type, node);
        s->view = &n->own;
    }
    if (flat == SG_BINOMIAL || !beside_root)
        sg_algorithm_bcast(s, buffer, count, type, 0);
    s->view = s->comm;
    return true;
}

void *sg_nodes_reduce(sg_schedule *s, void *acc, int64_t count, sg_type *type, int root)
{
    const struct sg_nodes *n = s->op->commutes ? nodes_for(s, SG_REDUCE) : NULL;
    if (n == NULL)
        return NULL;
    const sg_layout *l = n->layout;
    int node = (int)l->node[root];
    bool beside_root = (int)l->node[s->comm->rank] == node;
    s->view = &n->own;
    if (!beside_root)
        acc = sg_algorithm_reduce(s, acc, count, type, 0);
    if (is_first(n)) {
        s->view = &n->firsts;
        acc = sg_algorithm_reduce(s, acc, count, type, node);
        s->view = &n->own;
    }
    if (beside_root)
        acc = sg_algorithm_reduce(s, acc, count, type, (int)l->local[root]);
    s->view = s->comm;
    return acc;
}

bool sg_nodes_allreduce(sg_schedule *s, void *acc, int64_t count, sg_type *type)
{
    const struct sg_nodes *n = s->op->commutes ? nodes_for(s, SG_ALLREDUCE) : NULL;
    if (n == NULL)
        return false;
    s->view = &n->own;
    void *result = sg_algorithm_reduce(s, acc, count, type, 0);
    if (is_first(n)) {
        s->view = &n->firsts;
        sg_algorithm_allreduce(s, result, count, type);
        s->view = &n->own;
        if (result != acc)
            sg_add_copy(s, result, count, type, acc, count, type);
        sg_add_wait(s);
    }
    sg_algorithm_bcast(s, acc, count, type, 0);
    s->view = s->comm;
    return true;
}

/* Virtual topology objects. */
#include "sg_mpi_topology.h"

void sg_topology_free(sg_topology *t)
{
    if (t == NULL)
        return;
    int *const lists[] = {t->sizes,          t->periods,      t->coordinates,
                          t->index,          t->edges,        t->sources,
                          t->source_weights, t->destinations, t->destination_weights};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        sg_mpi_free(lists[i]);
    sg_mpi_free(t);
}

static int *copied(const int *list, int count)
{
    return list != NULL ? sg_mpi_copy(list, (size_t)count * sizeof *list) : NULL;
}

sg_topology *sg_topology_copy(const sg_topology *t)
{
    if (t == NULL)
        return NULL;
    sg_topology *copy = sg_mpi_copy(t, sizeof *t);
    copy->sizes = copied(t->sizes, t->dimensions);
    copy->periods = copied(t->periods, t->dimensions);
    copy->coordinates = copied(t->coordinates, t->dimensions);
    copy->index = copied(t->index, t->nodes);
    copy->edges = copied(t->edges, t->edge_count);
    copy->sources = copied(t->sources, t->in_degree);
    copy->source_weights = copied(t->source_weights, t->in_degree);
    copy->destinations = copied(t->destinations, t->out_degree);
    copy->destination_weights = copied(t->destination_weights, t->out_degree);
    return copy;
}

int sg_cart_rank(const sg_topology *t, const int coordinates[])
{
    int rank = 0;
    for (int i = 0; i < t->dimensions; i++) {
        int at = coordinates[i], size = t->sizes[i];
        if (at < 0 || at >= size) {
            if (!t->periods[i])
                return MPI_PROC_NULL;
            at = (at % size + size) % size;
        }
        rank = rank * size + at;
    }
    return rank;
}

void sg_cart_coordinates(const sg_topology *t, int rank, int coordinates[])
{
    for (int i = t->dimensions - 1; i >= 0; i--) {
        coordinates[i] = rank % t->sizes[i];
        rank /= t->sizes[i];
    }
}

/* Lists the previous and the next process in each dimension. */
static void cart_neighbours(const sg_topology *t, int *list)
{
    int *at = copied(t->coordinates, t->dimensions);
    for (int i = 0; i < t->dimensions; i++) {
        at[i] = t->coordinates[i] - 1;
        *list++ = sg_cart_rank(t, at);
        at[i] = t->coordinates[i] + 1;
        *list++ = sg_cart_rank(t, at);
        at[i] = t->coordinates[i];
    }
    sg_mpi_free(at);
}

void sg_topology_neighbours(const sg_comm *c, int *in_degree, int **sources, int *out_degree,
                            int **destinations)
{
    const sg_topology *t = c->topology;
    if (t->kind == MPI_DIST_GRAPH) {
        *in_degree = t->in_degree;
        *out_degree = t->out_degree;
        *sources = copied(t->sources, t->in_degree);
        *destinations = copied(t->destinations, t->out_degree);
        return;
    }
    int first = t->kind == MPI_GRAPH && c->rank > 0 ? t->index[c->rank - 1] : 0;
    int count = t->kind == MPI_GRAPH ? t->index[c->rank] - first : 2 * t->dimensions;
    int *list = sg_mpi_new((size_t)count * sizeof *list);
    if (t->kind == MPI_CART)
        cart_neighbours(t, list);
    for (int i = 0; t->kind == MPI_GRAPH && i < count; i++)
        list[i] = t->edges[first + i];
    *in_degree = *out_degree = count;
    *sources = list;
    *destinations = copied(list, count);
}

/* Groups: ordered sets of processes. */
#include "sg_mpi_comm.h"

sg_members *sg_members_new(uint32_t size)
{
    sg_members *members = sg_mpi_new(sizeof *members + size * sizeof members->world[0]);
    members->references = 1;
    members->size = size;
    return members;
}

sg_members *sg_members_take(sg_members *members)
{
    members->references++;
    return members;
}

void sg_members_drop(sg_members *members)
{
    if (--members->references > 0)
        return;
    sg_layout_free(members->layout);
    sg_mpi_free(members);
}

int sg_members_find(const sg_members *members, uint32_t number)
{
    if (number < members->size && members->world[number] == number)
        return (int)number;
    for (uint32_t i = 0; i < members->size; i++)
        if (members->world[i] == number)
            return (int)i;
    return MPI_UNDEFINED;
}

int sg_members_compare(const sg_members *a, const sg_members *b)
{
    if (a == b)
        return MPI_IDENT;
    if (a->size != b->size)
        return MPI_UNEQUAL;
    if (memcmp(a->world, b->world, a->size * sizeof a->world[0]) == 0)
        return MPI_IDENT;
    for (uint32_t i = 0; i < a->size; i++)
        if (sg_members_find(b, a->world[i]) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
    return MPI_SIMILAR;
}

static sg_members no_members = {.references = 1, .size = 0};
static sg_mpi_group empty_group = {&no_members, MPI_UNDEFINED};

sg_mpi_group *sg_group_of(MPI_Group handle)
{
    return handle == MPI_GROUP_EMPTY ? &empty_group : sg_handle_get(SG_KIND_GROUP, (uintptr_t)handle);
}

MPI_Group sg_group_new(sg_members *members)
{
    if (members->size == 0) {
        sg_members_drop(members);
        return MPI_GROUP_EMPTY;
    }
    sg_mpi_group *group = sg_mpi_new(sizeof *group);
    group->members = members;
    group->rank = sg_members_find(members, sg_mpi_number());
    return (MPI_Group)sg_handle_new(SG_KIND_GROUP, group);
}

int sg_group_missing(MPI_Group handle)
{
    if (handle == MPI_GROUP_NULL)
        return sg_mpi_error(NULL, MPI_ERR_GROUP, "the group is MPI_GROUP_NULL");
    return sg_mpi_error(NULL, MPI_ERR_GROUP, "the group %#llx does not exist (was it freed?)",
                        (unsigned long long)(uintptr_t)handle);
}

#define GROUP(g, handle)                                                                                     \
    const sg_mpi_group *g = sg_group_of(handle);                                                             \
    if (g == NULL)                                                                                           \
        return sg_group_missing(handle);

SG_API int PMPI_Group_size(MPI_Group group, int *size)
{
    SG_ENTER("Group_size");
    SG_NEEDS(size)
    GROUP(g, group)
    *size = (int)g->members->size;
    return MPI_SUCCESS;
}

SG_API int PMPI_Group_rank(MPI_Group group, int *rank)
{
    SG_ENTER("Group_rank");
    SG_NEEDS(rank)
    GROUP(g, group)
    *rank = g->rank;
    return MPI_SUCCESS;
}

SG_API int PMPI_Group_compare(MPI_Group one, MPI_Group other, int *result)
{
    SG_ENTER("Group_compare");
    SG_NEEDS(result)
    GROUP(a, one)
    GROUP(b, other)
    *result = sg_members_compare(a->members, b->members);
    return MPI_SUCCESS;
}

SG_API int PMPI_Group_translate_ranks(MPI_Group from, int n, const int ranks[], MPI_Group to, int found[])
{
    SG_ENTER("Group_translate_ranks");
    if (n > 0)
        SG_NEEDS(ranks, found)
    GROUP(a, from)
    GROUP(b, to)
    if (n < 0)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the number of ranks is %d", n);
    for (int i = 0; i < n; i++) {
        if (ranks[i] == MPI_PROC_NULL) {
            found[i] = MPI_PROC_NULL;
            continue;
        }
        if (ranks[i] < 0 || ranks[i] >= (int)a->members->size)
            return sg_mpi_error(NULL, MPI_ERR_RANK, "rank %d is not one of the %u ranks of the group",
                                ranks[i], a->members->size);
        found[i] = sg_members_find(b->members, a->members->world[ranks[i]]);
    }
    return MPI_SUCCESS;
}

/* ---- set operations ---- */

enum set { UNION, INTERSECTION, DIFFERENCE };

/* Marks the members among the ranks of MPI_COMM_WORLD. */
static bool *marked(const sg_members *members)
{
    bool *mark = sg_mpi_new(sg_mpi_count());
    for (uint32_t i = 0; i < members->size; i++)
        mark[members->world[i]] = true;
    return mark;
}

static int combine(MPI_Group one, MPI_Group other, MPI_Group *result, enum set how)
{
    GROUP(a, one)
    GROUP(b, other)
    const sg_members *left = a->members, *right = b->members;
    bool *in_left = marked(left), *in_right = marked(right);
    sg_members *made = sg_members_new(left->size + right->size);
    uint32_t size = 0;
    for (uint32_t i = 0; i < left->size; i++)
        if (how == UNION || in_right[left->world[i]] == (how == INTERSECTION))
            made->world[size++] = left->world[i];
    for (uint32_t i = 0; how == UNION && i < right->size; i++)
        if (!in_left[right->world[i]])
            made->world[size++] = right->world[i];
    made->size = size;
    sg_mpi_free(in_left);
    sg_mpi_free(in_right);
    *result = sg_group_new(made);
    return MPI_SUCCESS;
}

SG_API int PMPI_Group_union(MPI_Group one, MPI_Group other, MPI_Group *result)
{
    SG_ENTER("Group_union");
    SG_NEEDS(result)
    return combine(one, other, result, UNION);
}

SG_API int PMPI_Group_intersection(MPI_Group one, MPI_Group other, MPI_Group *result)
{
    SG_ENTER("Group_intersection");
    SG_NEEDS(result)
    return combine(one, other, result, INTERSECTION);
}

SG_API int PMPI_Group_difference(MPI_Group one, MPI_Group other, MPI_Group *result)
{
    SG_ENTER("Group_difference");
    SG_NEEDS(result)
    return combine(one, other, result, DIFFERENCE);
}

/* ---- lists of ranks ---- */

/* Creates a group of the listed ranks in their order, or of all others; frees `ranks`. */
static int choose(const sg_mpi_group *g, int *ranks, int n, bool chosen, MPI_Group *result)
{
    int size = (int)g->members->size, error = MPI_SUCCESS, used = 0;
    bool *taken = sg_mpi_new((size_t)size);
    sg_members *made = sg_members_new((uint32_t)size);
    for (int i = 0; i < n && error == MPI_SUCCESS; i++) {
        if (ranks[i] < 0 || ranks[i] >= size)
            error = sg_mpi_error(NULL, MPI_ERR_RANK, "rank %d is not one of the %d ranks of the group",
                                 ranks[i], size);
        else if (taken[ranks[i]])
            error = sg_mpi_error(NULL, MPI_ERR_RANK, "rank %d is listed twice", ranks[i]);
        else if (taken[ranks[i]] = true, chosen)
            made->world[used++] = g->members->world[ranks[i]];
    }
    for (int i = 0; i < size && !chosen; i++)
        if (!taken[i])
            made->world[used++] = g->members->world[i];
    sg_mpi_free(taken);
    sg_mpi_free(ranks);
    made->size = (uint32_t)used;
    if (error == MPI_SUCCESS)
        *result = sg_group_new(made);
    else
        sg_members_drop(made);
    return error;
}

static int of_list(MPI_Group group, int n, const int ranks[], bool chosen, MPI_Group *result)
{
    GROUP(g, group)
    if (n < 0)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the number of ranks is %d", n);
    return choose(g, sg_mpi_copy(ranks, (size_t)n * sizeof *ranks), n, chosen, result);
}

static int of_ranges(MPI_Group group, int n, int ranges[][3], bool chosen, MPI_Group *result)
{
    GROUP(g, group)
    int count = 0, room = (int)g->members->size + 1;
    int *ranks = sg_mpi_new((size_t)room * sizeof *ranks);
    for (int i = 0; i < n; i++) {
        int first = ranges[i][0], last = ranges[i][1], step = ranges[i][2];
        if (step == 0) {
            sg_mpi_free(ranks);
            return sg_mpi_error(NULL, MPI_ERR_ARG, "the stride of range %d is 0", i);
        }
        for (int r = first; step > 0 ? r <= last : r >= last; r += step) {
            if (count == room)
                ranks = sg_mpi_resize(ranks, (size_t)(room *= 2) * sizeof *ranks);
            ranks[count++] = r;
        }
    }
    return choose(g, ranks, count, chosen, result);
}

SG_API int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *result)
{
    SG_ENTER("Group_incl");
    SG_NEEDS(result)
    if (n > 0)
        SG_NEEDS(ranks)
    return of_list(group, n, ranks, true, result);
}

SG_API int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *result)
{
    SG_ENTER("Group_excl");
    SG_NEEDS(result)
    if (n > 0)
        SG_NEEDS(ranks)
    return of_list(group, n, ranks, false, result);
}

SG_API int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *result)
{
    SG_ENTER("Group_range_incl");
    SG_NEEDS(result)
    if (n > 0)
        SG_NEEDS(ranges)
    return of_ranges(group, n, ranges, true, result);
}

SG_API int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *result)
{
    SG_ENTER("Group_range_excl");
    SG_NEEDS(result)
    if (n > 0)
        SG_NEEDS(ranges)
    return of_ranges(group, n, ranges, false, result);
}

SG_API int PMPI_Group_free(MPI_Group *group)
{
    SG_ENTER("Group_free");
    SG_NEEDS(group)
    GROUP(g, *group)
    if (*group != MPI_GROUP_EMPTY) {
        sg_members_drop(g->members);
        sg_mpi_free((void *)(uintptr_t)g);
        sg_handle_free((uintptr_t)*group);
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

SG_MPI_NAME(Group_size)
SG_MPI_NAME(Group_rank)
SG_MPI_NAME(Group_compare)
SG_MPI_NAME(Group_translate_ranks)
SG_MPI_NAME(Group_union)
SG_MPI_NAME(Group_intersection)
SG_MPI_NAME(Group_difference)
SG_MPI_NAME(Group_incl)
SG_MPI_NAME(Group_excl)
SG_MPI_NAME(Group_range_incl)
SG_MPI_NAME(Group_range_excl)
SG_MPI_NAME(Group_free)

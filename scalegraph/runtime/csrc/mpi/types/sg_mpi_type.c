/* Datatype objects: bounds, contiguity, reference counts. */
#include "sg_mpi_type.h"

sg_type *sg_type_of(MPI_Datatype handle)
{
    sg_type *t = sg_type_predefined((uintptr_t)handle);
    return t != NULL ? t : sg_handle_get(SG_KIND_TYPE, (uintptr_t)handle);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How far a part's items extend before and behind its first item. */
static void reach(const sg_piece *part, int64_t *before, int64_t *behind)
{
    int64_t steps = (part->repeat - 1) * part->stride, items = (part->count - 1) * sg_type_extent(part->type);
    *before = smaller(0, steps) + smaller(0, items);
    *behind = larger(0, steps) + larger(0, items);
}

typedef struct bounds {
    bool any, any_data, fixed_lb, fixed_ub;
    int64_t lb, ub, fixed_low, fixed_high, true_lb, true_ub;
} bounds;

static void include(bounds *b, const sg_piece *part)
{
    const sg_type *t = part->type;
    int64_t before, behind;
    reach(part, &before, &behind);
    int64_t low = part->displacement + before, high = part->displacement + behind;
    if (t->fixed_lb)
        b->fixed_low = b->fixed_lb ? smaller(b->fixed_low, low + t->lb) : low + t->lb;
    if (t->fixed_ub)
        b->fixed_high = b->fixed_ub ? larger(b->fixed_high, high + t->ub) : high + t->ub;
    b->fixed_lb |= t->fixed_lb;
    b->fixed_ub |= t->fixed_ub;
    b->lb = b->any ? smaller(b->lb, low + t->lb) : low + t->lb;
    b->ub = b->any ? larger(b->ub, high + t->ub) : high + t->ub;
    b->any = true;
    if (t->size == 0)
        return;
    b->true_lb = b->any_data ? smaller(b->true_lb, low + t->true_lb) : low + t->true_lb;
    b->true_ub = b->any_data ? larger(b->true_ub, high + t->true_ub) : high + t->true_ub;
    b->any_data = true;
}

/* Is the data of all parts contiguous, in message order? */
static bool in_one_piece(const sg_type *t)
{
    bool first = true;
    int64_t end = 0;
    for (uint32_t i = 0; i < t->part_count; i++) {
        const sg_piece *part = &t->parts[i];
        const sg_type *of = part->type;
        int64_t run = part->count * of->size;
        if (run * part->repeat == 0)
            continue;
        if (!sg_type_flat(of, part->count) || (part->repeat > 1 && part->stride != run))
            return false;
        int64_t start = part->displacement + of->true_lb;
        if (!first && start != end)
            return false;
        first = false;
        end = start + run * part->repeat;
    }
    return true;
}

void sg_type_bounds(sg_type *t)
{
    bounds b = {0};
    t->size = t->elements = 0;
    t->alignment = 1;
    for (uint32_t i = 0; i < t->part_count; i++) {
        const sg_piece *part = &t->parts[i];
        int64_t items = part->repeat * part->count;
        t->size += items * part->type->size;
        t->elements += items * part->type->elements;
        if (items == 0)
            continue;
        if (part->type->alignment > t->alignment)
            t->alignment = part->type->alignment;
        include(&b, part);
    }
    t->true_lb = b.true_lb;
    t->true_ub = b.true_ub;
    t->fixed_lb = b.fixed_lb;
    t->fixed_ub = b.fixed_ub;
    t->lb = b.fixed_lb ? b.fixed_low : b.lb;
    t->ub = b.fixed_ub ? b.fixed_high : b.ub;
    t->dense = in_one_piece(t);
}

sg_type *sg_type_made(int combiner, const sg_piece *parts, uint32_t count)
{
    sg_type *t = sg_mpi_new(sizeof *t);
    t->combiner = combiner;
    t->parts = sg_mpi_copy(parts, count * sizeof *parts);
    t->part_count = count;
    t->references = 1;
    for (uint32_t i = 0; i < count; i++)
        sg_type_take(parts[i].type);
    sg_type_bounds(t);
    return t;
}

void sg_type_describe(sg_type *t, const int *integers, uint32_t integer_count, const MPI_Aint *addresses,
                      uint32_t address_count, sg_type *const *types, uint32_t type_count)
{
    t->integers = sg_mpi_copy(integers, integer_count * sizeof *integers);
    t->integer_count = integer_count;
    t->addresses = sg_mpi_copy(addresses, address_count * sizeof *addresses);
    t->address_count = address_count;
    t->types = sg_mpi_copy(types, type_count * sizeof(sg_type *));
    t->type_count = type_count;
    for (uint32_t i = 0; i < type_count; i++)
        sg_type_take(types[i]);
}

MPI_Datatype sg_type_handle(sg_type *t)
{
    return t->predefined ? (MPI_Datatype)(uintptr_t)t->number : (MPI_Datatype)sg_handle_new(SG_KIND_TYPE, t);
}

sg_type *sg_type_take(sg_type *t)
{
    if (!t->predefined)
        t->references++;
    return t;
}

void sg_type_drop(sg_type *t)
{
    if (t->predefined || --t->references > 0)
        return;
    for (uint32_t i = 0; i < t->part_count; i++)
        sg_type_drop(t->parts[i].type);
    for (uint32_t i = 0; i < t->type_count; i++)
        sg_type_drop(t->types[i]);
    sg_mpi_free(t->parts);
    sg_mpi_free(t->integers);
    sg_mpi_free(t->addresses);
    sg_mpi_free(t->types);
    sg_mpi_free(t->name);
    sg_mpi_free(t);
}

int sg_type_argument(sg_comm *comm, MPI_Datatype handle, int64_t count, sg_type **type)
{
    *type = sg_type_of(handle);
    if (*type == NULL && handle == MPI_DATATYPE_NULL)
        return sg_mpi_error(comm, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    if (*type == NULL)
        return sg_mpi_error(comm, MPI_ERR_TYPE, "the datatype %#llx does not exist (was it freed?)",
                            (unsigned long long)(uintptr_t)handle);
    if (!(*type)->committed)
        return sg_mpi_error(comm, MPI_ERR_TYPE, "the datatype was not committed with MPI_Type_commit");
    if (count < 0)
        return sg_mpi_error(comm, MPI_ERR_COUNT, "the count is %lld", (long long)count);
    return MPI_SUCCESS;
}

int sg_buffer_given(sg_comm *comm, const void *buffer, const sg_type *type)
{
    /* Types with absolute addresses are relative to MPI_BOTTOM, which is NULL too. */
    if ((uintptr_t)buffer + (uintptr_t)type->true_lb >= 4096)
        return MPI_SUCCESS;
    if (buffer == MPI_IN_PLACE)
        return sg_mpi_error(comm, MPI_ERR_BUFFER, "the buffer is MPI_IN_PLACE, which has no meaning here");
    return sg_mpi_error(comm, MPI_ERR_BUFFER, "the buffer is NULL, but the count is not 0");
}

int sg_buffer_argument(sg_comm *comm, const void *buffer, MPI_Datatype handle, int64_t count, sg_type **type)
{
    int error = sg_type_argument(comm, handle, count, type);
    if (error != MPI_SUCCESS || count * (*type)->size == 0)
        return error;
    return sg_buffer_given(comm, buffer, *type);
}

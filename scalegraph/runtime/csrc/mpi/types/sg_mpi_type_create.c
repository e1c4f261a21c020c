/* Datatypes that a program derives from others. */
#include "sg_mpi_type.h"

/* The type others are derived from; it need not be committed. */
static int inner(MPI_Datatype handle, sg_type **type)
{
    *type = sg_type_of(handle);
    if (*type == NULL)
        return sg_mpi_error(NULL, MPI_ERR_TYPE,
                            handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                        : "the datatype does not exist");
    return MPI_SUCCESS;
}

static int checked(int count, MPI_Datatype handle, sg_type **type)
{
    if (count < 0)
        return sg_mpi_error(NULL, MPI_ERR_COUNT, "the count is %d", count);
    return inner(handle, type);
}

static int made(sg_type *t, MPI_Datatype *result)
{
    *result = (MPI_Datatype)sg_handle_new(SG_KIND_TYPE, t);
    return MPI_SUCCESS;
}

/* Adds the trailing padding of a C struct. */
static void pad(sg_type *t)
{
    int64_t over = t->alignment > 0 ? sg_type_extent(t) % t->alignment : 0;
    if (!t->fixed_ub && over > 0)
        t->ub += t->alignment - over;
}

SG_API int PMPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype *result)
{
    SG_ENTER("Type_contiguous");
    SG_NEEDS(result)
    sg_type *of;
    int error = checked(count, old, &of);
    if (error != MPI_SUCCESS)
        return error;
    sg_type *t = sg_type_made(MPI_COMBINER_CONTIGUOUS, &(sg_piece){0, 1, 0, count, of}, 1);
    sg_type_describe(t, &count, 1, NULL, 0, &of, 1);
    return made(t, result);
}

SG_API int PMPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype *result)
{
    SG_ENTER("Type_vector");
    SG_NEEDS(result)
    sg_type *of;
    int error = checked(count < length ? count : length, old, &of);
    if (error != MPI_SUCCESS)
        return error;
    sg_piece piece = {0, count, stride * sg_type_extent(of), length, of};
    sg_type *t = sg_type_made(MPI_COMBINER_VECTOR, &piece, 1);
    sg_type_describe(t, (int[]){count, length, stride}, 3, NULL, 0, &of, 1);
    return made(t, result);
}

SG_API int PMPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old,
                                    MPI_Datatype *result)
{
    SG_ENTER("Type_create_hvector");
    SG_NEEDS(result)
    sg_type *of;
    int error = checked(count < length ? count : length, old, &of);
    if (error != MPI_SUCCESS)
        return error;
    sg_type *t = sg_type_made(MPI_COMBINER_HVECTOR, &(sg_piece){0, count, stride, length, of}, 1);
    sg_type_describe(t, (int[]){count, length}, 2, &stride, 1, &of, 1);
    return made(t, result);
}

/* ---- lists of blocks ---- */

/* Integers that describe a list: its count, then up to two lists. */
static int *integers_of(int count, const int *one, int one_count, const int *other, int other_count)
{
    int *list = sg_mpi_new((size_t)(1 + one_count + other_count) * sizeof *list);
    list[0] = count;
    for (int i = 0; i < one_count; i++)
        list[1 + i] = one[i];
    for (int i = 0; i < other_count; i++)
        list[1 + one_count + i] = other[i];
    return list;
}

/* Blocks of `lengths` items (NULL: all of `length`), at `places` in extents or at `addresses` in bytes. */
static int blocks(int combiner, int count, int length, const int lengths[], const int places[],
                  const MPI_Aint addresses[], MPI_Datatype old, MPI_Datatype *result)
{
    sg_type *of;
    int error = checked(count, old, &of);
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        if ((lengths != NULL ? lengths[i] : length) < 0)
            error = sg_mpi_error(NULL, MPI_ERR_ARG, "the length of block %d is negative", i);
    if (error != MPI_SUCCESS)
        return error;
    sg_piece *pieces = sg_mpi_new((size_t)count * sizeof *pieces);
    for (int i = 0; i < count; i++) {
        int64_t at = addresses != NULL ? addresses[i] : places[i] * sg_type_extent(of);
        pieces[i] = (sg_piece){at, 1, 0, lengths != NULL ? lengths[i] : length, of};
    }
    sg_type *t = sg_type_made(combiner, pieces, (uint32_t)count);
    int one = lengths != NULL ? count : 1, other = places != NULL ? count : 0;
    int *integers = integers_of(count, lengths != NULL ? lengths : &length, one, places, other);
    sg_type_describe(t, integers, (uint32_t)(1 + one + other), addresses,
                     addresses != NULL ? (uint32_t)count : 0, &of, 1);
    sg_mpi_free(integers);
    sg_mpi_free(pieces);
    return made(t, result);
}

SG_API int PMPI_Type_indexed(int count, const int lengths[], const int places[], MPI_Datatype old,
                             MPI_Datatype *result)
{
    SG_ENTER("Type_indexed");
    SG_NEEDS(result)
    if (count > 0)
        SG_NEEDS(lengths, places)
    return blocks(MPI_COMBINER_INDEXED, count, 0, lengths, places, NULL, old, result);
}

SG_API int PMPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint addresses[],
                                     MPI_Datatype old, MPI_Datatype *result)
{
    SG_ENTER("Type_create_hindexed");
    SG_NEEDS(result)
    if (count > 0)
        SG_NEEDS(lengths, addresses)
    return blocks(MPI_COMBINER_HINDEXED, count, 0, lengths, NULL, addresses, old, result);
}

SG_API int PMPI_Type_create_indexed_block(int count, int length, const int places[], MPI_Datatype old,
                                          MPI_Datatype *result)
{
    SG_ENTER("Type_create_indexed_block");
    SG_NEEDS(result)
    if (count > 0)
        SG_NEEDS(places)
    return blocks(MPI_COMBINER_INDEXED_BLOCK, count, length, NULL, places, NULL, old, result);
}

SG_API int PMPI_Type_create_hindexed_block(int count, int length, const MPI_Aint addresses[],
                                           MPI_Datatype old, MPI_Datatype *result)
{
    SG_ENTER("Type_create_hindexed_block");
    SG_NEEDS(result)
    if (count > 0)
        SG_NEEDS(addresses)
    return blocks(MPI_COMBINER_HINDEXED_BLOCK, count, length, NULL, NULL, addresses, old, result);
}

SG_API int PMPI_Type_create_struct(int count, const int lengths[], const MPI_Aint addresses[],
                                   const MPI_Datatype types[], MPI_Datatype *result)
{
    SG_ENTER("Type_create_struct");
    SG_NEEDS(result)
    if (count > 0)
        SG_NEEDS(lengths, addresses, types)
    if (count < 0)
        return sg_mpi_error(NULL, MPI_ERR_COUNT, "the count is %d", count);
    sg_piece *pieces = sg_mpi_new((size_t)count * sizeof *pieces);
    sg_type **of = sg_mpi_new((size_t)count * sizeof(sg_type *));
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        error = checked(lengths[i], types[i], &of[i]);
        pieces[i] = (sg_piece){addresses[i], 1, 0, lengths[i], of[i]};
    }
    if (error == MPI_SUCCESS) {
        sg_type *t = sg_type_made(MPI_COMBINER_STRUCT, pieces, (uint32_t)count);
        pad(t);
        int *integers = integers_of(count, lengths, count, NULL, 0);
        sg_type_describe(t, integers, (uint32_t)count + 1, addresses, (uint32_t)count, of, (uint32_t)count);
        sg_mpi_free(integers);
        error = made(t, result);
    }
    sg_mpi_free(pieces);
    sg_mpi_free(of);
    return error;
}

/* ---- resizing, duplicates ---- */

SG_API int PMPI_Type_create_resized(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *result)
{
    SG_ENTER("Type_create_resized");
    SG_NEEDS(result)
    sg_type *of;
    int error = inner(old, &of);
    if (error != MPI_SUCCESS)
        return error;
    sg_type *t = sg_type_made(MPI_COMBINER_RESIZED, &(sg_piece){0, 1, 0, 1, of}, 1);
    t->lb = lb;
    t->ub = lb + extent;
    t->fixed_lb = t->fixed_ub = true;
    sg_type_describe(t, NULL, 0, (MPI_Aint[]){lb, extent}, 2, &of, 1);
    return made(t, result);
}

SG_API int PMPI_Type_dup(MPI_Datatype old, MPI_Datatype *result)
{
    SG_ENTER("Type_dup");
    SG_NEEDS(result)
    sg_type *of;
    int error = inner(old, &of);
    if (error != MPI_SUCCESS)
        return error;
    sg_type *t = sg_type_made(MPI_COMBINER_DUP, &(sg_piece){0, 1, 0, 1, of}, 1);
    t->lb = of->lb;
    t->ub = of->ub;
    t->fixed_lb = of->fixed_lb;
    t->fixed_ub = of->fixed_ub;
    t->committed = of->committed;
    sg_type_describe(t, NULL, 0, NULL, 0, &of, 1);
    error = sg_attributes_copy(SG_KIND_TYPE, (uintptr_t)old, *sg_type_attributes(of), &t->attributes);
    return error != MPI_SUCCESS ? error : made(t, result);
}

SG_API int PMPI_Type_commit(MPI_Datatype *type)
{
    SG_ENTER("Type_commit");
    SG_NEEDS(type)
    sg_type *t;
    int error = inner(*type, &t);
    if (error == MPI_SUCCESS)
        t->committed = true;
    return error;
}

SG_API int PMPI_Type_free(MPI_Datatype *type)
{
    SG_ENTER("Type_free");
    SG_NEEDS(type)
    sg_type *t;
    int error = inner(*type, &t);
    if (error != MPI_SUCCESS)
        return error;
    if (t->predefined)
        return sg_mpi_error(NULL, MPI_ERR_TYPE, "the predefined datatype %s cannot be freed", t->label);
    error = sg_attributes_delete(SG_KIND_TYPE, (uintptr_t)*type, &t->attributes);
    if (error != MPI_SUCCESS)
        return error;
    sg_handle_free((uintptr_t)*type);
    sg_type_drop(t);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

SG_MPI_NAME(Type_contiguous)
SG_MPI_NAME(Type_vector)
SG_MPI_NAME(Type_create_hvector)
SG_MPI_NAME(Type_indexed)
SG_MPI_NAME(Type_create_hindexed)
SG_MPI_NAME(Type_create_indexed_block)
SG_MPI_NAME(Type_create_hindexed_block)
SG_MPI_NAME(Type_create_struct)
SG_MPI_NAME(Type_create_resized)
SG_MPI_NAME(Type_dup)
SG_MPI_NAME(Type_commit)
SG_MPI_NAME(Type_free)

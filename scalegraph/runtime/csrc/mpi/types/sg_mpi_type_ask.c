/* Queries about datatypes: sizes, bounds, contents, names, attributes. */
#include <stdio.h>

#include "sg_mpi_type.h"

#define TYPE(t, handle)                                                                                      \
    sg_type *t = sg_type_of(handle);                                                                         \
    if (t == NULL)                                                                                           \
        return sg_mpi_error(NULL, MPI_ERR_TYPE, "the datatype does not exist");

static bool fits(int64_t value, size_t bytes)
{
    return bytes == sizeof value || value <= INT32_MAX;
}

#define SIZE(name, number)                                                                                   \
    SG_API int PMPI_##name(MPI_Datatype type, number *size)                                                  \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        SG_NEEDS(size)                                                                                       \
        TYPE(t, type)                                                                                        \
        *size = fits(t->size, sizeof *size) ? (number)t->size : MPI_UNDEFINED;                               \
        return MPI_SUCCESS;                                                                                  \
    }                                                                                                        \
    SG_MPI_NAME(name)

#define BOUNDS(name, number, low, high)                                                                      \
    SG_API int PMPI_##name(MPI_Datatype type, number *lb, number *extent)                                    \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        SG_NEEDS(lb, extent)                                                                                 \
        TYPE(t, type)                                                                                        \
        *lb = t->low;                                                                                        \
        *extent = t->high - t->low;                                                                          \
        return MPI_SUCCESS;                                                                                  \
    }                                                                                                        \
    SG_MPI_NAME(name)

SIZE(Type_size, int)
SIZE(Type_size_x, MPI_Count)
BOUNDS(Type_get_extent, MPI_Aint, lb, ub)
BOUNDS(Type_get_extent_x, MPI_Count, lb, ub)
BOUNDS(Type_get_true_extent, MPI_Aint, true_lb, true_ub)
BOUNDS(Type_get_true_extent_x, MPI_Count, true_lb, true_ub)

SG_API int PMPI_Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)
{
    SG_ENTER("Type_get_envelope");
    SG_NEEDS(integers, addresses, types, combiner)
    TYPE(t, type)
    *integers = (int)t->integer_count;
    *addresses = (int)t->address_count;
    *types = (int)t->type_count;
    *combiner = t->combiner;
    return MPI_SUCCESS;
}

SG_API int PMPI_Type_get_contents(MPI_Datatype type, int integer_room, int address_room, int type_room,
                                  int integers[], MPI_Aint addresses[], MPI_Datatype types[])
{
    SG_ENTER("Type_get_contents");
    TYPE(t, type)
    if (t->combiner == MPI_COMBINER_NAMED)
        return sg_mpi_error(NULL, MPI_ERR_TYPE, "the predefined datatype %s has no contents", t->label);
    if (integer_room < (int)t->integer_count || address_room < (int)t->address_count ||
        type_room < (int)t->type_count)
        return sg_mpi_error(NULL, MPI_ERR_ARG,
                            "there is room for %d integers, %d addresses and %d types; %u, %u and "
                            "%u are needed",
                            integer_room, address_room, type_room, t->integer_count, t->address_count,
                            t->type_count);
    for (uint32_t i = 0; i < t->integer_count; i++)
        integers[i] = t->integers[i];
    for (uint32_t i = 0; i < t->address_count; i++)
        addresses[i] = t->addresses[i];
    for (uint32_t i = 0; i < t->type_count; i++)
        types[i] = sg_type_handle(sg_type_take(t->types[i]));
    return MPI_SUCCESS;
}

/* ---- names ---- */

/* Predefined types are shared by all ranks: this holds one rank's names and attributes for them. */
static sg_own_type *own(const sg_type *t)
{
    struct sg_mpi *m = sg_mpi_self();
    if (m->own_types == NULL)
        m->own_types = sg_mpi_new(256 * sizeof *m->own_types);
    return &m->own_types[t->number & 0xff];
}

SG_API int PMPI_Type_set_name(MPI_Datatype type, const char *name)
{
    SG_ENTER("Type_set_name");
    SG_NEEDS(name)
    TYPE(t, type)
    char **place = t->predefined ? &own(t)->name : &t->name;
    sg_mpi_free(*place);
    *place = sg_mpi_string(name);
    return MPI_SUCCESS;
}

SG_API int PMPI_Type_get_name(MPI_Datatype type, char *name, int *length)
{
    SG_ENTER("Type_get_name");
    SG_NEEDS(name, length)
    if (type == MPI_DATATYPE_NULL) {
        *length = snprintf(name, MPI_MAX_OBJECT_NAME, "MPI_DATATYPE_NULL");
        return MPI_SUCCESS;
    }
    TYPE(t, type)
    const char *known = t->predefined ? own(t)->name : t->name;
    if (known == NULL)
        known = t->label != NULL ? t->label : "";
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", known);
    return MPI_SUCCESS;
}

/* ---- attributes ---- */

sg_attribute **sg_type_attributes(sg_type *t)
{
    return t->predefined ? &own(t)->attributes : &t->attributes;
}

SG_API int PMPI_Type_set_attr(MPI_Datatype type, int key, void *value)
{
    bool fortran = sg_fortran_calls();
    SG_ENTER("Type_set_attr");
    TYPE(t, type)
    return sg_attribute_set(SG_KIND_TYPE, (uintptr_t)type, sg_type_attributes(t), key, value, fortran);
}

SG_API int PMPI_Type_get_attr(MPI_Datatype type, int key, void *value, int *flag)
{
    bool fortran = sg_fortran_calls();
    SG_ENTER("Type_get_attr");
    SG_NEEDS(flag)
    TYPE(t, type)
    return sg_attribute_get(SG_KIND_TYPE, *sg_type_attributes(t), key, value, flag, fortran);
}

SG_API int PMPI_Type_delete_attr(MPI_Datatype type, int key)
{
    SG_ENTER("Type_delete_attr");
    TYPE(t, type)
    return sg_attribute_delete(SG_KIND_TYPE, (uintptr_t)type, sg_type_attributes(t), key);
}

SG_MPI_NAME(Type_get_envelope)
SG_MPI_NAME(Type_get_contents)
SG_MPI_NAME(Type_set_name)
SG_MPI_NAME(Type_get_name)
SG_MPI_NAME(Type_set_attr)
SG_MPI_NAME(Type_get_attr)
SG_MPI_NAME(Type_delete_attr)

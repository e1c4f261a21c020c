/* Packing by the program: in our own form, the same as in messages, and in external32. */
#include "sg_mpi_comm.h"
#include "sg_mpi_external.h"

static int into(sg_comm *c, MPI_Datatype type, int count, const void *from, void *to, int64_t room,
                int64_t *at)
{
    sg_type *t;
    int error = sg_buffer_argument(c, from, type, count, &t);
    if (error == MPI_SUCCESS && count * t->size > 0 && to == NULL)
        error = sg_mpi_error(c, MPI_ERR_BUFFER, "the buffer to pack into is NULL");
    if (error != MPI_SUCCESS)
        return error;
    if (*at < 0 || *at + count * t->size > room)
        return sg_mpi_error(c, MPI_ERR_TRUNCATE,
                            "%lld bytes at position %lld do not fit into a buffer of %lld bytes",
                            (long long)(count * t->size), (long long)*at, (long long)room);
    sg_type_pack(from, count, t, (char *)to + *at);
    *at += count * t->size;
    return MPI_SUCCESS;
}

SG_API int PMPI_Pack(const void *from, int count, MPI_Datatype type, void *to, int room, int *position,
                     MPI_Comm comm)
{
    SG_ENTER("Pack");
    SG_NEEDS(position)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int64_t at = *position;
    int error = into(c, type, count, from, to, room, &at);
    *position = (int)at;
    return error;
}

SG_API int PMPI_Unpack(const void *from, int size, int *position, void *to, int count, MPI_Datatype type,
                       MPI_Comm comm)
{
    SG_ENTER("Unpack");
    SG_NEEDS(position)
    sg_comm *c = sg_comm_of(comm);
    sg_type *t;
    if (c == NULL)
        return sg_comm_missing(comm);
    int error = sg_buffer_argument(c, to, type, count, &t);
    if (error == MPI_SUCCESS && count * t->size > 0 && from == NULL)
        error = sg_mpi_error(c, MPI_ERR_BUFFER, "the buffer to unpack from is NULL");
    if (error != MPI_SUCCESS)
        return error;
    if (*position < 0 || *position + count * t->size > size)
        return sg_mpi_error(c, MPI_ERR_TRUNCATE, "%lld bytes at position %d are not in a buffer of %d bytes",
                            (long long)(count * t->size), *position, size);
    sg_type_unpack((const char *)from + *position, (size_t)(count * t->size), to, count, t);
    *position += (int)(count * t->size);
    return MPI_SUCCESS;
}

SG_API int PMPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *size)
{
    SG_ENTER("Pack_size");
    SG_NEEDS(size)
    sg_comm *c = sg_comm_of(comm);
    sg_type *t;
    if (c == NULL)
        return sg_comm_missing(comm);
    int error = sg_type_argument(c, type, count, &t);
    if (error == MPI_SUCCESS)
        *size = (int)(count * t->size);
    return error;
}

/* ---- external32 ---- */

typedef struct cursor {
    char *packed;
    bool out; /* out: from memory */
    int64_t size;
} cursor;

/* Size of one number; in complex types, half of the element. */
static unsigned width(const sg_type *basic)
{
    bool complex = basic->class >= SG_CLASS_COMPLEX_FLOAT && basic->class <= SG_CLASS_COMPLEX_QUAD;
    return (unsigned)basic->size / (complex || basic->number == 0x2d3 ? 2 : 1);
}

static void measure(const sg_type *basic, char *at, void *context)
{
    (void)at;
    ((cursor *)context)->size += basic->external;
}

static void convert(const sg_type *basic, char *at, void *context)
{
    cursor *c = context;
    unsigned wide = width(basic), outside = basic->external == basic->size ? wide : basic->external;
    for (unsigned part = 0; part < basic->size / wide; part++, at += wide, c->packed += outside)
        for (unsigned i = 0; i < (c->out ? outside : wide); i++) { /* byte i from the low end */
            if (c->out)
                c->packed[outside - 1 - i] = at[i];
            else if (i < outside)
                at[i] = c->packed[outside - 1 - i];
            else
                at[i] = basic->class == SG_CLASS_I64 && c->packed[0] < 0 ? -1 : 0;
        }
}

int64_t sg_type_external_size(const sg_type *t)
{
    cursor c = {NULL, true, 0};
    sg_type_visit(t, NULL, 1, measure, &c);
    return c.size;
}

static void convert_all(const sg_type *t, const void *memory, int64_t count, const void *packed, bool out)
{
    cursor c = {(char *)(uintptr_t)packed, out, 0};
    sg_type_visit(t, (char *)(uintptr_t)memory, count, convert, &c);
    sg_mpi_charge_pack((uint64_t)(c.packed - (const char *)packed), (uint64_t)(count * t->elements));
}

void sg_type_to_external(const sg_type *t, const void *memory, int64_t count, void *packed)
{
    convert_all(t, memory, count, packed, true);
}

void sg_type_from_external(const sg_type *t, const void *packed, int64_t count, void *memory)
{
    convert_all(t, memory, count, packed, false);
}

static int external(const char *form, MPI_Datatype type, int count, const void *memory, const void *packed,
                    int64_t room, MPI_Aint *position, bool out)
{
    SG_NEEDS(form)
    sg_type *t;
    int error = packed != NULL ? sg_buffer_argument(NULL, memory, type, count, &t)
                               : sg_type_argument(NULL, type, count, &t);
    if (error != MPI_SUCCESS)
        return error;
    if (strcmp(form, "external32") != 0)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the data representation '%s' is not external32", form);
    int64_t size = count * sg_type_external_size(t);
    if (packed == NULL) {
        *position = size;
        return MPI_SUCCESS;
    }
    if (*position < 0 || *position + size > room)
        return sg_mpi_error(NULL, MPI_ERR_TRUNCATE,
                            "%lld bytes at position %lld are more than the buffer's %lld bytes",
                            (long long)size, (long long)*position, (long long)room);
    convert_all(t, memory, count, (const char *)packed + *position, out);
    *position += size;
    return MPI_SUCCESS;
}

SG_API int PMPI_Pack_external(const char form[], const void *from, int count, MPI_Datatype type, void *to,
                              MPI_Aint room, MPI_Aint *position)
{
    SG_ENTER("Pack_external");
    SG_NEEDS(position)
    if (to == NULL)
        return sg_mpi_error(NULL, MPI_ERR_BUFFER, "the packed buffer is NULL");
    return external(form, type, count, from, to, room, position, true);
}

SG_API int PMPI_Unpack_external(const char form[], const void *from, MPI_Aint size, MPI_Aint *position,
                                void *to, int count, MPI_Datatype type)
{
    SG_ENTER("Unpack_external");
    SG_NEEDS(position)
    if (from == NULL)
        return sg_mpi_error(NULL, MPI_ERR_BUFFER, "the packed buffer is NULL");
    return external(form, type, count, to, from, size, position, false);
}

SG_API int PMPI_Pack_external_size(const char form[], int count, MPI_Datatype type, MPI_Aint *size)
{
    SG_ENTER("Pack_external_size");
    SG_NEEDS(size)
    return external(form, type, count, NULL, NULL, 0, size, true);
}

SG_MPI_NAME(Pack)
SG_MPI_NAME(Unpack)
SG_MPI_NAME(Pack_size)
SG_MPI_NAME(Pack_external)
SG_MPI_NAME(Unpack_external)
SG_MPI_NAME(Pack_external_size)

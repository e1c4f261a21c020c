/* Statuses: what a receive got. */
#include "sg_mpi_request.h"

enum { LOW, HIGH, CANCELLED };

void sg_status_set(MPI_Status *status, int source, int tag, int64_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_internal[LOW] = (int)(uint32_t)bytes;
    status->MPI_internal[HIGH] = (int)(bytes >> 32);
    status->MPI_internal[CANCELLED] = cancelled;
}

void sg_status_none(MPI_Status *status, int source)
{
    sg_status_set(status, source, MPI_ANY_TAG, 0, false);
}

void sg_status_empty(MPI_Status *status, int source)
{
    sg_status_set(status, source, MPI_ANY_TAG, 0, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

int64_t sg_status_bytes(const MPI_Status *status)
{
    return (int64_t)status->MPI_internal[HIGH] << 32 | (uint32_t)status->MPI_internal[LOW];
}

/* Whole items in the received message; MPI_UNDEFINED: it ends within an item. */
static int64_t items(const MPI_Status *status, const sg_type *t)
{
    int64_t bytes = sg_status_bytes(status);
    if (t->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    return bytes % t->size == 0 ? bytes / t->size : MPI_UNDEFINED;
}

static int64_t elements(const MPI_Status *status, const sg_type *t)
{
    int64_t bytes = sg_status_bytes(status);
    if (t->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    int64_t rest = sg_type_elements(t, bytes % t->size);
    return rest < 0 ? MPI_UNDEFINED : bytes / t->size * t->elements + rest;
}

#define COUNTED(name, result, counted)                                                                       \
    SG_API int PMPI_##name(const MPI_Status *status, MPI_Datatype type, result *count)                       \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        SG_NEEDS(status, count)                                                                              \
        sg_type *t;                                                                                          \
        int error = sg_type_argument(NULL, type, 0, &t);                                                     \
        if (error != MPI_SUCCESS)                                                                            \
            return error;                                                                                    \
        int64_t n = counted(status, t);                                                                      \
        *count = sizeof *count == sizeof n || n <= INT32_MAX ? (result)n : MPI_UNDEFINED;                    \
        return MPI_SUCCESS;                                                                                  \
    }                                                                                                        \
    SG_MPI_NAME(name)

COUNTED(Get_count, int, items)
COUNTED(Get_elements, int, elements)
COUNTED(Get_elements_x, MPI_Count, elements)

/* Size in bytes of the first `elements` basic elements. */
static int64_t bytes_of(const sg_type *t, int64_t elements)
{
    if (t->elements == 0 || elements <= 0)
        return 0;
    int64_t bytes = elements / t->elements * t->size, rest = elements % t->elements;
    for (uint32_t i = 0; rest > 0 && i < t->part_count; i++) {
        const sg_piece *part = &t->parts[i];
        int64_t all = part->repeat * part->count * part->type->elements, own = rest < all ? rest : all;
        bytes += bytes_of(part->type, own);
        rest -= own;
    }
    return bytes;
}

#define SET_ELEMENTS(name, number)                                                                           \
    SG_API int PMPI_##name(MPI_Status *status, MPI_Datatype type, number count)                              \
    {                                                                                                        \
        SG_ENTER(#name);                                                                                     \
        SG_NEEDS(status)                                                                                     \
        sg_type *t;                                                                                          \
        int error = sg_type_argument(NULL, type, count, &t);                                                 \
        if (error == MPI_SUCCESS)                                                                            \
            sg_status_set(status, status->MPI_SOURCE, status->MPI_TAG, bytes_of(t, count),                   \
                          status->MPI_internal[CANCELLED]);                                                  \
        return error;                                                                                        \
    }                                                                                                        \
    SG_MPI_NAME(name)

SET_ELEMENTS(Status_set_elements, int)
SET_ELEMENTS(Status_set_elements_x, MPI_Count)

SG_API int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    SG_ENTER("Status_set_cancelled");
    SG_NEEDS(status)
    status->MPI_internal[CANCELLED] = flag != 0;
    return MPI_SUCCESS;
}

SG_API int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    SG_ENTER("Test_cancelled");
    SG_NEEDS(status, flag)
    *flag = status->MPI_internal[CANCELLED] != 0;
    return MPI_SUCCESS;
}

SG_API int PMPI_Status_c2f(const MPI_Status *status, MPI_Fint *words)
{
    memcpy(words, status, sizeof *status);
    return MPI_SUCCESS;
}

SG_API int PMPI_Status_f2c(const MPI_Fint *words, MPI_Status *status)
{
    memcpy(status, words, sizeof *status);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Status_set_cancelled)
SG_MPI_NAME(Test_cancelled)
SG_MPI_NAME(Status_c2f)
SG_MPI_NAME(Status_f2c)

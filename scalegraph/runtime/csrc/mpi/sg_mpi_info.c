/* Info objects: strings by key, in the order they were set. */
#include <stdio.h>

#include "sg_mpi.h"

typedef struct item {
    char *key, *value;
} item;

typedef struct info {
    uint32_t count;
    item *items;
} info;

static info *info_of(MPI_Info handle)
{
    return sg_handle_get(SG_KIND_INFO, (uintptr_t)handle);
}

static int missing(MPI_Info handle)
{
    return sg_mpi_error(NULL, MPI_ERR_INFO,
                        handle == MPI_INFO_NULL ? "the info object is MPI_INFO_NULL"
                                                : "the info object does not exist");
}

int sg_info_argument(MPI_Info handle)
{
    return handle == MPI_INFO_NULL || info_of(handle) != NULL ? MPI_SUCCESS : missing(handle);
}

static item *find(const info *of, const char *key)
{
    for (uint32_t i = 0; i < of->count; i++)
        if (strcmp(of->items[i].key, key) == 0)
            return &of->items[i];
    return NULL;
}

static void set(info *of, const char *key, const char *value)
{
    item *known = find(of, key);
    if (known == NULL) {
        of->items = sg_mpi_resize(of->items, (of->count + 1) * sizeof *of->items);
        known = &of->items[of->count++];
        *known = (item){sg_mpi_string(key), NULL};
    }
    sg_mpi_free(known->value);
    known->value = sg_mpi_string(value);
}

MPI_Info sg_info_copy(MPI_Info handle)
{
    info *copy = sg_mpi_new(sizeof *copy);
    const info *of = info_of(handle);
    for (uint32_t i = 0; of != NULL && i < of->count; i++)
        set(copy, of->items[i].key, of->items[i].value);
    return (MPI_Info)sg_handle_new(SG_KIND_INFO, copy);
}

const char *sg_info_value(MPI_Info handle, const char *key)
{
    const info *of = info_of(handle);
    const item *known = of != NULL ? find(of, key) : NULL;
    return known != NULL ? known->value : NULL;
}

void sg_info_free(MPI_Info handle)
{
    info *of = info_of(handle);
    if (of == NULL)
        return;
    for (uint32_t i = 0; i < of->count; i++) {
        sg_mpi_free(of->items[i].key);
        sg_mpi_free(of->items[i].value);
    }
    sg_mpi_free(of->items);
    sg_mpi_free(of);
    sg_handle_free((uintptr_t)handle);
}

void sg_info_merge(MPI_Info *handle, MPI_Info more)
{
    if (info_of(*handle) == NULL)
        *handle = sg_info_copy(MPI_INFO_NULL);
    info *of = info_of(*handle);
    const info *added = info_of(more);
    for (uint32_t i = 0; added != NULL && i < added->count; i++)
        set(of, added->items[i].key, added->items[i].value);
}

#define KEY(key)                                                                                             \
    if ((key) == NULL)                                                                                       \
        return sg_mpi_error(NULL, MPI_ERR_INFO_KEY, "the key is a null pointer");
#define INFO(name, handle)                                                                                   \
    info *name = info_of(handle);                                                                            \
    if (name == NULL)                                                                                        \
        return missing(handle);

SG_API int PMPI_Info_create(MPI_Info *handle)
{
    SG_ENTER("Info_create");
    SG_NEEDS(handle)
    *handle = sg_info_copy(MPI_INFO_NULL);
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_dup(MPI_Info handle, MPI_Info *copy)
{
    SG_ENTER("Info_dup");
    SG_NEEDS(copy)
    if (handle != MPI_INFO_ENV && info_of(handle) == NULL)
        return missing(handle);
    *copy = sg_info_copy(handle);
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_free(MPI_Info *handle)
{
    SG_ENTER("Info_free");
    SG_NEEDS(handle)
    INFO(of, *handle)(void) of;
    sg_info_free(*handle);
    *handle = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_set(MPI_Info handle, const char *key, const char *value)
{
    SG_ENTER("Info_set");
    INFO(of, handle)
    if (key == NULL || key[0] == 0 || strlen(key) >= MPI_MAX_INFO_KEY)
        return sg_mpi_error(NULL, MPI_ERR_INFO_KEY, "the key is empty or longer than %d characters",
                            MPI_MAX_INFO_KEY - 1);
    if (value == NULL || strlen(value) >= MPI_MAX_INFO_VAL)
        return sg_mpi_error(NULL, MPI_ERR_INFO_VALUE,
                            "the value of '%s' is missing or longer than %d characters", key,
                            MPI_MAX_INFO_VAL - 1);
    set(of, key, value);
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_delete(MPI_Info handle, const char *key)
{
    SG_ENTER("Info_delete");
    KEY(key)
    INFO(of, handle)
    item *known = find(of, key);
    if (known == NULL)
        return sg_mpi_error(NULL, MPI_ERR_INFO_NOKEY, "the info object has no key '%s'", key);
    sg_mpi_free(known->key);
    sg_mpi_free(known->value);
    uint32_t at = (uint32_t)(known - of->items);
    memmove(known, known + 1, (--of->count - at) * sizeof *known);
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_get(MPI_Info handle, const char *key, int room, char *value, int *flag)
{
    SG_ENTER("Info_get");
    SG_NEEDS(value, flag)
    KEY(key)
    const char *known = sg_info_value(handle, key);
    if (handle != MPI_INFO_ENV && info_of(handle) == NULL)
        return missing(handle);
    *flag = known != NULL;
    if (known != NULL)
        snprintf(value, (size_t)room + 1, "%s", known);
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_get_string(MPI_Info handle, const char *key, int *room, char *value, int *flag)
{
    SG_ENTER("Info_get_string");
    SG_NEEDS(room, value, flag)
    KEY(key)
    const char *known = sg_info_value(handle, key);
    if (handle != MPI_INFO_ENV && info_of(handle) == NULL)
        return missing(handle);
    *flag = known != NULL;
    if (known == NULL)
        return MPI_SUCCESS;
    if (*room > 0)
        snprintf(value, (size_t)*room, "%s", known);
    *room = (int)strlen(known) + 1;
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_get_valuelen(MPI_Info handle, const char *key, int *length, int *flag)
{
    SG_ENTER("Info_get_valuelen");
    SG_NEEDS(length, flag)
    KEY(key)
    const char *known = sg_info_value(handle, key);
    if (handle != MPI_INFO_ENV && info_of(handle) == NULL)
        return missing(handle);
    *flag = known != NULL;
    if (known != NULL)
        *length = (int)strlen(known);
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_get_nkeys(MPI_Info handle, int *count)
{
    SG_ENTER("Info_get_nkeys");
    SG_NEEDS(count)
    const info *of = info_of(handle);
    if (handle != MPI_INFO_ENV && of == NULL)
        return missing(handle);
    *count = of != NULL ? (int)of->count : 0;
    return MPI_SUCCESS;
}

SG_API int PMPI_Info_get_nthkey(MPI_Info handle, int n, char *key)
{
    SG_ENTER("Info_get_nthkey");
    SG_NEEDS(key)
    INFO(of, handle)
    if (n < 0 || n >= (int)of->count)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "the info object has %u keys, and no number %d", of->count, n);
    snprintf(key, MPI_MAX_INFO_KEY, "%s", of->items[n].key);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Info_create)
SG_MPI_NAME(Info_dup)
SG_MPI_NAME(Info_free)
SG_MPI_NAME(Info_set)
SG_MPI_NAME(Info_delete)
SG_MPI_NAME(Info_get)
SG_MPI_NAME(Info_get_string)
SG_MPI_NAME(Info_get_valuelen)
SG_MPI_NAME(Info_get_nkeys)
SG_MPI_NAME(Info_get_nthkey)

/* Queries and settings of a window: attributes, name, hints, group, error handler. */
#include <stdio.h>

#include "sg_mpi_window.h"

/* The predefined attributes of every window. */
static void *predefined(sg_window *w, int key)
{
    switch (key) {
    case MPI_WIN_BASE:
        return w->all->of[w->comm->rank].base;
    case MPI_WIN_SIZE:
        return &w->size;
    case MPI_WIN_DISP_UNIT:
        return &w->unit;
    case MPI_WIN_CREATE_FLAVOR:
        return &w->flavor;
    default:
        return &w->model;
    }
}

static bool is_predefined(int key)
{
    return key >= MPI_WIN_BASE && key <= MPI_WIN_MODEL;
}

SG_API int PMPI_Win_get_attr(MPI_Win win, int key, void *value, int *flag)
{
    bool fortran = sg_fortran_calls();
    SG_ENTER("Win_get_attr");
    SG_NEEDS(flag)
    SG_WINDOW(w, win)
    if (!is_predefined(key))
        return sg_attribute_get(SG_KIND_WINDOW, w->attributes, key, value, flag, fortran);
    *flag = 1;
    *(void **)value = predefined(w, key);
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_set_attr(MPI_Win win, int key, void *value)
{
    bool fortran = sg_fortran_calls();
    SG_ENTER("Win_set_attr");
    SG_WINDOW(w, win)
    if (is_predefined(key))
        return sg_window_error(w, MPI_ERR_KEYVAL, "the attribute %d is one of MPI's own", key);
    return sg_attribute_set(SG_KIND_WINDOW, w->handle, &w->attributes, key, value, fortran);
}

SG_API int PMPI_Win_delete_attr(MPI_Win win, int key)
{
    SG_ENTER("Win_delete_attr");
    SG_WINDOW(w, win)
    if (is_predefined(key))
        return sg_window_error(w, MPI_ERR_KEYVAL, "the attribute %d is one of MPI's own", key);
    return sg_attribute_delete(SG_KIND_WINDOW, w->handle, &w->attributes, key);
}

SG_API int PMPI_Win_set_name(MPI_Win win, const char *name)
{
    SG_ENTER("Win_set_name");
    SG_NEEDS(name)
    SG_WINDOW(w, win)
    snprintf(w->name, sizeof w->name, "%s", name);
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_get_name(MPI_Win win, char *name, int *length)
{
    SG_ENTER("Win_get_name");
    SG_NEEDS(name, length)
    if (win == MPI_WIN_NULL) {
        *length = snprintf(name, MPI_MAX_OBJECT_NAME, "MPI_WIN_NULL");
        return MPI_SUCCESS;
    }
    SG_WINDOW(w, win)
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", w->name);
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    SG_ENTER("Win_get_group");
    SG_NEEDS(group)
    SG_WINDOW(w, win)
    *group = sg_group_new(sg_members_take(w->comm->members));
    return MPI_SUCCESS;
}

/* ---- hints: stored; MPI's own are reported with their effective values ---- */

typedef struct hint {
    const char *key, *value;
    int flavor; /* only for this one; 0: for all */
} hint;

static const hint hints[] = {
    {"no_locks", "false", 0},
    {"accumulate_ordering", "rar,raw,war,waw", 0},
    {"accumulate_ops", "same_op_no_op", 0},
    {"same_size", "false", 0},
    {"same_disp_unit", "false", 0},
    {"alloc_shared_noncontig", "false", MPI_WIN_FLAVOR_SHARED},
};

SG_API int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    SG_ENTER("Win_set_info");
    SG_WINDOW(w, win)
    SG_INFO(info)
    sg_info_free(w->info);
    w->info = info == MPI_INFO_NULL ? info : sg_info_copy(info);
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_get_info(MPI_Win win, MPI_Info *info)
{
    SG_ENTER("Win_get_info");
    SG_NEEDS(info)
    SG_WINDOW(w, win)
    *info = sg_info_copy(w->info);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (sg_info_value(*info, hints[i].key) == NULL &&
            (hints[i].flavor == 0 || hints[i].flavor == w->flavor))
            PMPI_Info_set(*info, hints[i].key, hints[i].value);
    return MPI_SUCCESS;
}

/* ---- error handlers ---- */

SG_API int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler)
{
    SG_ENTER("Win_set_errhandler");
    SG_WINDOW(w, win)
    if (!sg_handler_exists(handler))
        return sg_window_error(w, MPI_ERR_ERRHANDLER, "the error handler does not exist");
    sg_handler_take(handler);
    sg_handler_drop(w->handler);
    w->handler = handler;
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *handler)
{
    SG_ENTER("Win_get_errhandler");
    SG_NEEDS(handler)
    SG_WINDOW(w, win)
    sg_handler_take(w->handler);
    *handler = w->handler;
    return MPI_SUCCESS;
}

SG_API int PMPI_Win_call_errhandler(MPI_Win win, int error)
{
    SG_ENTER("Win_call_errhandler");
    SG_WINDOW(w, win)
    const char *text = sg_mpi_error_text(error);
    sg_mpi_raise_of(w->handle, w->handler, error, text != NULL ? text : "unknown error");
    return MPI_SUCCESS;
}

SG_MPI_NAME(Win_get_attr)
SG_MPI_NAME(Win_set_attr)
SG_MPI_NAME(Win_delete_attr)
SG_MPI_NAME(Win_set_name)
SG_MPI_NAME(Win_get_name)
SG_MPI_NAME(Win_get_group)
SG_MPI_NAME(Win_set_info)
SG_MPI_NAME(Win_get_info)
SG_MPI_NAME(Win_set_errhandler)
SG_MPI_NAME(Win_get_errhandler)
SG_MPI_NAME(Win_call_errhandler)

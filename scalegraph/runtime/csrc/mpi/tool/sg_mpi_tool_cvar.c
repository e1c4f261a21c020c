/* Control variables: the switch points of collective operations, their algorithms, and the eager limit. They
 * hold for the rank that writes them; those of collective operations must be written by all of a
 * communicator. */
#include "sg_mpi_tool.h"
#include "sg_rank.h"

/* First the switch points, then the algorithms of all operations but the barrier, then the eager limit. */
enum { ALGORITHMS = SG_COLLECTIVES - 1 };

typedef struct control {
    const char *name, *text;
    const sg_switch_point *point;
    enum sg_collective what; /* whose algorithm it is; SG_COLLECTIVES: none */
} control;

static const struct {
    const char *name, *text;
} choices[SG_COLLECTIVES] = {
    [SG_BCAST] = {"MPIR_CVAR_BCAST_INTRA_ALGORITHM", "Algorithm of broadcasts; other values: auto"},
    [SG_REDUCE] = {"MPIR_CVAR_REDUCE_INTRA_ALGORITHM", "Algorithm of reductions; other values: auto"},
    [SG_ALLREDUCE] = {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
                      "Algorithm of reductions for all; other values: auto"},
    [SG_ALLGATHER] = {"MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM",
                      "Algorithm of gathering for all; other values: auto"},
    [SG_ALLTOALL] = {"MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM",
                     "Algorithm of exchanges of all; other values: auto"},
    [SG_REDUCE_SCATTER] = {"MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM",
                           "Algorithm of reductions that are scattered; other values: auto"},
    [SG_SCAN] = {"MPIR_CVAR_SCAN_INTRA_ALGORITHM", "Algorithm of scans; other values: auto"},
};

static struct MPI_ABI_T_enum enumerations[SG_COLLECTIVES] = {
    {SG_BARRIER},   {SG_BCAST},    {SG_REDUCE},         {SG_ALLREDUCE},
    {SG_ALLGATHER}, {SG_ALLTOALL}, {SG_REDUCE_SCATTER}, {SG_SCAN},
};

MPI_T_enum sg_tool_algorithms(enum sg_collective what)
{
    return &enumerations[what];
}

int sg_tool_control_count(void)
{
    return (int)sg_switch_point_count + ALGORITHMS + 1;
}

static control control_of(int index)
{
    int points = (int)sg_switch_point_count;
    if (index < points) {
        const sg_switch_point *point = &sg_switch_points[index];
        return (control){point->name, point->text, point, SG_COLLECTIVES};
    }
    if (index < points + ALGORITHMS) {
        enum sg_collective what = (enum sg_collective)(index - points + 1);
        return (control){choices[what].name, choices[what].text, NULL, what};
    }
    return (control){"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE",
                     "Messages of up to so many bytes leave before their receiver has come", NULL,
                     SG_COLLECTIVES};
}

enum sg_tool_category sg_tool_category_of_control(int index)
{
    return index == sg_tool_control_count() - 1 ? SG_TOOL_MESSAGES : SG_TOOL_COLLECTIVES;
}

static int value_of(const control *c)
{
    int64_t value;
    if (c->point != NULL)
        value = sg_switch_get(c->point);
    else if (c->what == SG_COLLECTIVES)
        value = (int64_t)sg_rank_self()->eager_bytes;
    else
        value = sg_algorithm_get(c->what) == SG_ALGORITHMS ? 0 : sg_algorithm_get(c->what) + 1;
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

static void set_value(const control *c, int value)
{
    if (c->point != NULL)
        sg_switch_set(c->point, value);
    else if (c->what == SG_COLLECTIVES)
        sg_rank_self()->eager_bytes = sg_rank_self()->near_eager_bytes = (uint64_t)(value > 0 ? value : 0);
    else
        sg_algorithm_set(c->what, value == 0 ? SG_ALGORITHMS : value - 1);
}

SG_API int PMPI_T_cvar_get_num(int *count)
{
    SG_TOOL(tool, "cvar_get_num")
    (void)tool;
    sg_tool_number(sg_tool_control_count(), count);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_cvar_get_info(int index, char *name, int *name_length, int *verbosity, MPI_Datatype *type,
                                MPI_T_enum *enumeration, char *text, int *text_length, int *bind, int *scope)
{
    SG_TOOL(tool, "cvar_get_info")
    (void)tool;
    if (index < 0 || index >= sg_tool_control_count())
        return MPI_T_ERR_INVALID_INDEX;
    control c = control_of(index);
    bool eager = c.point == NULL && c.what == SG_COLLECTIVES;
    sg_tool_text(c.name, name, name_length);
    sg_tool_text(c.text, text, text_length);
    sg_tool_number(MPI_T_VERBOSITY_TUNER_BASIC, verbosity);
    sg_tool_number(MPI_T_BIND_NO_OBJECT, bind);
    sg_tool_number(eager ? MPI_T_SCOPE_LOCAL : MPI_T_SCOPE_ALL_EQ, scope);
    if (type != NULL)
        *type = MPI_INT;
    if (enumeration != NULL)
        *enumeration = c.what != SG_COLLECTIVES ? sg_tool_algorithms(c.what) : MPI_T_ENUM_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_T_cvar_get_index(const char *name, int *index)
{
    SG_TOOL(tool, "cvar_get_index")
    (void)tool;
    for (int i = 0; name != NULL && i < sg_tool_control_count(); i++)
        if (strcmp(control_of(i).name, name) == 0)
            return sg_tool_number(i, index), MPI_SUCCESS;
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- handles ---- */

static struct MPI_ABI_T_cvar_handle **place_of(sg_tool *tool, MPI_T_cvar_handle handle)
{
    struct MPI_ABI_T_cvar_handle **at = &tool->controls;
    while (*at != NULL && *at != handle)
        at = &(*at)->next;
    return at;
}

void sg_tool_drop_controls(sg_tool *tool)
{
    for (MPI_T_cvar_handle handle; (handle = tool->controls) != NULL;) {
        tool->controls = handle->next;
        sg_mpi_free(handle);
    }
}

SG_API int PMPI_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    (void)object; /* none is bound to one */
    SG_TOOL(tool, "cvar_handle_alloc")
    if (index < 0 || index >= sg_tool_control_count())
        return MPI_T_ERR_INVALID_INDEX;
    *handle = sg_mpi_new(sizeof **handle);
    **handle = (struct MPI_ABI_T_cvar_handle){tool->controls, index};
    tool->controls = *handle;
    sg_tool_number(1, count);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    SG_TOOL(tool, "cvar_handle_free")
    struct MPI_ABI_T_cvar_handle **at = place_of(tool, *handle);
    if (*at == NULL)
        return MPI_T_ERR_INVALID_HANDLE;
    *at = (*handle)->next;
    sg_mpi_free(*handle);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *value)
{
    SG_TOOL(tool, "cvar_read")
    if (*place_of(tool, handle) == NULL)
        return MPI_T_ERR_INVALID_HANDLE;
    control c = control_of(handle->index);
    *(int *)value = value_of(&c);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *value)
{
    SG_TOOL(tool, "cvar_write")
    if (*place_of(tool, handle) == NULL)
        return MPI_T_ERR_INVALID_HANDLE;
    control c = control_of(handle->index);
    set_value(&c, *(const int *)value);
    return MPI_SUCCESS;
}

SG_MPI_NAME(T_cvar_get_num)
SG_MPI_NAME(T_cvar_get_info)
SG_MPI_NAME(T_cvar_get_index)
SG_MPI_NAME(T_cvar_handle_alloc)
SG_MPI_NAME(T_cvar_handle_free)
SG_MPI_NAME(T_cvar_read)
SG_MPI_NAME(T_cvar_write)

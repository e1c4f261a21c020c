/* Beginning and end of MPI_T, texts, enumerations and categories. */
#include <stdio.h>

#include "sg_mpi_tool.h"

sg_tool *sg_tool_enter(const char *call, const void *site)
{
    const struct sg_mpi *m = sg_mpi_enter_always(call, site);
    return m->tool != NULL && m->tool->begun > 0 ? m->tool : NULL;
}

void sg_tool_text(const char *text, char *to, int *length)
{
    if (length == NULL)
        return;
    if (to != NULL && *length > 0)
        snprintf(to, (size_t)*length, "%s", text);
    *length = (int)strlen(text) + 1;
}

SG_API int PMPI_T_init_thread(int required, int *provided)
{
    struct sg_mpi *m = sg_mpi_enter_always("MPI_T_init_thread", SG_CALLER);
    if (m->tool == NULL)
        m->tool = sg_mpi_new(sizeof *m->tool);
    m->tool->begun++;
    sg_tool_number(required, provided);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_finalize(void)
{
    SG_TOOL(tool, "finalize")
    if (--tool->begun == 0) {
        sg_tool_drop_controls(tool);
        sg_tool_drop_sessions(tool);
    }
    return MPI_SUCCESS;
}

/* ---- enumerations: the algorithms of a collective operation, and "auto" ---- */

static bool is_enumeration(MPI_T_enum of)
{
    for (int what = 0; what < SG_COLLECTIVES; what++)
        if (of == sg_tool_algorithms((enum sg_collective)what))
            return true;
    return false;
}

/* The value of an item: 0 is the rule's choice; -1: there is no such item. */
static int value_of(MPI_T_enum of, int index)
{
    if (index == 0)
        return 0;
    for (int a = 0; a < SG_ALGORITHMS; a++)
        if (sg_algorithm_does(of->what, (enum sg_algorithm)a) && --index == 0)
            return a + 1;
    return -1;
}

SG_API int PMPI_T_enum_get_info(MPI_T_enum of, int *count, char *name, int *length)
{
    SG_TOOL(tool, "enum_get_info")
    (void)tool;
    if (!is_enumeration(of))
        return MPI_T_ERR_INVALID_HANDLE;
    int items = 0;
    while (value_of(of, items) >= 0)
        items++;
    sg_tool_number(items, count);
    sg_tool_text("algorithm", name, length);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_enum_get_item(MPI_T_enum of, int index, int *value, char *name, int *length)
{
    SG_TOOL(tool, "enum_get_item")
    (void)tool;
    if (!is_enumeration(of))
        return MPI_T_ERR_INVALID_HANDLE;
    int found = index >= 0 ? value_of(of, index) : -1;
    if (found < 0)
        return MPI_T_ERR_INVALID_ITEM;
    sg_tool_number(found, value);
    sg_tool_text(found == 0 ? "auto" : sg_algorithm_name((enum sg_algorithm)(found - 1)), name, length);
    return MPI_SUCCESS;
}

/* ---- categories ---- */

static const struct {
    const char *name, *text;
} categories[SG_TOOL_CATEGORIES] = {
    [SG_TOOL_ALL] = {"all", "All variables, by category"},
    [SG_TOOL_COLLECTIVES] = {"collectives", "Which algorithms collective operations use"},
    [SG_TOOL_MESSAGES] = {"messages", "Messages of this process, with those of collective operations"},
    [SG_TOOL_TIMES] = {"times", "Simulated cycles that the processors of this process spend for messages"},
};

/* Numbers of the variables of a category among `count`; at most `length` are stored. */
static int members(int category, int count, enum sg_tool_category (*of)(int), int length, int indices[])
{
    int found = 0;
    for (int i = 0; i < count; i++)
        if ((int)of(i) == category && found++ < length)
            indices[found - 1] = i;
    return found;
}

SG_API int PMPI_T_category_get_num(int *count)
{
    SG_TOOL(tool, "category_get_num")
    (void)tool;
    sg_tool_number(SG_TOOL_CATEGORIES, count);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_category_get_info(int index, char *name, int *name_length, char *text, int *text_length,
                                    int *controls, int *measures, int *parts)
{
    SG_TOOL(tool, "category_get_info")
    (void)tool;
    if (index < 0 || index >= SG_TOOL_CATEGORIES)
        return MPI_T_ERR_INVALID_INDEX;
    sg_tool_text(categories[index].name, name, name_length);
    sg_tool_text(categories[index].text, text, text_length);
    sg_tool_number(members(index, sg_tool_control_count(), sg_tool_category_of_control, 0, NULL), controls);
    sg_tool_number(members(index, sg_tool_measure_count(), sg_tool_category_of_measure, 0, NULL), measures);
    sg_tool_number(index == SG_TOOL_ALL ? SG_TOOL_CATEGORIES - 1 : 0, parts);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_category_get_index(const char *name, int *index)
{
    SG_TOOL(tool, "category_get_index")
    (void)tool;
    for (int i = 0; name != NULL && i < SG_TOOL_CATEGORIES; i++)
        if (strcmp(categories[i].name, name) == 0)
            return sg_tool_number(i, index), MPI_SUCCESS;
    return MPI_T_ERR_INVALID_NAME;
}

SG_API int PMPI_T_category_get_cvars(int index, int length, int indices[])
{
    SG_TOOL(tool, "category_get_cvars")
    (void)tool;
    if (index < 0 || index >= SG_TOOL_CATEGORIES)
        return MPI_T_ERR_INVALID_INDEX;
    members(index, sg_tool_control_count(), sg_tool_category_of_control, length, indices);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_category_get_pvars(int index, int length, int indices[])
{
    SG_TOOL(tool, "category_get_pvars")
    (void)tool;
    if (index < 0 || index >= SG_TOOL_CATEGORIES)
        return MPI_T_ERR_INVALID_INDEX;
    members(index, sg_tool_measure_count(), sg_tool_category_of_measure, length, indices);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_category_get_categories(int index, int length, int indices[])
{
    SG_TOOL(tool, "category_get_categories")
    (void)tool;
    if (index < 0 || index >= SG_TOOL_CATEGORIES)
        return MPI_T_ERR_INVALID_INDEX;
    for (int i = 1; index == SG_TOOL_ALL && i < SG_TOOL_CATEGORIES && i <= length; i++)
        indices[i - 1] = i;
    return MPI_SUCCESS;
}

SG_API int PMPI_T_category_changed(int *number)
{
    SG_TOOL(tool, "category_changed")
    (void)tool;
    sg_tool_number(0, number); /* they never do */
    return MPI_SUCCESS;
}

SG_MPI_NAME(T_init_thread)
SG_MPI_NAME(T_finalize)
SG_MPI_NAME(T_enum_get_info)
SG_MPI_NAME(T_enum_get_item)
SG_MPI_NAME(T_category_get_num)
SG_MPI_NAME(T_category_get_info)
SG_MPI_NAME(T_category_get_index)
SG_MPI_NAME(T_category_get_cvars)
SG_MPI_NAME(T_category_get_pvars)
SG_MPI_NAME(T_category_get_categories)
SG_MPI_NAME(T_category_changed)

/* MPI_T, the interface for tools: what they can read and change of the library. A rank has its own.
 *
 * Nothing of it takes simulated time, and errors are codes that are returned: no error handler is asked. */
#ifndef SG_MPI_TOOL_H
#define SG_MPI_TOOL_H

#include "sg_mpi_collective.h"

/* A number with names for its values. */
struct MPI_ABI_T_enum {
    enum sg_collective what; /* whose algorithms it names */
};

struct MPI_ABI_T_cvar_handle {
    struct MPI_ABI_T_cvar_handle *next;
    int index;
};

struct MPI_ABI_T_pvar_handle {
    struct MPI_ABI_T_pvar_handle *next;
    int index;
    sg_comm *comm; /* it is bound to; NULL: to nothing */
    bool started;
    uint64_t counted; /* until it was stopped last */
    uint64_t since;   /* what the library had counted when it was started */
};

struct MPI_ABI_T_pvar_session {
    struct MPI_ABI_T_pvar_session *next;
    struct MPI_ABI_T_pvar_handle *handles;
};

/* Of a rank. */
typedef struct sg_tool {
    uint32_t begun; /* MPI_T_init_thread, less MPI_T_finalize */
    struct MPI_ABI_T_cvar_handle *controls;
    struct MPI_ABI_T_pvar_session *sessions;
} sg_tool;

/* ---- sg_mpi_tool.c ---- */

/* The state of the running rank; NULL: MPI_T is not initialised. */
sg_tool *sg_tool_enter(const char *call, const void *site);
#define SG_TOOL(name, call)                                                                                  \
    sg_tool *name = sg_tool_enter("MPI_T_" call, SG_CALLER);                                                 \
    if (name == NULL)                                                                                        \
        return MPI_T_ERR_NOT_INITIALIZED;
/* Gives a text to a caller with room for *length characters; *length: how many it takes. */
void sg_tool_text(const char *text, char *to, int *length);
/* Gives a number to a caller who may not want it. */
static inline void sg_tool_number(int value, int *to)
{
    if (to != NULL)
        *to = value;
}

/* ---- sg_mpi_tool_cvar.c, sg_mpi_tool_pvar.c ---- */

MPI_T_enum sg_tool_algorithms(enum sg_collective what);
/* Frees what the program has left. */
void sg_tool_drop_controls(sg_tool *tool);
void sg_tool_drop_sessions(sg_tool *tool);
/* How many there are, and the category that each belongs to. */
int sg_tool_control_count(void);
int sg_tool_measure_count(void);

enum sg_tool_category {
    SG_TOOL_ALL,
    SG_TOOL_COLLECTIVES,
    SG_TOOL_MESSAGES,
    SG_TOOL_TIMES,
    SG_TOOL_CATEGORIES
};

enum sg_tool_category sg_tool_category_of_control(int index);
enum sg_tool_category sg_tool_category_of_measure(int index);

#endif

/* Performance variables: messages of the rank, and the cycles that its processors spend for them. */
#include "sg_message.h"
#include "sg_mpi_comm.h"
#include "sg_mpi_tool.h"

enum kind { SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES, UNEXPECTED, POSTED, BEGUN, CYCLES };

typedef struct measure {
    const char *name, *text;
    uint8_t class, kind, category; /* category: of cycles */
} measure;

static const measure measures[] = {
    {"messages_sent", "Messages sent", MPI_T_PVAR_CLASS_COUNTER, SENT, 0},
    {"bytes_sent", "Bytes of messages sent", MPI_T_PVAR_CLASS_AGGREGATE, SENT_BYTES, 0},
    {"messages_received", "Messages received", MPI_T_PVAR_CLASS_COUNTER, RECEIVED, 0},
    {"bytes_received", "Bytes of messages received", MPI_T_PVAR_CLASS_AGGREGATE, RECEIVED_BYTES, 0},
    {"unexpected_messages", "Messages that have arrived before their receive", MPI_T_PVAR_CLASS_LEVEL,
     UNEXPECTED, 0},
    {"posted_receives", "Receives that wait for their message", MPI_T_PVAR_CLASS_LEVEL, POSTED, 0},
    {"collective_operations", "Collective operations begun on a communicator", MPI_T_PVAR_CLASS_COUNTER,
     BEGUN, 0},
#define CYCLES_OF(name, text, category) {name, text, MPI_T_PVAR_CLASS_TIMER, CYCLES, SG_CATEGORY_##category}
    CYCLES_OF("cycles_sending", "Cycles of sending messages", PRIM_SEND),
    CYCLES_OF("cycles_receiving", "Cycles of receiving messages", PRIM_RECEIVE),
    CYCLES_OF("cycles_packing", "Cycles of packing, copying and reducing data", PRIM_PACK),
    CYCLES_OF("cycles_late_sender", "Cycles of waiting for messages that were not sent yet",
              IDLE_LATE_SENDER),
    CYCLES_OF("cycles_late_receiver", "Cycles of waiting to send, until the receiver had come",
              IDLE_LATE_RECEIVER),
    CYCLES_OF("cycles_transfer", "Cycles of waiting for messages on their way", IDLE_TRANSFER),
    CYCLES_OF("cycles_network", "Cycles of waiting for messages that others held up", IDLE_NETWORK),
    CYCLES_OF("cycles_collective", "Cycles of waiting for others in collective operations", IDLE_COLLECTIVE),
};

enum { MEASURES = sizeof measures / sizeof measures[0] };

int sg_tool_measure_count(void)
{
    return MEASURES;
}

enum sg_tool_category sg_tool_category_of_measure(int index)
{
    return measures[index].kind == CYCLES  ? SG_TOOL_TIMES
           : measures[index].kind == BEGUN ? SG_TOOL_COLLECTIVES
                                           : SG_TOOL_MESSAGES;
}

/* A level is what it is now; all others count while they are started. */
static bool is_level(int index)
{
    return measures[index].class == MPI_T_PVAR_CLASS_LEVEL;
}

/* ---- values ---- */

static uint64_t cycles_of(uint8_t category)
{
    const sg_rank *rank = sg_rank_self();
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < sg->own_processors; i++) {
        const sg_processor *p = &sg->processor[rank->first_processor + i];
        for (uint32_t region = 0; region < p->accounts_size; region++)
            if (p->accounts[region] != NULL)
                cycles += p->accounts[region]->rest.categories[category];
    }
    return cycles;
}

static uint64_t now_of(const struct MPI_ABI_T_pvar_handle *handle)
{
    const sg_traffic *traffic = &sg_rank_self()->traffic;
    uint32_t unexpected, posted;
    switch (measures[handle->index].kind) {
    case SENT:
        return traffic->sent;
    case SENT_BYTES:
        return traffic->sent_bytes;
    case RECEIVED:
        return traffic->received;
    case RECEIVED_BYTES:
        return traffic->received_bytes;
    case BEGUN:
        return handle->comm->collectives;
    case CYCLES:
        return cycles_of(measures[handle->index].category);
    default:
        sg_message_queues(&unexpected, &posted);
        return measures[handle->index].kind == POSTED ? posted : unexpected;
    }
}

static uint64_t value_of(const struct MPI_ABI_T_pvar_handle *handle)
{
    if (is_level(handle->index))
        return now_of(handle);
    return handle->counted + (handle->started ? now_of(handle) - handle->since : 0);
}

static void set_value(struct MPI_ABI_T_pvar_handle *handle, uint64_t value)
{
    handle->counted = value;
    handle->since = handle->started ? now_of(handle) : 0;
}

static void start(struct MPI_ABI_T_pvar_handle *handle)
{
    if (handle->started || is_level(handle->index))
        return;
    handle->started = true;
    handle->since = now_of(handle);
}

static void stop(struct MPI_ABI_T_pvar_handle *handle)
{
    handle->counted = value_of(handle);
    handle->started = false;
}

/* ---- what there is ---- */

SG_API int PMPI_T_pvar_get_num(int *count)
{
    SG_TOOL(tool, "pvar_get_num")
    (void)tool;
    sg_tool_number(MEASURES, count);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_pvar_get_info(int index, char *name, int *name_length, int *verbosity, int *class,
                                MPI_Datatype *type, MPI_T_enum *enumeration, char *text, int *text_length,
                                int *bind, int *readonly, int *continuous, int *atomic)
{
    SG_TOOL(tool, "pvar_get_info")
    (void)tool;
    if (index < 0 || index >= MEASURES)
        return MPI_T_ERR_INVALID_INDEX;
    const measure *of = &measures[index];
    bool level = is_level(index);
    sg_tool_text(of->name, name, name_length);
    sg_tool_text(of->text, text, text_length);
    sg_tool_number(MPI_T_VERBOSITY_USER_BASIC, verbosity);
    sg_tool_number(of->class, class);
    sg_tool_number(of->kind == BEGUN ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT, bind);
    sg_tool_number(level, readonly);
    sg_tool_number(level, continuous);
    sg_tool_number(!level, atomic);
    if (type != NULL)
        *type = level ? MPI_UNSIGNED : MPI_UNSIGNED_LONG_LONG;
    if (enumeration != NULL)
        *enumeration = MPI_T_ENUM_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_T_pvar_get_index(const char *name, int class, int *index)
{
    SG_TOOL(tool, "pvar_get_index")
    (void)tool;
    for (int i = 0; name != NULL && i < MEASURES; i++)
        if (measures[i].class == class && strcmp(measures[i].name, name) == 0)
            return sg_tool_number(i, index), MPI_SUCCESS;
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- sessions and handles ---- */

static bool is_session(const sg_tool *tool, MPI_T_pvar_session session)
{
    const struct MPI_ABI_T_pvar_session *s = tool->sessions;
    while (s != NULL && s != session)
        s = s->next;
    return s != NULL;
}

static int find(const sg_tool *tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    if (session == NULL || !is_session(tool, session))
        return MPI_T_ERR_INVALID_SESSION;
    const struct MPI_ABI_T_pvar_handle *h = session->handles;
    while (h != NULL && h != handle)
        h = h->next;
    return h == NULL ? MPI_T_ERR_INVALID_HANDLE : MPI_SUCCESS;
}

static void drop_handle(MPI_T_pvar_handle handle)
{
    if (handle->comm != NULL)
        sg_comm_drop(handle->comm);
    sg_mpi_free(handle);
}

static void drop_session(sg_tool *tool, MPI_T_pvar_session session)
{
    struct MPI_ABI_T_pvar_session **at = &tool->sessions;
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    for (MPI_T_pvar_handle handle; (handle = session->handles) != NULL;) {
        session->handles = handle->next;
        drop_handle(handle);
    }
    sg_mpi_free(session);
}

void sg_tool_drop_sessions(sg_tool *tool)
{
    while (tool->sessions != NULL)
        drop_session(tool, tool->sessions);
}

SG_API int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    SG_TOOL(tool, "pvar_session_create")
    *session = sg_mpi_new(sizeof **session);
    (*session)->next = tool->sessions;
    tool->sessions = *session;
    return MPI_SUCCESS;
}

SG_API int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    SG_TOOL(tool, "pvar_session_free")
    if (*session == NULL || !is_session(tool, *session))
        return MPI_T_ERR_INVALID_SESSION;
    drop_session(tool, *session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

SG_API int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                                    MPI_T_pvar_handle *handle, int *count)
{
    SG_TOOL(tool, "pvar_handle_alloc")
    if (session == NULL || !is_session(tool, session))
        return MPI_T_ERR_INVALID_SESSION;
    if (index < 0 || index >= MEASURES)
        return MPI_T_ERR_INVALID_INDEX;
    bool bound = measures[index].kind == BEGUN;
    sg_comm *comm = bound && object != NULL ? sg_comm_of(*(MPI_Comm *)object) : NULL;
    if (bound && comm == NULL)
        return MPI_T_ERR_INVALID_HANDLE;
    *handle = sg_mpi_new(sizeof **handle);
    **handle = (struct MPI_ABI_T_pvar_handle){.next = session->handles, .index = index};
    (*handle)->comm = comm != NULL ? sg_comm_take(comm) : NULL;
    session->handles = *handle;
    sg_tool_number(1, count);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    SG_TOOL(tool, "pvar_handle_free")
    int error = find(tool, session, *handle);
    if (error != MPI_SUCCESS)
        return error;
    struct MPI_ABI_T_pvar_handle **at = &session->handles;
    while (*at != *handle)
        at = &(*at)->next;
    *at = (*handle)->next;
    drop_handle(*handle);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/* ---- counting ---- */

/* Does `what` with a handle, or with all of the session that count; `refuses`: the error for a level. */
static int each(const sg_tool *tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle, int refuses,
                void (*what)(struct MPI_ABI_T_pvar_handle *))
{
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        if (session == NULL || !is_session(tool, session))
            return MPI_T_ERR_INVALID_SESSION;
        for (struct MPI_ABI_T_pvar_handle *h = session->handles; h != NULL; h = h->next)
            if (!is_level(h->index))
                what(h);
        return MPI_SUCCESS;
    }
    int error = find(tool, session, handle);
    if (error == MPI_SUCCESS && is_level(handle->index))
        error = refuses;
    if (error == MPI_SUCCESS)
        what(handle);
    return error;
}

static void reset(struct MPI_ABI_T_pvar_handle *handle)
{
    set_value(handle, 0);
}

#define EACH(name, refuses)                                                                                  \
    SG_API int PMPI_T_pvar_##name(MPI_T_pvar_session session, MPI_T_pvar_handle handle)                      \
    {                                                                                                        \
        SG_TOOL(tool, "pvar_" #name)                                                                         \
        return each(tool, session, handle, refuses, name);                                                   \
    }                                                                                                        \
    SG_MPI_NAME(T_pvar_##name)

EACH(start, MPI_T_ERR_PVAR_NO_STARTSTOP)
EACH(stop, MPI_T_ERR_PVAR_NO_STARTSTOP)
EACH(reset, MPI_T_ERR_PVAR_NO_WRITE)

static void store(const struct MPI_ABI_T_pvar_handle *handle, void *value)
{
    if (is_level(handle->index))
        *(unsigned *)value = (unsigned)value_of(handle);
    else
        *(unsigned long long *)value = value_of(handle);
}

SG_API int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *value)
{
    SG_TOOL(tool, "pvar_read")
    int error = find(tool, session, handle);
    if (error == MPI_SUCCESS)
        store(handle, value);
    return error;
}

SG_API int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *value)
{
    SG_TOOL(tool, "pvar_readreset")
    int error = find(tool, session, handle);
    if (error == MPI_SUCCESS && is_level(handle->index))
        error = MPI_T_ERR_PVAR_NO_ATOMIC;
    if (error != MPI_SUCCESS)
        return error;
    store(handle, value);
    reset(handle);
    return MPI_SUCCESS;
}

SG_API int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *value)
{
    SG_TOOL(tool, "pvar_write")
    int error = find(tool, session, handle);
    if (error == MPI_SUCCESS && is_level(handle->index))
        error = MPI_T_ERR_PVAR_NO_WRITE;
    if (error == MPI_SUCCESS)
        set_value(handle, *(const unsigned long long *)value);
    return error;
}

SG_MPI_NAME(T_pvar_get_num)
SG_MPI_NAME(T_pvar_get_info)
SG_MPI_NAME(T_pvar_get_index)
SG_MPI_NAME(T_pvar_session_create)
SG_MPI_NAME(T_pvar_session_free)
SG_MPI_NAME(T_pvar_handle_alloc)
SG_MPI_NAME(T_pvar_handle_free)
SG_MPI_NAME(T_pvar_read)
SG_MPI_NAME(T_pvar_readreset)
SG_MPI_NAME(T_pvar_write)

/* Declarations shared within the MPI library: a rank's state, its handles, errors, and how a call begins.
 *
 * All state belongs to the calling rank. A handle is a number that identifies an object of its rank: the
 * lower 20 bits are its index in the rank's table, the bits above count how often the entry has been reused
 * (to detect stale handles), and the top bits give the kind of object. Predefined handles are below 4096. */
#ifndef SG_MPI_H
#define SG_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sg_fortran_site.h"
#include "sg_runtime.h"

#define SCALEGRAPH_MPI_LIBRARY
#include "mpi.h"

/* Makes MPI_name a weak alias of the function PMPI_name, so that a program can define its own MPI_name. */
#define SG_MPI_NAME(name)                                                                                    \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));

enum sg_kind {
    SG_KIND_COMM = 1,
    SG_KIND_GROUP,
    SG_KIND_TYPE,
    SG_KIND_OP,
    SG_KIND_REQUEST,
    SG_KIND_INFO,
    SG_KIND_HANDLER,
    SG_KIND_WINDOW,
    SG_KIND_FILE,
    SG_KIND_MESSAGE,
};

typedef struct sg_place {
    void *object; /* NULL: free */
    uint32_t next_free;
    uint8_t kind, generation;
} sg_place;

typedef struct sg_comm sg_comm;
typedef struct sg_type sg_type;
typedef struct sg_mpi_group sg_mpi_group;
typedef struct sg_schedule sg_schedule;

typedef struct sg_attribute {
    struct sg_attribute *next;
    int key;
    bool integer; /* set by Fortran: C callbacks get a pointer to it */
    void *value;
} sg_attribute;

/* A rank's own data on a predefined datatype. */
typedef struct sg_own_type {
    char *name;
    sg_attribute *attributes;
} sg_own_type;

typedef struct sg_error_text {
    int class_of; /* for a user's code; for a class: itself */
    char *text;
} sg_error_text;

struct sg_mpi {
    sg_place *places;
    uint32_t place_count, place_room, free_place; /* free_place: 0: none */
    bool initialised, finalised;
    int thread_level;
    sg_thread *main_thread;
    const char *call; /* that is running, "MPI_Send" */
    const void *site;
    sg_comm *world, *self, *null_comm; /* null_comm: for errors without a communicator */
    struct sg_keyval *keyvals;
    uint32_t keyval_count;
    sg_error_text *errors; /* from MPI_ERR_LASTCODE + 1 */
    uint32_t error_count;
    char *bsend_buffer;
    int64_t bsend_size;
    sg_schedule *schedules; /* incomplete collective operations */
    uint64_t schedule_changes;
    int predefined_attribute[7];
    MPI_Errhandler file_handler; /* of MPI_FILE_NULL; NULL: MPI_ERRORS_RETURN */
    int file_error;              /* of a failed call, as returned by the error handler */
    struct sg_buffers *buffers;  /* buffers of active requests */
    sg_own_type *own_types;      /* by the handle's low digits; NULL: none yet */
};

/* ---- sg_mpi_state.c ---- */

/* State of the running rank; created on first use. */
struct sg_mpi *sg_mpi_self(void);
/* Global number of the running rank, and number of ranks. */
uint32_t sg_mpi_number(void);
uint32_t sg_mpi_count(void);
/* Machine node of the running rank. */
int sg_mpi_node(void);
/* Enters an MPI function called from `site`; returns the rank's state. Ends the run before MPI_Init and after
 * MPI_Finalize. */
struct sg_mpi *sg_mpi_enter(const char *call, const void *site);
/* The same for functions that may be called at any time. */
struct sg_mpi *sg_mpi_enter_always(const char *call, const void *site);
#undef SG_CALLER
#define SG_CALLER      sg_fortran_caller(__builtin_return_address(0))
#define SG_ENTER(name) sg_mpi_enter("MPI_" name, SG_CALLER)
/* Returns an error if one of these output pointers is NULL. */
#define SG_NEEDS(...)                                                                                        \
    {                                                                                                        \
        const void *const needed[] = {__VA_ARGS__};                                                          \
        for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)                                        \
            if (needed[i] == NULL)                                                                           \
                return sg_mpi_null(#__VA_ARGS__, (int)i);                                                    \
    }

/* Zeroed memory for the library; release it with sg_mpi_free. */
void *sg_mpi_new(size_t size);
void *sg_mpi_resize(void *memory, size_t size);
void *sg_mpi_copy(const void *data, size_t size);
char *sg_mpi_string(const char *text);
void sg_mpi_free(void *memory);

uintptr_t sg_handle_new(enum sg_kind kind, void *object);
/* The object of a handle; NULL: there is none of that kind. */
void *sg_handle_get(enum sg_kind kind, uintptr_t handle);
void sg_handle_free(uintptr_t handle);
/* Number of handles of a kind in the running rank. */
uint32_t sg_handles_of(enum sg_kind kind);

/* ---- sg_mpi_error.c ---- */

/* Raises an error in the running call with the error handler of `comm` (NULL: none involved). Returns `error`
 * if the handler returns; otherwise ends the run with a message naming rank, call and place. */
int sg_mpi_error(sg_comm *comm, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the run whatever the error handler: no error could be returned. */
void sg_mpi_fatal(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Calls the error handler with an error. */
int sg_mpi_raise(sg_comm *comm, MPI_Errhandler handler, int error, const char *sentence);
/* The same for any object, by its handle. */
int sg_mpi_raise_of(uintptr_t object, MPI_Errhandler handler, int error, const char *sentence);
/* Is this the first report for these two places? The same pair is reported only once. */
bool sg_mpi_first_time(const void *one, const void *other);
/* Raises the error that argument `which` of `names` is NULL. */
int sg_mpi_null(const char *names, int which);
/* Raises the error that a handle is not a communicator. */
int sg_comm_missing(MPI_Comm handle);
const char *sg_mpi_error_text(int error);
int sg_mpi_class_of(int error);

/* A user-defined error handler. */
typedef struct sg_handler {
    enum sg_kind of;
    void (*function)(void *object, int *error, ...);
    uint32_t references;
    uintptr_t handle;
} sg_handler;

void sg_handler_take(MPI_Errhandler handler);
void sg_handler_drop(MPI_Errhandler handler);
bool sg_handler_exists(MPI_Errhandler handler);

/* ---- sg_mpi_attribute.c ---- */

/* Copies the attributes of an object being duplicated; returns MPI_SUCCESS or the callback's error. */
int sg_attributes_copy(enum sg_kind kind, uintptr_t from, sg_attribute *old, sg_attribute **copy);
int sg_attributes_delete(enum sg_kind kind, uintptr_t of, sg_attribute **attributes);
/* `fortran`: called from Fortran. */
int sg_attribute_set(enum sg_kind kind, uintptr_t of, sg_attribute **list, int key, void *value,
                     bool fortran);
int sg_attribute_delete(enum sg_kind kind, uintptr_t of, sg_attribute **list, int key);
int sg_attribute_get(enum sg_kind kind, sg_attribute *list, int key, void *value, int *flag, bool fortran);

/* ---- sg_mpi_info.c ---- */

/* Raises an error unless the handle is an info object or MPI_INFO_NULL. */
int sg_info_argument(MPI_Info info);
#define SG_INFO(info)                                                                                        \
    if (sg_info_argument(info) != MPI_SUCCESS)                                                               \
        return MPI_ERR_INFO;
MPI_Info sg_info_copy(MPI_Info info);
const char *sg_info_value(MPI_Info info, const char *key);
void sg_info_free(MPI_Info info);
/* Adds the keys of `more` to *info, which is created if it is MPI_INFO_NULL. */
void sg_info_merge(MPI_Info *info, MPI_Info more);

/* ---- costs ---- */

/* Charge the running processor for packing or unpacking bytes, or for the operations of a reduction. */
void sg_mpi_charge_pack(uint64_t bytes, uint64_t pieces);
void sg_mpi_charge_op(uint64_t elements, bool floating);

#endif

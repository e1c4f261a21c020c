/* What the files of the MPI library share: a rank's state, its handles, errors, and how a call begins.
 *
 * All state hangs off the rank that calls. A handle is a number that names an object of its rank: in its
 * lower 20 bits the place in the rank's list, above that how often the place has had another object (so that
 * a handle that was freed is known), and above that the kind of object. Predefined handles are below 4096. */
#ifndef SG_MPI_H
#define SG_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sg_fortran_site.h"
#include "sg_runtime.h"

#define SCALEGRAPH_MPI_LIBRARY
#include "mpi.h"

/* A function has been defined as PMPI_name: MPI_name is the same, unless the program has one of its own. */
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
    bool integer; /* Fortran has set it: C's functions get a pointer to it, Fortran's itself */
    void *value;
} sg_attribute;

/* What a rank says about a predefined datatype. */
typedef struct sg_own_type {
    char *name;
    sg_attribute *attributes;
} sg_own_type;

typedef struct sg_error_text {
    int class_of; /* of a code of the user's; of a class: itself */
    char *text;
} sg_error_text;

struct sg_mpi {
    sg_place *places;
    uint32_t place_count, place_room, free_place; /* free_place: 0: none */
    bool initialised, finalised;
    int thread_level;
    sg_thread *main_thread;
    const char *call; /* that runs, "MPI_Send" */
    const void *site;
    sg_comm *world, *self, *null_comm; /* null_comm: whose error handler answers where there is none */
    struct sg_keyval *keyvals;
    uint32_t keyval_count;
    sg_error_text *errors; /* from MPI_ERR_LASTCODE + 1 on */
    uint32_t error_count;
    char *bsend_buffer;
    int64_t bsend_size;
    sg_schedule *schedules; /* collective operations that are not complete */
    uint64_t schedule_changes;
    int predefined_attribute[7];
    MPI_Errhandler file_handler; /* of MPI_FILE_NULL; NULL: MPI_ERRORS_RETURN */
    int file_error;              /* of a call that has failed, as the error handler has left it */
    struct sg_buffers *buffers;  /* buffers of requests that are under way */
    sg_own_type *own_types;      /* by the last digits of the handle; NULL: none yet */
};

/* ---- sg_mpi_state.c ---- */

/* State of the running rank; made when it is needed first. */
struct sg_mpi *sg_mpi_self(void);
/* Number of the running rank among all, and how many there are. */
uint32_t sg_mpi_number(void);
uint32_t sg_mpi_count(void);
/* The running rank's node of the machine. */
int sg_mpi_node(void);
/* A function of MPI was called from `site`: the rank's state. Ends the run before MPI_Init and after
 * MPI_Finalize. */
struct sg_mpi *sg_mpi_enter(const char *call, const void *site);
/* The same for the functions that may be called at any time. */
struct sg_mpi *sg_mpi_enter_always(const char *call, const void *site);
#undef SG_CALLER
#define SG_CALLER      sg_fortran_caller(__builtin_return_address(0))
#define SG_ENTER(name) sg_mpi_enter("MPI_" name, SG_CALLER)
/* Returns an error if one of these pointers, through which the call answers, is NULL. */
#define SG_NEEDS(...)                                                                                        \
    {                                                                                                        \
        const void *const needed[] = {__VA_ARGS__};                                                          \
        for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)                                        \
            if (needed[i] == NULL)                                                                           \
                return sg_mpi_null(#__VA_ARGS__, (int)i);                                                    \
    }

/* Memory of the library, zeroed; sg_mpi_free gives it back. */
void *sg_mpi_new(size_t size);
void *sg_mpi_resize(void *memory, size_t size);
void *sg_mpi_copy(const void *data, size_t size);
char *sg_mpi_string(const char *text);
void sg_mpi_free(void *memory);

uintptr_t sg_handle_new(enum sg_kind kind, void *object);
/* The object of a handle; NULL: there is none of that kind. */
void *sg_handle_get(enum sg_kind kind, uintptr_t handle);
void sg_handle_free(uintptr_t handle);
/* How many handles of a kind the running rank has. */
uint32_t sg_handles_of(enum sg_kind kind);

/* ---- sg_mpi_error.c ---- */

/* Something is wrong in the running call: the error handler of `comm` (NULL: of none) decides. Returns
 * `error` if that goes on; ends the run otherwise, with a sentence that names rank, call and place. */
int sg_mpi_error(sg_comm *comm, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the run whatever the error handler says: nothing could be returned. */
void sg_mpi_fatal(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Calls the error handler with an error that has been found. */
int sg_mpi_raise(sg_comm *comm, MPI_Errhandler handler, int error, const char *sentence);
/* The same for any object, by its handle. */
int sg_mpi_raise_of(uintptr_t object, MPI_Errhandler handler, int error, const char *sentence);
/* Whether a fault of these two places has not been named yet: the same ones are not named again. */
bool sg_mpi_first_time(const void *one, const void *other);
/* The error that argument `which` of these is NULL. */
int sg_mpi_null(const char *names, int which);
/* The error that a handle is no communicator. */
int sg_comm_missing(MPI_Comm handle);
const char *sg_mpi_error_text(int error);
int sg_mpi_class_of(int error);

/* An error handler of the user's. */
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

/* Copies the attributes of an object that is duplicated; MPI_SUCCESS or the callback's error. */
int sg_attributes_copy(enum sg_kind kind, uintptr_t from, sg_attribute *old, sg_attribute **copy);
int sg_attributes_delete(enum sg_kind kind, uintptr_t of, sg_attribute **attributes);
/* `fortran`: Fortran has called. */
int sg_attribute_set(enum sg_kind kind, uintptr_t of, sg_attribute **list, int key, void *value,
                     bool fortran);
int sg_attribute_delete(enum sg_kind kind, uintptr_t of, sg_attribute **list, int key);
int sg_attribute_get(enum sg_kind kind, sg_attribute *list, int key, void *value, int *flag, bool fortran);

/* ---- sg_mpi_info.c ---- */

/* The error that a handle is neither an info object nor MPI_INFO_NULL; MPI_SUCCESS: it is one. */
int sg_info_argument(MPI_Info info);
#define SG_INFO(info)                                                                                        \
    if (sg_info_argument(info) != MPI_SUCCESS)                                                               \
        return MPI_ERR_INFO;
MPI_Info sg_info_copy(MPI_Info info);
const char *sg_info_value(MPI_Info info, const char *key);
void sg_info_free(MPI_Info info);
/* The keys of `more` are set in *info too, which is made if it is MPI_INFO_NULL. */
void sg_info_merge(MPI_Info *info, MPI_Info more);

/* ---- costs ---- */

/* Bytes that were packed or unpacked, and operations of a reduction, cost the running processor time. */
void sg_mpi_charge_pack(uint64_t bytes, uint64_t pieces);
void sg_mpi_charge_op(uint64_t elements, bool floating);

#endif

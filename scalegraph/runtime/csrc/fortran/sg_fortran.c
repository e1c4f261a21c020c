/* Fortran MPI calls that differ from C by more than how arguments are passed. */
#include "sg_fortran.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Not zero: zero-initialised variables of the library end up among the program's, see compile.flags. Aligned
 * like gfortran's common blocks: the linker warns if the alignment is smaller. */
#define COMMON _Alignas(32)
COMMON int sg_mpi_bottom_ = 1;
COMMON int sg_mpi_in_place_ = 1;
COMMON int sg_mpi_unweighted_ = 1;
COMMON int sg_mpi_weights_empty_ = 1;
COMMON int sg_mpi_errcodes_ignore_ = 1;
COMMON int sg_mpi_status_ignore_[8] = {1};
COMMON int sg_mpi_statuses_ignore_[8] = {1};

void sg_fortran_read(char *to, const char *from, size_t length)
{
    while (length > 0 && from[length - 1] == ' ')
        length--;
    while (length > 0 && *from == ' ')
        from++, length--;
    memcpy(to, from, length);
    to[length] = 0;
}

void sg_fortran_write(char *to, size_t length, const char *from)
{
    size_t used = strnlen(from, length);
    memcpy(to, from, used);
    memset(to + used, ' ', length - used);
}

/* Number of neighbours to send to, or to receive from. */
static int neighbours(MPI_Comm comm, bool sends)
{
    int topology = MPI_UNDEFINED, rank = 0, in = 0, out = 0, weighted = 0;
    MPI_Topo_test(comm, &topology);
    switch (topology) {
    case MPI_CART:
        MPI_Cartdim_get(comm, &in);
        return 2 * in;
    case MPI_GRAPH:
        MPI_Comm_rank(comm, &rank);
        MPI_Graph_neighbors_count(comm, rank, &in);
        return in;
    case MPI_DIST_GRAPH:
        MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        return sends ? out : in;
    default:
        return 0;
    }
}

static int members(MPI_Comm comm)
{
    int size = 0, inter = 0;
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        MPI_Comm_remote_size(comm, &size);
    else
        MPI_Comm_size(comm, &size);
    return size;
}

int sg_fortran_send_partners(MPI_Comm comm, bool all, const void *send_buffer)
{
    return send_buffer == &sg_mpi_in_place_ ? 0 : all ? members(comm) : neighbours(comm, true);
}

int sg_fortran_receive_partners(MPI_Comm comm, bool all)
{
    return all ? members(comm) : neighbours(comm, false);
}

/* ---- start and time ---- */

SG_FORTRAN(mpi_init, (int *ierror))
{
    SG_FORTRAN_DONE(ierror, MPI_Init(NULL, NULL));
}

SG_FORTRAN(mpi_init_thread, (const int *required, int *provided, int *ierror))
{
    SG_FORTRAN_DONE(ierror, MPI_Init_thread(NULL, NULL, *required, provided));
}

SG_FORTRAN(mpi_pcontrol, (const int *level))
{
    MPI_Pcontrol(*level);
}

#define VALUE(type, name, call, parameters)                                                                  \
    type name##_ parameters __attribute__((weak, alias("p" #name "_")));                                     \
    type p##name##_ parameters;                                                                              \
    type p##name##_ parameters                                                                               \
    {                                                                                                        \
        SG_FORTRAN_PLACE();                                                                                  \
        type result = call;                                                                                  \
        sg_fortran_site = NULL;                                                                              \
        return result;                                                                                       \
    }

VALUE(double, mpi_wtime, MPI_Wtime(), (void))
VALUE(double, mpi_wtick, MPI_Wtick(), (void))
VALUE(MPI_Aint, mpi_aint_add, MPI_Aint_add(*base, *displacement),
      (const MPI_Aint *base, const MPI_Aint *displacement))
VALUE(MPI_Aint, mpi_aint_diff, MPI_Aint_diff(*one, *other), (const MPI_Aint *one, const MPI_Aint *other))

/* Are two mpi_f08 handles equal? The module declares this function for every handle type. */
VALUE(int, sg_mpi_same, *one == *other, (const int *one, const int *other))
VALUE(int, sg_mpi_other, *one != *other, (const int *one, const int *other))

SG_FORTRAN(mpi_buffer_detach, (void *buffer, int *size, int *ierror))
{
    (void)buffer; /* Fortran has no variable to return an address in */
    void *detached = NULL;
    SG_FORTRAN_DONE(ierror, MPI_Buffer_detach(&detached, size));
}

/* ---- attributes: address-sized integers where C has pointers ---- */

typedef void copies(const int *handle, const int *key, const MPI_Aint *extra, const MPI_Aint *in,
                    MPI_Aint *out, int *flag, int *ierror);
typedef void deletes(const int *handle, const int *key, const MPI_Aint *value, const MPI_Aint *extra,
                     int *ierror);

/* What the C callbacks of a key need to call the Fortran ones; never freed. */
typedef struct key_state {
    copies *copy;
    deletes *delete;
    MPI_Aint extra;
} key_state;

#define ATTRIBUTES(Kind, kind, Handle)                                                                       \
    static int copy_##kind(Handle handle, int key, void *state, void *in, void *out, int *flag)              \
    {                                                                                                        \
        const key_state *k = state;                                                                          \
        int integer = MPI_##Kind##_toint(handle), result = MPI_SUCCESS;                                      \
        MPI_Aint before = (MPI_Aint)in, after = 0;                                                           \
        k->copy(&integer, &key, &k->extra, &before, &after, flag, &result);                                  \
        if (*flag)                                                                                           \
            *(void **)out = (void *)after;                                                                   \
        return result;                                                                                       \
    }                                                                                                        \
    static int delete_##kind(Handle handle, int key, void *value, void *state)                               \
    {                                                                                                        \
        const key_state *k = state;                                                                          \
        int integer = MPI_##Kind##_toint(handle), result = MPI_SUCCESS;                                      \
        MPI_Aint is = (MPI_Aint)value;                                                                       \
        k->delete(&integer, &key, &is, &k->extra, &result);                                                  \
        return result;                                                                                       \
    }                                                                                                        \
    SG_FORTRAN(mpi_##kind##_create_keyval,                                                                   \
               (copies * copy, deletes * delete, int *key, const MPI_Aint *extra, int *ierror))              \
    {                                                                                                        \
        key_state *state = NULL;                                                                             \
        MPI_Alloc_mem(sizeof *state, MPI_INFO_NULL, &state);                                                 \
        *state = (key_state){copy, delete, *extra};                                                          \
        SG_FORTRAN_DONE(ierror, MPI_##Kind##_create_keyval(copy_##kind, delete_##kind, key, state));         \
    }                                                                                                        \
    SG_FORTRAN(mpi_##kind##_set_attr,                                                                        \
               (const int *handle, const int *key, const MPI_Aint *value, int *ierror))                      \
    {                                                                                                        \
        SG_FORTRAN_DONE(ierror, MPI_##Kind##_set_attr(MPI_##Kind##_fromint(*handle), *key, (void *)*value)); \
    }                                                                                                        \
    SG_FORTRAN(mpi_##kind##_get_attr,                                                                        \
               (const int *handle, const int *key, MPI_Aint *value, int *flag, int *ierror))                 \
    {                                                                                                        \
        void *found = NULL;                                                                                  \
        SG_FORTRAN_PLACE();                                                                                  \
        int result = MPI_##Kind##_get_attr(MPI_##Kind##_fromint(*handle), *key, &found, flag);               \
        if (result == MPI_SUCCESS && *flag)                                                                  \
            *value = value_of(*key, found);                                                                  \
        SG_FORTRAN_DONE(ierror, result);                                                                     \
    }

/* Value of an attribute; for the predefined ones, C returns a pointer to it. */
static MPI_Aint value_of(int key, void *found)
{
    switch (key) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *(int *)found;
    case MPI_WIN_SIZE:
        return *(MPI_Aint *)found;
    default:
        return (MPI_Aint)found;
    }
}

ATTRIBUTES(Comm, comm, MPI_Comm)
ATTRIBUTES(Type, type, MPI_Datatype)
ATTRIBUTES(Win, win, MPI_Win)

/* MPI-1 attributes, with default integers. */
SG_FORTRAN(mpi_attr_put, (const int *comm, const int *key, const int *value, int *ierror))
{
    SG_FORTRAN_DONE(ierror, MPI_Comm_set_attr(MPI_Comm_fromint(*comm), *key, (void *)(MPI_Aint)*value));
}

SG_FORTRAN(mpi_attr_get, (const int *comm, const int *key, int *value, int *flag, int *ierror))
{
    void *found = NULL;
    SG_FORTRAN_PLACE();
    int result = MPI_Comm_get_attr(MPI_Comm_fromint(*comm), *key, &found, flag);
    if (result == MPI_SUCCESS && *flag)
        *value = (int)value_of(*key, found);
    SG_FORTRAN_DONE(ierror, result);
}

/* Predefined callbacks of keys: copy nothing, copy everything, do nothing on deletion. */
#define KEY_FUNCTIONS(kind, number)                                                                          \
    void mpi_##kind##null_copy_fn_(const int *handle, const int *key, const number *extra, const number *in, \
                                   number *out, int *flag, int *ierror);                                     \
    void mpi_##kind##null_copy_fn_(const int *handle, const int *key, const number *extra, const number *in, \
                                   number *out, int *flag, int *ierror)                                      \
    {                                                                                                        \
        (void)handle, (void)key, (void)extra, (void)in, (void)out;                                           \
        *flag = 0;                                                                                           \
        *ierror = MPI_SUCCESS;                                                                               \
    }                                                                                                        \
    void mpi_##kind##dup_fn_(const int *handle, const int *key, const number *extra, const number *in,       \
                             number *out, int *flag, int *ierror);                                           \
    void mpi_##kind##dup_fn_(const int *handle, const int *key, const number *extra, const number *in,       \
                             number *out, int *flag, int *ierror)                                            \
    {                                                                                                        \
        (void)handle, (void)key, (void)extra;                                                                \
        *out = *in;                                                                                          \
        *flag = 1;                                                                                           \
        *ierror = MPI_SUCCESS;                                                                               \
    }                                                                                                        \
    void mpi_##kind##null_delete_fn_(const int *handle, const int *key, const number *value,                 \
                                     const number *extra, int *ierror);                                      \
    void mpi_##kind##null_delete_fn_(const int *handle, const int *key, const number *value,                 \
                                     const number *extra, int *ierror)                                       \
    {                                                                                                        \
        (void)handle, (void)key, (void)value, (void)extra;                                                   \
        *ierror = MPI_SUCCESS;                                                                               \
    }

KEY_FUNCTIONS(, int)
KEY_FUNCTIONS(comm_, MPI_Aint)
KEY_FUNCTIONS(type_, MPI_Aint)
KEY_FUNCTIONS(win_, MPI_Aint)

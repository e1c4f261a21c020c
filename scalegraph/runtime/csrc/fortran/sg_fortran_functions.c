/* Fortran calls that take callbacks or several arrays at once. */
#include "sg_fortran.h"

/* ---- MPI-1 keys, with integer values ---- */

typedef void copies(const int *comm, const int *key, const int *extra, const int *in, int *out, int *flag,
                    int *ierror);
typedef void deletes(const int *comm, const int *key, const int *value, const int *extra, int *ierror);

/* What the C callbacks need to call the Fortran ones; never freed. */
typedef struct key_state {
    copies *copy;
    deletes *delete;
    int extra;
} key_state;

static int copy_value(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    const key_state *k = state;
    int handle = MPI_Comm_toint(comm), before = (int)(MPI_Aint)in, after = 0, result = MPI_SUCCESS;
    k->copy(&handle, &key, &k->extra, &before, &after, flag, &result);
    if (*flag)
        *(void **)out = (void *)(MPI_Aint)after;
    return result;
}

static int delete_value(MPI_Comm comm, int key, void *value, void *state)
{
    const key_state *k = state;
    int handle = MPI_Comm_toint(comm), is = (int)(MPI_Aint)value, result = MPI_SUCCESS;
    k->delete(&handle, &key, &is, &k->extra, &result);
    return result;
}

SG_FORTRAN(mpi_keyval_create, (copies * copy, deletes *delete, int *key, const int *extra, int *ierror))
{
    key_state *state = NULL;
    MPI_Alloc_mem(sizeof *state, MPI_INFO_NULL, &state);
    *state = (key_state){copy, delete, *extra};
    SG_FORTRAN_DONE(ierror, MPI_Comm_create_keyval(copy_value, delete_value, key, state));
}

/* ---- generalised requests ---- */

typedef void queries(const MPI_Aint *extra, int *status, int *ierror);
typedef void releases(const MPI_Aint *extra, int *ierror);
typedef void cancels(const MPI_Aint *extra, const int *complete, int *ierror);

typedef struct request_state {
    queries *query;
    releases *release;
    cancels *cancel;
    MPI_Aint extra;
} request_state;

static int query_request(void *state, MPI_Status *status)
{
    const request_state *s = state;
    int result = MPI_SUCCESS;
    s->query(&s->extra, (int *)status, &result);
    return result;
}

static int release_request(void *state)
{
    request_state *s = state;
    int result = MPI_SUCCESS;
    s->release(&s->extra, &result);
    MPI_Free_mem(s);
    return result;
}

static int cancel_request(void *state, int complete)
{
    const request_state *s = state;
    int result = MPI_SUCCESS;
    s->cancel(&s->extra, &complete, &result);
    return result;
}

SG_FORTRAN(mpi_grequest_start, (queries * query, releases *release, cancels *cancel, const MPI_Aint *extra,
                                int *request, int *ierror))
{
    request_state *state = NULL;
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Alloc_mem(sizeof *state, MPI_INFO_NULL, &state);
    *state = (request_state){query, release, cancel, *extra};
    SG_FORTRAN_PLACE();
    int result = MPI_Grequest_start(query_request, release_request, cancel_request, state, &made);
    *request = MPI_Request_toint(made);
    SG_FORTRAN_DONE(ierror, result);
}

/* ---- datatypes ---- */

SG_FORTRAN(mpi_type_get_contents,
           (const int *type, const int *most_integers, const int *most_addresses, const int *most_types,
            int integers[], MPI_Aint addresses[], int types[], int *ierror))
{
    MPI_Datatype found[*most_types > 0 ? *most_types : 1];
    int counts[3] = {0}, combiner = 0;
    SG_FORTRAN_PLACE();
    int result = MPI_Type_get_contents(MPI_Type_fromint(*type), *most_integers, *most_addresses, *most_types,
                                       integers, addresses, found);
    if (result == MPI_SUCCESS)
        result =
            MPI_Type_get_envelope(MPI_Type_fromint(*type), &counts[0], &counts[1], &counts[2], &combiner);
    for (int i = 0; result == MPI_SUCCESS && i < counts[2]; i++)
        types[i] = MPI_Type_toint(found[i]);
    SG_FORTRAN_DONE(ierror, result);
}

/* ---- info: lengths as in C, with the terminating null ---- */

SG_FORTRAN(mpi_info_get_string, (const int *info, const char *key, int *length, char *value, int *flag,
                                 int *ierror, size_t key_length, size_t value_length))
{
    char c_key[key_length + 1], text[MPI_MAX_INFO_VAL + 1];
    int asked = *length, room = asked > 0 ? asked + 1 : 0;
    sg_fortran_read(c_key, key, key_length);
    if (room > (int)sizeof text)
        room = sizeof text;
    SG_FORTRAN_PLACE();
    int result = MPI_Info_get_string(MPI_Info_fromint(*info), c_key, &room, text, flag);
    if (result == MPI_SUCCESS && *flag) {
        if (asked > 0)
            sg_fortran_write(value, value_length, text);
        *length = room - 1;
    }
    SG_FORTRAN_DONE(ierror, result);
}

/* ---- MPI_Sizeof: the module maps it to one of these by type and kind ---- */

#define SIZE(bytes)                                                                                          \
    SG_FORTRAN(sg_mpi_sizeof_##bytes, (const void *value, int *size, int *ierror))                           \
    {                                                                                                        \
        (void)value;                                                                                         \
        *size = bytes;                                                                                       \
        if (ierror != NULL)                                                                                  \
            *ierror = MPI_SUCCESS;                                                                           \
    }

SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)
SIZE(32)

/* Attributes that a program attaches to communicators, datatypes and windows. */
#include "sg_mpi_comm.h"
#include "sg_mpi_type.h"

typedef int copy_function(uintptr_t object, int key, void *extra, void *value, void *copy, int *flag);
typedef int delete_function(uintptr_t object, int key, void *value, void *extra);

typedef struct sg_keyval {
    enum sg_kind of;
    copy_function *copy; /* NULL: not copied; COPY_VALUE: copied unchanged */
    delete_function *delete;
    void *extra;
    uint32_t references; /* from attributes and the handle */
    bool freed;
    bool fortran; /* its callbacks are Fortran's */
} sg_keyval;

#define COPY_VALUE ((copy_function *)1)
enum { FIRST_KEY = 1000 };

static sg_keyval *keyval_of(int key)
{
    const struct sg_mpi *m = sg_mpi_self();
    int64_t at = (int64_t)key - FIRST_KEY;
    if (at < 0 || at >= m->keyval_count || m->keyvals[at].references == 0)
        return NULL;
    return &m->keyvals[at];
}

static int new_key(enum sg_kind of, void *copy, void *delete, int *key, void *extra, bool fortran)
{
    struct sg_mpi *m = sg_mpi_self();
    m->keyvals = sg_mpi_resize(m->keyvals, (m->keyval_count + 1) * sizeof *m->keyvals);
    *key = FIRST_KEY + (int)m->keyval_count;
    m->keyvals[m->keyval_count++] = (sg_keyval){
        of, (copy_function *)(uintptr_t)copy, (delete_function *)(uintptr_t)delete, extra, 1, false, fortran};
    return MPI_SUCCESS;
}

static int free_key(enum sg_kind of, int *key)
{
    sg_keyval *k = keyval_of(*key);
    if (k == NULL || k->of != of)
        return sg_mpi_error(NULL, MPI_ERR_KEYVAL, "the attribute key %d does not exist", *key);
    if (!k->freed) /* the key may be freed again through a copy, while an attribute uses it */
        k->references--;
    k->freed = true;
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* ---- copying and deleting ---- */

/* The communicator whose error handler is used; NULL for other kinds of object. */
static sg_comm *holder(enum sg_kind kind, uintptr_t object)
{
    return kind == SG_KIND_COMM ? sg_comm_of((MPI_Comm)object) : NULL;
}

/* The value a callback gets: for C, a pointer to an integer set by Fortran. It may be read as int: the first
 * bytes are the low ones. */
static void *value_for(bool fortran, sg_attribute *a)
{
    return a->integer && !fortran ? &a->value : a->value;
}

static void add(sg_attribute **list, int key, void *value, bool integer)
{
    sg_attribute *a = sg_mpi_new(sizeof *a);
    *a = (sg_attribute){*list, key, integer, value};
    *list = a;
    keyval_of(key)->references++;
}

int sg_attributes_copy(enum sg_kind kind, uintptr_t from, sg_attribute *old, sg_attribute **copies)
{
    if (old == NULL)
        return MPI_SUCCESS;
    int error = sg_attributes_copy(kind, from, old->next, copies); /* in the order they were set */
    sg_keyval *k = keyval_of(old->key);
    if (error != MPI_SUCCESS || k->copy == NULL)
        return error;
    void *given = value_for(k->fortran, old), *value = given;
    int flag = 1;
    if (k->copy != COPY_VALUE)
        error = k->copy(from, old->key, k->extra, given, &value, &flag);
    if (error != MPI_SUCCESS)
        return sg_mpi_error(holder(kind, from), error, "the function that copies attribute %d returned %d",
                            old->key, error);
    bool integer = old->integer && (k->fortran || value == given); /* otherwise C has made it a pointer */
    if (flag)
        add(copies, old->key, value == given ? old->value : value, integer);
    return MPI_SUCCESS;
}

/* Removes an attribute from its list if its callback agrees. */
static int delete_one(enum sg_kind kind, uintptr_t of, sg_attribute **at)
{
    sg_attribute *a = *at;
    sg_keyval *k = keyval_of(a->key);
    void *value = value_for(k->fortran, a);
    int error = k->delete != NULL ? k->delete(of, a->key, value, k->extra) : MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        return sg_mpi_error(holder(kind, of), error, "the function that deletes attribute %d returned %d",
                            a->key, error);
    keyval_of(a->key)->references--; /* the callback may have created more keys */
    *at = a->next;
    sg_mpi_free(a);
    return MPI_SUCCESS;
}

int sg_attributes_delete(enum sg_kind kind, uintptr_t of, sg_attribute **attributes)
{
    int error = MPI_SUCCESS;
    while (*attributes != NULL && error == MPI_SUCCESS)
        error = delete_one(kind, of, attributes);
    return error;
}

static sg_attribute **find(sg_attribute **list, int key)
{
    while (*list != NULL && (*list)->key != key)
        list = &(*list)->next;
    return list;
}

static int check_key(enum sg_kind kind, uintptr_t of, int key)
{
    const sg_keyval *k = keyval_of(key);
    if (k == NULL || k->of != kind)
        return sg_mpi_error(holder(kind, of), MPI_ERR_KEYVAL, "the attribute key %d does not exist", key);
    return MPI_SUCCESS;
}

int sg_attribute_set(enum sg_kind kind, uintptr_t of, sg_attribute **list, int key, void *value, bool fortran)
{
    int error = check_key(kind, of, key);
    if (error != MPI_SUCCESS)
        return error;
    sg_attribute **at = find(list, key);
    if (*at != NULL)
        error = delete_one(kind, of, at);
    if (error == MPI_SUCCESS)
        add(list, key, value, fortran);
    return error;
}

int sg_attribute_delete(enum sg_kind kind, uintptr_t of, sg_attribute **list, int key)
{
    int error = check_key(kind, of, key);
    if (error != MPI_SUCCESS)
        return error;
    sg_attribute **at = find(list, key);
    if (*at == NULL)
        return sg_mpi_error(NULL, MPI_ERR_KEYVAL, "there is no attribute with the key %d", key);
    return delete_one(kind, of, at);
}

int sg_attribute_get(enum sg_kind kind, sg_attribute *list, int key, void *value, int *flag, bool fortran)
{
    int error = check_key(kind, 0, key);
    if (error != MPI_SUCCESS)
        return error;
    sg_attribute *a = *find(&list, key);
    *flag = a != NULL;
    if (a != NULL)
        *(void **)value = value_for(fortran, a);
    return MPI_SUCCESS;
}

/* ---- communicators ---- */

#define KEYS(kind, name, copy_type, delete_type)                                                             \
    SG_API int PMPI_##name##_create_keyval(copy_type *copy, delete_type *delete, int *key, void *extra)      \
    {                                                                                                        \
        bool fortran = sg_fortran_calls();                                                                   \
        SG_ENTER(#name "_create_keyval");                                                                    \
        SG_NEEDS(key)                                                                                        \
        return new_key(kind, (void *)(uintptr_t)copy, (void *)(uintptr_t)delete, key, extra, fortran);       \
    }                                                                                                        \
    SG_MPI_NAME(name##_create_keyval)                                                                        \
    SG_API int PMPI_##name##_free_keyval(int *key)                                                           \
    {                                                                                                        \
        SG_ENTER(#name "_free_keyval");                                                                      \
        SG_NEEDS(key)                                                                                        \
        return free_key(kind, key);                                                                          \
    }                                                                                                        \
    SG_MPI_NAME(name##_free_keyval)

KEYS(SG_KIND_COMM, Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function)
KEYS(SG_KIND_TYPE, Type, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function)
KEYS(SG_KIND_WINDOW, Win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function)

SG_API int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete, int *key, void *extra)
{
    SG_ENTER("Keyval_create");
    SG_NEEDS(key)
    return new_key(SG_KIND_COMM, (void *)(uintptr_t)copy, (void *)(uintptr_t)delete, key, extra, false);
}

SG_API int PMPI_Keyval_free(int *key)
{
    SG_ENTER("Keyval_free");
    SG_NEEDS(key)
    return free_key(SG_KIND_COMM, key);
}

/* The predefined attributes of every communicator. */
static int *predefined(int key)
{
    struct sg_mpi *m = sg_mpi_self();
    int *values = m->predefined_attribute;
    switch (key) {
    case MPI_TAG_UB:
        return values[0] = INT32_MAX, &values[0];
    case MPI_WTIME_IS_GLOBAL:
        return values[1] = 1, &values[1];
    case MPI_IO:
        return values[2] = MPI_ANY_SOURCE, &values[2];
    case MPI_UNIVERSE_SIZE:
        return values[3] = (int)sg_mpi_count(), &values[3];
    case MPI_LASTUSEDCODE:
        return values[4] = MPI_ERR_LASTCODE + (int)m->error_count, &values[4];
    case MPI_APPNUM:
        return values[5] = 0, &values[5];
    case MPI_HOST:
        return values[6] = MPI_PROC_NULL, &values[6];
    default:
        return NULL;
    }
}

static int get(MPI_Comm comm, int key, void *value, int *flag, bool fortran)
{
    const sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int *own = predefined(key);
    if (own == NULL)
        return sg_attribute_get(SG_KIND_COMM, c->attributes, key, value, flag, fortran);
    *flag = 1;
    *(int **)value = own;
    return MPI_SUCCESS;
}

static int set(MPI_Comm comm, int key, void *value, bool fortran)
{
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    return sg_attribute_set(SG_KIND_COMM, c->handle, &c->attributes, key, value, fortran);
}

static int remove_key(MPI_Comm comm, int key)
{
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    return sg_attribute_delete(SG_KIND_COMM, c->handle, &c->attributes, key);
}

#define OF_COMM(get_name, set_name, delete_name)                                                             \
    SG_API int PMPI_##get_name(MPI_Comm comm, int key, void *value, int *flag)                               \
    {                                                                                                        \
        bool fortran = sg_fortran_calls();                                                                   \
        SG_ENTER(#get_name);                                                                                 \
        SG_NEEDS(value, flag)                                                                                \
        return get(comm, key, value, flag, fortran);                                                         \
    }                                                                                                        \
    SG_API int PMPI_##set_name(MPI_Comm comm, int key, void *value)                                          \
    {                                                                                                        \
        bool fortran = sg_fortran_calls();                                                                   \
        SG_ENTER(#set_name);                                                                                 \
        return set(comm, key, value, fortran);                                                               \
    }                                                                                                        \
    SG_API int PMPI_##delete_name(MPI_Comm comm, int key)                                                    \
    {                                                                                                        \
        SG_ENTER(#delete_name);                                                                              \
        return remove_key(comm, key);                                                                        \
    }                                                                                                        \
    SG_MPI_NAME(get_name)                                                                                    \
    SG_MPI_NAME(set_name)                                                                                    \
    SG_MPI_NAME(delete_name)

OF_COMM(Comm_get_attr, Comm_set_attr, Comm_delete_attr)
OF_COMM(Attr_get, Attr_put, Attr_delete)
SG_MPI_NAME(Keyval_create)
SG_MPI_NAME(Keyval_free)

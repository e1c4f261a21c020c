/* Datatypes: what they consist of, and copying their data. */
#ifndef SG_MPI_TYPE_H
#define SG_MPI_TYPE_H

#include "sg_mpi.h"

/* The kind of values of a basic type. */
enum sg_class {
    SG_CLASS_NONE, /* not basic, or not usable in any operation */
    SG_CLASS_BYTE,
    SG_CLASS_I8,
    SG_CLASS_I16,
    SG_CLASS_I32,
    SG_CLASS_I64,
    SG_CLASS_I128,
    SG_CLASS_U8,
    SG_CLASS_U16,
    SG_CLASS_U32,
    SG_CLASS_U64,
    SG_CLASS_FLOAT,
    SG_CLASS_DOUBLE,
    SG_CLASS_LONG_DOUBLE,
    SG_CLASS_QUAD,
    SG_CLASS_COMPLEX_FLOAT,
    SG_CLASS_COMPLEX_DOUBLE,
    SG_CLASS_COMPLEX_LONG_DOUBLE,
    SG_CLASS_COMPLEX_QUAD,
    SG_CLASS_BOOL,
    SG_CLASS_LOGICAL8,
    SG_CLASS_LOGICAL16,
    SG_CLASS_LOGICAL32,
    SG_CLASS_LOGICAL64,
    SG_CLASS_PAIR_FLOAT, /* value and index */
    SG_CLASS_PAIR_DOUBLE,
    SG_CLASS_PAIR_LONG,
    SG_CLASS_PAIR_INT,
    SG_CLASS_PAIR_SHORT,
    SG_CLASS_PAIR_LONG_DOUBLE,
    SG_CLASS_PAIR_2FLOAT,
    SG_CLASS_PAIR_2DOUBLE,
};

/* At `displacement`, `repeat` times with a stride of `stride` bytes: `count` items of `type`, one extent
 * apart. */
typedef struct sg_piece {
    int64_t displacement, repeat, stride, count;
    sg_type *type;
} sg_piece;

struct sg_type {
    int64_t size, lb, ub, true_lb, true_ub;
    int64_t elements; /* number of basic elements */
    uint32_t alignment;
    uint8_t class; /* enum sg_class */
    bool basic, predefined, committed, dense;
    bool fixed_lb, fixed_ub; /* set by MPI_Type_create_resized, here or in a part */
    uint8_t code;            /* of its basic elements, see sg_mpi_signature.h; 0: not computed yet */
    uint8_t external;        /* size of a basic type in external32 */
    int combiner;
    const char *label;   /* name of a predefined type */
    uint16_t number;     /* handle of a predefined type */
    uint32_t references; /* from handles, other types and active operations */
    uint32_t part_count;
    sg_piece *parts;
    /* How it was created. */
    uint32_t integer_count, address_count, type_count;
    int *integers;
    MPI_Aint *addresses;
    sg_type **types;
    char *name;
    sg_attribute *attributes;
};

/* ---- sg_mpi_type_basic.c ---- */

/* The predefined type of a handle, or NULL. */
sg_type *sg_type_predefined(uintptr_t handle);

/* ---- sg_mpi_type.c ---- */

/* The type of a handle, or NULL. */
sg_type *sg_type_of(MPI_Datatype handle);
/* Creates a type of these parts (copied) and computes its bounds. */
sg_type *sg_type_made(int combiner, const sg_piece *parts, uint32_t count);
/* Records how a type was created, for MPI_Type_get_contents. */
void sg_type_describe(sg_type *t, const int *integers, uint32_t integer_count, const MPI_Aint *addresses,
                      uint32_t address_count, sg_type *const *types, uint32_t type_count);
void sg_type_bounds(sg_type *t);
MPI_Datatype sg_type_handle(sg_type *t);
sg_type *sg_type_take(sg_type *t);
/* The type's attributes; for a predefined type, those set by the running rank. */
sg_attribute **sg_type_attributes(sg_type *t);
void sg_type_drop(sg_type *t);
static inline int64_t sg_type_extent(const sg_type *t)
{
    return t->ub - t->lb;
}

/* ---- sg_mpi_type_copy.c ---- */

/* Do `count` items have the same layout in memory as in a message? */
static inline bool sg_type_flat(const sg_type *t, int64_t count)
{
    return t->dense && (count <= 1 || sg_type_extent(t) == t->size);
}

/* Copy items into a message, or at most `bytes` of a message into items. Charged. */
void sg_type_pack(const void *buffer, int64_t count, const sg_type *t, void *to);
size_t sg_type_unpack(const void *from, size_t bytes, void *buffer, int64_t count, const sg_type *t);
/* Copies items of one type to items of another, as if by a message to oneself. */
void sg_type_copy(const void *from, int64_t from_count, const sg_type *from_type, void *to, int64_t to_count,
                  const sg_type *to_type);
/* Number of basic elements in the first `bytes` of packed items; -1: the last one is incomplete. */
int64_t sg_type_elements(const sg_type *t, int64_t bytes);
/* Calls `run` for each contiguous run of the items' memory, in message order. Not charged. */
void sg_type_runs(const sg_type *t, char *base, int64_t count,
                  void (*run)(char *at, size_t bytes, void *context), void *context);
/* Calls `visit` for each basic element of the items, in order. */
void sg_type_visit(const sg_type *t, char *base, int64_t count,
                   void (*visit)(const sg_type *basic, char *at, void *context), void *context);

/* ---- checks ---- */

/* Gets the type of an argument if it may be used in communication, or raises an error. */
int sg_type_argument(sg_comm *comm, MPI_Datatype handle, int64_t count, sg_type **type);
/* The same, with the buffer that holds the items: it must be valid unless there is no data. */
int sg_buffer_argument(sg_comm *comm, const void *buffer, MPI_Datatype handle, int64_t count, sg_type **type);
/* Only the buffer check, for at least one non-empty item. */
int sg_buffer_given(sg_comm *comm, const void *buffer, const sg_type *type);

#endif

/* The predefined datatypes. */
#include <stdbool.h>
#include <wchar.h>

#include "sg_mpi_type.h"

#define FIRST 0x200u
#define MOST  0x100u

/* A type of `bytes` bytes with one element. */
#define BASIC(handle, text, bytes, align, kind, outside)                                                     \
    [(handle) - FIRST] = {.size = (bytes),                                                                   \
                          .ub = (bytes),                                                                     \
                          .true_ub = (bytes),                                                                \
                          .elements = 1,                                                                     \
                          .alignment = (align),                                                              \
                          .class = (kind),                                                                   \
                          .basic = true,                                                                     \
                          .predefined = true,                                                                \
                          .committed = true,                                                                 \
                          .dense = true,                                                                     \
                          .external = (outside),                                                             \
                          .combiner = MPI_COMBINER_NAMED,                                                    \
                          .label = (text),                                                                   \
                          .number = (handle),                                                                \
                          .references = 1}
#define OF_C(handle, text, type, kind) BASIC(handle, text, sizeof(type), _Alignof(type), kind, sizeof(type))
#define COMPLEX(handle, text, type, kind)                                                                    \
    BASIC(handle, text, 2 * sizeof(type), _Alignof(type), kind, 2 * sizeof(type))

/* A value and its index. */
#define PAIR(at, handle, text, value, index, kind)                                                           \
    [(handle) - FIRST] = {.size = sizeof(value) + sizeof(index),                                             \
                          .ub = sizeof(struct pair_##at),                                                    \
                          .true_ub = offsetof(struct pair_##at, b) + sizeof(index),                          \
                          .elements = 2,                                                                     \
                          .alignment = _Alignof(struct pair_##at),                                           \
                          .class = (kind),                                                                   \
                          .predefined = true,                                                                \
                          .committed = true,                                                                 \
                          .dense = offsetof(struct pair_##at, b) == sizeof(value),                           \
                          .combiner = MPI_COMBINER_NAMED,                                                    \
                          .label = (text),                                                                   \
                          .number = (handle),                                                                \
                          .references = 1,                                                                   \
                          .part_count = 2,                                                                   \
                          .parts = parts_##at}
#define PARTS(at, first, value, second, index)                                                               \
    struct pair_##at {                                                                                       \
        value a;                                                                                             \
        index b;                                                                                             \
    };                                                                                                       \
    static sg_piece parts_##at[2] = {                                                                        \
        {0, 1, 0, 1, &predefined[(first) - FIRST]},                                                          \
        {offsetof(struct pair_##at, b), 1, 0, 1, &predefined[(second) - FIRST]}};

static sg_type predefined[MOST];

PARTS(float_int, 0x210, float, 0x209, int)
PARTS(double_int, 0x214, double, 0x209, int)
PARTS(long_int, 0x20a, long, 0x209, int)
PARTS(int_int, 0x209, int, 0x209, int)
PARTS(short_int, 0x208, short, 0x209, int)
PARTS(long_double_int, 0x220, long double, 0x209, int)
PARTS(real_real, 0x21a, float, 0x21a, float)
PARTS(double_double, 0x21c, double, 0x21c, double)

static sg_type predefined[MOST] = {
    OF_C(0x201, "MPI_AINT", MPI_Aint, SG_CLASS_I64),
    OF_C(0x202, "MPI_COUNT", MPI_Count, SG_CLASS_I64),
    OF_C(0x203, "MPI_OFFSET", MPI_Offset, SG_CLASS_I64),
    BASIC(0x207, "MPI_PACKED", 1, 1, SG_CLASS_NONE, 1),
    OF_C(0x208, "MPI_SHORT", short, SG_CLASS_I16),
    OF_C(0x209, "MPI_INT", int, SG_CLASS_I32),
    BASIC(0x20a, "MPI_LONG", sizeof(long), _Alignof(long), SG_CLASS_I64, 4),
    OF_C(0x20b, "MPI_LONG_LONG", long long, SG_CLASS_I64),
    OF_C(0x20c, "MPI_UNSIGNED_SHORT", unsigned short, SG_CLASS_U16),
    OF_C(0x20d, "MPI_UNSIGNED", unsigned, SG_CLASS_U32),
    BASIC(0x20e, "MPI_UNSIGNED_LONG", sizeof(long), _Alignof(long), SG_CLASS_U64, 4),
    OF_C(0x20f, "MPI_UNSIGNED_LONG_LONG", unsigned long long, SG_CLASS_U64),
    OF_C(0x210, "MPI_FLOAT", float, SG_CLASS_FLOAT),
    COMPLEX(0x212, "MPI_C_FLOAT_COMPLEX", float, SG_CLASS_COMPLEX_FLOAT),
    COMPLEX(0x213, "MPI_CXX_FLOAT_COMPLEX", float, SG_CLASS_COMPLEX_FLOAT),
    OF_C(0x214, "MPI_DOUBLE", double, SG_CLASS_DOUBLE),
    COMPLEX(0x216, "MPI_C_DOUBLE_COMPLEX", double, SG_CLASS_COMPLEX_DOUBLE),
    COMPLEX(0x217, "MPI_CXX_DOUBLE_COMPLEX", double, SG_CLASS_COMPLEX_DOUBLE),
    OF_C(0x218, "MPI_LOGICAL", int, SG_CLASS_LOGICAL32),
    OF_C(0x219, "MPI_INTEGER", int, SG_CLASS_I32),
    OF_C(0x21a, "MPI_REAL", float, SG_CLASS_FLOAT),
    COMPLEX(0x21b, "MPI_COMPLEX", float, SG_CLASS_COMPLEX_FLOAT),
    OF_C(0x21c, "MPI_DOUBLE_PRECISION", double, SG_CLASS_DOUBLE),
    COMPLEX(0x21d, "MPI_DOUBLE_COMPLEX", double, SG_CLASS_COMPLEX_DOUBLE),
    BASIC(0x21e, "MPI_CHARACTER", 1, 1, SG_CLASS_NONE, 1),
    OF_C(0x220, "MPI_LONG_DOUBLE", long double, SG_CLASS_LONG_DOUBLE),
    COMPLEX(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", long double, SG_CLASS_COMPLEX_LONG_DOUBLE),
    COMPLEX(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", long double, SG_CLASS_COMPLEX_LONG_DOUBLE),
    PAIR(float_int, 0x228, "MPI_FLOAT_INT", float, int, SG_CLASS_PAIR_FLOAT),
    PAIR(double_int, 0x229, "MPI_DOUBLE_INT", double, int, SG_CLASS_PAIR_DOUBLE),
    PAIR(long_int, 0x22a, "MPI_LONG_INT", long, int, SG_CLASS_PAIR_LONG),
    PAIR(int_int, 0x22b, "MPI_2INT", int, int, SG_CLASS_PAIR_INT),
    PAIR(short_int, 0x22c, "MPI_SHORT_INT", short, int, SG_CLASS_PAIR_SHORT),
    PAIR(long_double_int, 0x22d, "MPI_LONG_DOUBLE_INT", long double, int, SG_CLASS_PAIR_LONG_DOUBLE),
    PAIR(real_real, 0x230, "MPI_2REAL", float, float, SG_CLASS_PAIR_2FLOAT),
    PAIR(double_double, 0x231, "MPI_2DOUBLE_PRECISION", double, double, SG_CLASS_PAIR_2DOUBLE),
    PAIR(int_int, 0x232, "MPI_2INTEGER", int, int, SG_CLASS_PAIR_INT),
    OF_C(0x238, "MPI_C_BOOL", bool, SG_CLASS_BOOL),
    OF_C(0x239, "MPI_CXX_BOOL", bool, SG_CLASS_BOOL),
    BASIC(0x23c, "MPI_WCHAR", sizeof(wchar_t), _Alignof(wchar_t), SG_CLASS_NONE, 2),
    OF_C(0x240, "MPI_INT8_T", int8_t, SG_CLASS_I8),
    OF_C(0x241, "MPI_UINT8_T", uint8_t, SG_CLASS_U8),
    OF_C(0x243, "MPI_CHAR", char, SG_CLASS_I8),
    OF_C(0x244, "MPI_SIGNED_CHAR", signed char, SG_CLASS_I8),
    OF_C(0x245, "MPI_UNSIGNED_CHAR", unsigned char, SG_CLASS_U8),
    BASIC(0x247, "MPI_BYTE", 1, 1, SG_CLASS_BYTE, 1),
    OF_C(0x248, "MPI_INT16_T", int16_t, SG_CLASS_I16),
    OF_C(0x249, "MPI_UINT16_T", uint16_t, SG_CLASS_U16),
    OF_C(0x250, "MPI_INT32_T", int32_t, SG_CLASS_I32),
    OF_C(0x251, "MPI_UINT32_T", uint32_t, SG_CLASS_U32),
    OF_C(0x258, "MPI_INT64_T", int64_t, SG_CLASS_I64),
    OF_C(0x259, "MPI_UINT64_T", uint64_t, SG_CLASS_U64),
    BASIC(0x2c0, "MPI_LOGICAL1", 1, 1, SG_CLASS_LOGICAL8, 1),
    BASIC(0x2c1, "MPI_INTEGER1", 1, 1, SG_CLASS_I8, 1),
    BASIC(0x2c8, "MPI_LOGICAL2", 2, 2, SG_CLASS_LOGICAL16, 2),
    BASIC(0x2c9, "MPI_INTEGER2", 2, 2, SG_CLASS_I16, 2),
    BASIC(0x2ca, "MPI_REAL2", 2, 2, SG_CLASS_NONE, 2),
    BASIC(0x2d0, "MPI_LOGICAL4", 4, 4, SG_CLASS_LOGICAL32, 4),
    BASIC(0x2d1, "MPI_INTEGER4", 4, 4, SG_CLASS_I32, 4),
    BASIC(0x2d2, "MPI_REAL4", 4, 4, SG_CLASS_FLOAT, 4),
    BASIC(0x2d3, "MPI_COMPLEX4", 4, 2, SG_CLASS_NONE, 4),
    BASIC(0x2d8, "MPI_LOGICAL8", 8, 8, SG_CLASS_LOGICAL64, 8),
    BASIC(0x2d9, "MPI_INTEGER8", 8, 8, SG_CLASS_I64, 8),
    BASIC(0x2da, "MPI_REAL8", 8, 8, SG_CLASS_DOUBLE, 8),
    BASIC(0x2db, "MPI_COMPLEX8", 8, 4, SG_CLASS_COMPLEX_FLOAT, 8),
    BASIC(0x2e0, "MPI_LOGICAL16", 16, 16, SG_CLASS_NONE, 16),
    BASIC(0x2e1, "MPI_INTEGER16", 16, 16, SG_CLASS_I128, 16),
    BASIC(0x2e2, "MPI_REAL16", 16, 16, SG_CLASS_QUAD, 16),
    BASIC(0x2e3, "MPI_COMPLEX16", 16, 8, SG_CLASS_COMPLEX_DOUBLE, 16),
    BASIC(0x2eb, "MPI_COMPLEX32", 32, 16, SG_CLASS_COMPLEX_QUAD, 32),
};

sg_type *sg_type_predefined(uintptr_t handle)
{
    if (handle - FIRST >= MOST || predefined[handle - FIRST].label == NULL)
        return NULL;
    return &predefined[handle - FIRST];
}

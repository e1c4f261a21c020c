/* The predefined operations for each class of values. */
#include <complex.h>

#include "sg_mpi_op.h"

#define EACH(type, expression)                                                                               \
    do {                                                                                                     \
        const type *in = from;                                                                               \
        type *out = to;                                                                                      \
        for (int64_t i = 0; i < count; i++) {                                                                \
            type a = in[i], b = out[i];                                                                      \
            out[i] = (type)(expression);                                                                     \
        }                                                                                                    \
        return true;                                                                                         \
    } while (0)

#define ARITHMETIC(name, type)                                                                               \
    static bool name(uintptr_t op, const void *from, void *to, int64_t count)                                \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case (uintptr_t)MPI_SUM:                                                                             \
            EACH(type, a + b);                                                                               \
        case (uintptr_t)MPI_PROD:                                                                            \
            EACH(type, a * b);                                                                               \
        case (uintptr_t)MPI_MAX:                                                                             \
            EACH(type, a > b ? a : b);                                                                       \
        case (uintptr_t)MPI_MIN:                                                                             \
            EACH(type, a < b ? a : b);                                                                       \
        case (uintptr_t)MPI_LAND:                                                                            \
            EACH(type, a && b);                                                                              \
        case (uintptr_t)MPI_LOR:                                                                             \
            EACH(type, a || b);                                                                              \
        case (uintptr_t)MPI_LXOR:                                                                            \
            EACH(type, !a != !b);                                                                            \
        default:                                                                                             \
            return false;                                                                                    \
        }                                                                                                    \
    }

#define BITS(name, type)                                                                                     \
    static bool name(uintptr_t op, const void *from, void *to, int64_t count)                                \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case (uintptr_t)MPI_BAND:                                                                            \
            EACH(type, a & b);                                                                               \
        case (uintptr_t)MPI_BOR:                                                                             \
            EACH(type, a | b);                                                                               \
        case (uintptr_t)MPI_BXOR:                                                                            \
            EACH(type, a ^ b);                                                                               \
        default:                                                                                             \
            return false;                                                                                    \
        }                                                                                                    \
    }

/* Sums and products wrap around: the unsigned type gives the same bits without overflow. */
#define INTEGER(name, type, plain)                                                                           \
    ARITHMETIC(name##_values, type)                                                                          \
    BITS(name##_bits, plain)                                                                                 \
    static bool name##_wrapped(uintptr_t op, const void *from, void *to, int64_t count)                      \
    {                                                                                                        \
        if (op == (uintptr_t)MPI_SUM)                                                                        \
            EACH(plain, a + b);                                                                              \
        if (op == (uintptr_t)MPI_PROD)                                                                       \
            EACH(plain, (unsigned __int128)a * b);                                                           \
        return false;                                                                                        \
    }                                                                                                        \
    static bool name(uintptr_t op, const void *from, void *to, int64_t count)                                \
    {                                                                                                        \
        return name##_wrapped(op, from, to, count) || name##_bits(op, from, to, count) ||                    \
               name##_values(op, from, to, count);                                                           \
    }

#define COMPLEX(name, type)                                                                                  \
    static bool name(uintptr_t op, const void *from, void *to, int64_t count)                                \
    {                                                                                                        \
        if (op == (uintptr_t)MPI_SUM)                                                                        \
            EACH(type, a + b);                                                                               \
        if (op == (uintptr_t)MPI_PROD)                                                                       \
            EACH(type, a * b);                                                                               \
        return false;                                                                                        \
    }

#define LOGICAL(name, type)                                                                                  \
    static bool name(uintptr_t op, const void *from, void *to, int64_t count)                                \
    {                                                                                                        \
        if (op == (uintptr_t)MPI_LAND)                                                                       \
            EACH(type, a && b);                                                                              \
        if (op == (uintptr_t)MPI_LOR)                                                                        \
            EACH(type, a || b);                                                                              \
        if (op == (uintptr_t)MPI_LXOR)                                                                       \
            EACH(type, !a != !b);                                                                            \
        return false;                                                                                        \
    }

/* If values are equal, the smaller index is taken. */
#define PAIR(name, value, place)                                                                             \
    static bool name(uintptr_t op, const void *from, void *to, int64_t count)                                \
    {                                                                                                        \
        typedef struct pair {                                                                                \
            value v;                                                                                         \
            place k;                                                                                         \
        } pair;                                                                                              \
        const pair *in = from;                                                                               \
        pair *out = to;                                                                                      \
        if (op != (uintptr_t)MPI_MAXLOC && op != (uintptr_t)MPI_MINLOC)                                      \
            return false;                                                                                    \
        for (int64_t i = 0; i < count; i++) {                                                                \
            bool better = op == (uintptr_t)MPI_MAXLOC ? in[i].v > out[i].v : in[i].v < out[i].v;             \
            if (better || (in[i].v == out[i].v && in[i].k < out[i].k)) {                                     \
                out[i].v = in[i].v;                                                                          \
                out[i].k = in[i].k;                                                                          \
            }                                                                                                \
        }                                                                                                    \
        return true;                                                                                         \
    }

BITS(bytes, uint8_t)
INTEGER(i8, int8_t, uint8_t)
INTEGER(i16, int16_t, uint16_t)
INTEGER(i32, int32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)
INTEGER(i128, __int128, unsigned __int128)
INTEGER(u8, uint8_t, uint8_t)
INTEGER(u16, uint16_t, uint16_t)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(u64, uint64_t, uint64_t)
ARITHMETIC(float_, float)
ARITHMETIC(double_, double)
ARITHMETIC(long_double, long double)
COMPLEX(complex_float, float _Complex)
COMPLEX(complex_double, double _Complex)
COMPLEX(complex_long_double, long double _Complex)
#if defined(__SIZEOF_FLOAT128__) && !defined(__clang__)
ARITHMETIC(quad, __float128)
COMPLEX(complex_quad, _Complex _Float128)
#else
#define quad         NULL
#define complex_quad NULL
#endif
LOGICAL(bool_, bool)
LOGICAL(logical8, int8_t)
LOGICAL(logical16, int16_t)
LOGICAL(logical32, int32_t)
LOGICAL(logical64, int64_t)
PAIR(pair_float, float, int)
PAIR(pair_double, double, int)
PAIR(pair_long, long, int)
PAIR(pair_int, int, int)
PAIR(pair_short, short, int)
PAIR(pair_long_double, long double, int)
PAIR(pair_2float, float, float)
PAIR(pair_2double, double, double)

bool sg_op_values(uintptr_t op, enum sg_class class, const void *from, void *to, int64_t count)
{
    typedef bool applied(uintptr_t op, const void *from, void *to, int64_t count);
    static applied *const by_class[] = {
        [SG_CLASS_BYTE] = bytes,
        [SG_CLASS_I8] = i8,
        [SG_CLASS_I16] = i16,
        [SG_CLASS_I32] = i32,
        [SG_CLASS_I64] = i64,
        [SG_CLASS_I128] = i128,
        [SG_CLASS_U8] = u8,
        [SG_CLASS_U16] = u16,
        [SG_CLASS_U32] = u32,
        [SG_CLASS_U64] = u64,
        [SG_CLASS_FLOAT] = float_,
        [SG_CLASS_DOUBLE] = double_,
        [SG_CLASS_LONG_DOUBLE] = long_double,
        [SG_CLASS_QUAD] = quad,
        [SG_CLASS_COMPLEX_FLOAT] = complex_float,
        [SG_CLASS_COMPLEX_DOUBLE] = complex_double,
        [SG_CLASS_COMPLEX_LONG_DOUBLE] = complex_long_double,
        [SG_CLASS_COMPLEX_QUAD] = complex_quad,
        [SG_CLASS_BOOL] = bool_,
        [SG_CLASS_LOGICAL8] = logical8,
        [SG_CLASS_LOGICAL16] = logical16,
        [SG_CLASS_LOGICAL32] = logical32,
        [SG_CLASS_LOGICAL64] = logical64,
        [SG_CLASS_PAIR_FLOAT] = pair_float,
        [SG_CLASS_PAIR_DOUBLE] = pair_double,
        [SG_CLASS_PAIR_LONG] = pair_long,
        [SG_CLASS_PAIR_INT] = pair_int,
        [SG_CLASS_PAIR_SHORT] = pair_short,
        [SG_CLASS_PAIR_LONG_DOUBLE] = pair_long_double,
        [SG_CLASS_PAIR_2FLOAT] = pair_2float,
        [SG_CLASS_PAIR_2DOUBLE] = pair_2double,
    };
    applied *function = class < sizeof by_class / sizeof by_class[0] ? by_class[class] : NULL;
    return function != NULL && function(op, from, to, count);
}

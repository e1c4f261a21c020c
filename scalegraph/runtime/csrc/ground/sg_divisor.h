/* Divisors fixed at the start of a run, with their reciprocals: division is slow on the host, and each
 * transaction asks several times for a processor's socket or a line's module. */
#ifndef SG_DIVISOR_H
#define SG_DIVISOR_H

#include <stdint.h>

typedef struct sg_divisor {
    uint64_t by, reciprocal; /* 2^(64 + shift) / by, rounded up; for a power of two one less */
    uint32_t shift, more;    /* more: 1 for a power of two */
} sg_divisor;

/* `by` is not 0. */
static inline sg_divisor sg_divisor_of(uint64_t by)
{
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(by);
    if ((by & (by - 1)) == 0)
        return (sg_divisor){by, UINT64_MAX, shift, 1};
    return (sg_divisor){by, (uint64_t)(((unsigned __int128)1 << (64 + shift)) / by) + 1, shift, 0};
}

/* Returns value / d->by, exact for values below 2^62: the reciprocal is less than 1 too large, so the
 * product exceeds value / by by less than 2^-2 / by. For a power of two, value + 1 is multiplied by just
 * under 2^64. */
static inline uint64_t sg_quotient(uint64_t value, const sg_divisor *d)
{
    return (uint64_t)((unsigned __int128)(value + d->more) * d->reciprocal >> 64) >> d->shift;
}

/* value % d->by, also exact below 2^62. */
static inline uint64_t sg_remainder(uint64_t value, const sg_divisor *d)
{
    return value - sg_quotient(value, d) * d->by;
}

#endif

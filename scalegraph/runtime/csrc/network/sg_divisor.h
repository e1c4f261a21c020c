/* Divisors that are known when a run begins, with their reciprocals: the host divides slowly, and each
 * transaction asks several times in which socket a processor is or which module has a line. */
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

/* Returns value / d->by, exactly for values below 2^62: the reciprocal is too large by less than 1, so the
 * product by less than 2^-2 of a multiple of 1 / by. A power of two multiplies value + 1 by just less than
 * 2^64. */
static inline uint64_t sg_quotient(uint64_t value, const sg_divisor *d)
{
    return (uint64_t)((unsigned __int128)(value + d->more) * d->reciprocal >> 64) >> d->shift;
}

/* value % d->by, likewise. */
static inline uint64_t sg_remainder(uint64_t value, const sg_divisor *d)
{
    return value - sg_quotient(value, d) * d->by;
}

#endif

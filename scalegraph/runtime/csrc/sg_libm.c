/* Mathematical functions of the C library. Their code is not the program's, so it carries no hooks; each
 * call is charged with the floating-point operations of an ordinary implementation: argument reduction,
 * a polynomial, reconstruction. The counts are estimates, the same for every machine; what an operation
 * costs is the machine's. */
#include <math.h>

#include "sg_runtime.h"

/* Operations of one call. */
typedef struct work {
    uint16_t add, mul, div, sqrt;
} work;

static void charge_work(work w, const void *site)
{
    sg_processor *p = sg_now;
    if (p->stack_of_regions == NULL)
        return;
    const uint32_t *cost = sg->config.op_millicycles;
    uint64_t operations = (uint64_t)w.add + w.mul + w.div + w.sqrt, width = sg->config.issue_width;
    uint64_t cycles = ((uint64_t)w.add * cost[SG_OP_FP_ADD] + (uint64_t)w.mul * cost[SG_OP_FP_MUL] +
                       (uint64_t)w.div * cost[SG_OP_FP_DIV] + (uint64_t)w.sqrt * cost[SG_OP_FP_SQRT] + 999) /
                      1000;
    uint64_t issue = (operations + width - 1) / width;
    p->site = site;
    sg_count(p, SG_COUNTER_OPS, operations);
    sg_count(p, SG_COUNTER_FLOPS, operations);
    sg_charge_site(p, SG_LEAF_BUSY_FP, cycles > issue ? cycles : issue);
}

#define WORK(...) ((work){__VA_ARGS__})
#define ONE(name, type, ...)                                                                                 \
    extern type real_##name(type x) __asm__("__real_" #name);                                                \
    type __wrap_##name(type x);                                                                              \
    SG_API type __wrap_##name(type x)                                                                        \
    {                                                                                                        \
        charge_work(WORK(__VA_ARGS__), SG_CALLER);                                                           \
        return real_##name(x);                                                                               \
    }
#define TWO(name, type, ...)                                                                                 \
    extern type real_##name(type x, type y) __asm__("__real_" #name);                                        \
    type __wrap_##name(type x, type y);                                                                      \
    SG_API type __wrap_##name(type x, type y)                                                                \
    {                                                                                                        \
        charge_work(WORK(__VA_ARGS__), SG_CALLER);                                                           \
        return real_##name(x, y);                                                                            \
    }

/*  function            add mul div sqrt */
ONE(exp, double, 8, 9, 0, 0)
ONE(exp2, double, 7, 8, 0, 0)
ONE(expm1, double, 12, 12, 1, 0)
ONE(log, double, 10, 9, 0, 0)
ONE(log2, double, 10, 10, 0, 0)
ONE(log10, double, 12, 11, 0, 0)
ONE(log1p, double, 12, 12, 1, 0)
ONE(sin, double, 12, 12, 0, 0)
ONE(cos, double, 12, 12, 0, 0)
ONE(tan, double, 16, 16, 1, 0)
ONE(asin, double, 12, 12, 1, 1)
ONE(acos, double, 12, 12, 1, 1)
ONE(atan, double, 12, 12, 1, 0)
ONE(sinh, double, 14, 14, 1, 0)
ONE(cosh, double, 14, 14, 1, 0)
ONE(tanh, double, 14, 14, 1, 0)
ONE(cbrt, double, 6, 8, 2, 0)
ONE(sqrt, double, 0, 0, 0, 1)
ONE(erf, double, 16, 18, 1, 0)
TWO(pow, double, 24, 26, 0, 0)
TWO(atan2, double, 13, 12, 2, 0)
TWO(hypot, double, 1, 2, 0, 1)
TWO(fmod, double, 2, 2, 2, 0)
ONE(expf, float, 5, 5, 0, 0)
ONE(logf, float, 6, 5, 0, 0)
ONE(sinf, float, 7, 7, 0, 0)
ONE(cosf, float, 7, 7, 0, 0)
ONE(tanf, float, 9, 9, 1, 0)
ONE(atanf, float, 7, 7, 1, 0)
ONE(sqrtf, float, 0, 0, 0, 1)
TWO(powf, float, 14, 14, 0, 0)
TWO(atan2f, float, 8, 7, 2, 0)
TWO(hypotf, float, 1, 2, 0, 1)
TWO(fmodf, float, 2, 2, 2, 0)

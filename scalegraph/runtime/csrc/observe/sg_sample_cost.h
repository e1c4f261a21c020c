/* What samples of a phase cost, and how much that differs from one to the next: see sg_sample.c. */
#ifndef SG_SAMPLE_COST_H
#define SG_SAMPLE_COST_H

#include <stdbool.h>
#include <stdint.h>

enum { SG_RECENT = 8 }; /* samples of which a drift is found */

/* Cycles for a unit of work, or for a visit. */
typedef struct sg_sample_cost {
    double last, sum;         /* of the last sample, and of all together */
    double powers;            /* of all samples, second */
    double squares;           /* of the differences from one sample to the next */
    double recent[SG_RECENT]; /* sample n at n % SG_RECENT */
} sg_sample_cost;

/* Adds the sample `value` to `n` that are there. */
void sg_sample_add(sg_sample_cost *c, double value, uint64_t n);
/* How much the cost differs from one of `n` samples to the next, as a part of the mean. */
double sg_sample_spread(const sg_sample_cost *c, uint64_t n);
/* Are `n` samples of a phase with this part of the time alike, and do the last not go one way? */
bool sg_sample_steady(const sg_sample_cost *c, uint64_t n, double part);
/* The larger of the variance of all `n` samples and of what successive ones differ by, as a part of the mean
 * squared. */
double sg_sample_variance(const sg_sample_cost *c, uint64_t n);

#endif

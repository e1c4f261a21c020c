/* Cost of a phase's samples, and its variation from one to the next: see sg_sample.c. */
#ifndef SG_SAMPLE_COST_H
#define SG_SAMPLE_COST_H

#include <stdbool.h>
#include <stdint.h>

enum { SG_RECENT = 8 }; /* samples used to detect a drift */

/* Why visits of a phase are not skipped, in the order of PHASE_WHY (runtime/observed.py). */
enum sg_sample_why { SG_SAMPLES_STEADY, SG_SAMPLES_FEW, SG_SAMPLES_DIFFER, SG_SAMPLES_DRIFT };

/* In the order of SAMPLE_HOW (runtime/observed.py): the sample stands for skipped visits; its visit warms up
 * the caches; it stands for skipped visits, but was simulated alone between skipped ones; it stands for
 * none, since it has more work than all samples, perhaps only the part that exceeds theirs was simulated. */
enum sg_sample_how { SG_SAMPLE_STANDS, SG_SAMPLE_WARMS, SG_SAMPLE_ALONE, SG_SAMPLE_UNLIKE };

/* Cycles per unit of work, or per visit. */
typedef struct sg_sample_cost {
    double last, sum;         /* the last sample, and the sum of all */
    double powers;            /* sum of squares of the samples */
    double squares;           /* sum of squares of successive differences */
    double recent[SG_RECENT]; /* sample n at n % SG_RECENT */
} sg_sample_cost;

/* Adds the sample `value` to the `n` there are. */
void sg_sample_add(sg_sample_cost *c, double value, uint64_t n);
/* Variation between successive samples, of `n`, as a fraction of the mean. */
double sg_sample_spread(const sg_sample_cost *c, uint64_t n);
/* Are `n` samples of a phase with this fraction of the time alike, and the last ones without drift? */
enum sg_sample_why sg_sample_unsteady(const sg_sample_cost *by_visit, const sg_sample_cost *by_work,
                                      uint64_t n, double part);
/* The larger of the variance of all `n` samples and that of successive differences, as a fraction of the mean
 * squared. */
double sg_sample_variance(const sg_sample_cost *c, uint64_t n);

#endif

/* Cost of a phase's samples, see sg_sample_cost.h. */
#include "sg_sample_cost.h"

#include <math.h>

/* A phase is not skipped if its cycles per unit of work vary by more than this fraction of the mean (standard
 * deviation between successive visits): the estimate would need as many samples as there are visits. For a
 * phase with a small part of the time, this fraction of the total time does not matter. */
#define MOST_SPREAD  0.25
#define SMALL_SPREAD 0.01
/* Samples drift when each is cheaper, or dearer, than the one before, as while caches fill: the mean square
 * of successive differences is at most this fraction of its value without order (von Neumann, Annals of
 * Mathematical Statistics 12, 1941), and their standard deviation exceeds this fraction of the time of all
 * phases. */
#define DRIFT       0.6
#define LEAST_DRIFT 0.003

double sg_sample_spread(const sg_sample_cost *c, uint64_t n)
{
    double mean = c->sum / (double)n;
    return n < 2 || mean <= 0 ? 0 : sqrt(c->squares / (2.0 * (double)(n - 1))) / mean;
}

void sg_sample_add(sg_sample_cost *c, double value, uint64_t n)
{
    if (n > 0)
        c->squares += (value - c->last) * (value - c->last);
    c->last = c->recent[n % SG_RECENT] = value;
    c->sum += value;
    c->powers += value * value;
}

/* Slope of the time over the work in the last `count` samples, whose means these are; 0 if all have the same
 * work. */
static double slope(const double *time, const double *work, uint64_t count, double mean, double mean_work)
{
    double together = 0, squares = 0;
    for (uint64_t i = 0; i < count; i++) {
        double differs = work[i] - mean_work;
        together += differs * (time[i] - mean);
        squares += differs * differs;
    }
    return squares > 1e-12 * mean_work * mean_work * (double)count ? together / squares : 0;
}

/* Do the last of `n` samples of a phase with this fraction of the time drift? What their work explains, if
 * the time grows by the same amount with each unit of it, is no drift. */
static bool drifts(const sg_sample_cost *by_visit, const sg_sample_cost *by_work, uint64_t n, double part)
{
    uint64_t first = n > SG_RECENT ? n - SG_RECENT : 0, count = n - first;
    double time[SG_RECENT], work[SG_RECENT], mean = 0, mean_work = 0, around = 0, between = 0, last = 0;
    for (uint64_t i = 0; i < count; i++) {
        time[i] = by_visit->recent[(first + i) % SG_RECENT];
        work[i] = time[i] / by_work->recent[(first + i) % SG_RECENT];
        mean += time[i] / (double)count;
        mean_work += work[i] / (double)count;
    }
    double grows = slope(time, work, count, mean, mean_work);
    for (uint64_t i = 0; i < count; i++) {
        double rest = time[i] - mean - grows * (work[i] - mean_work);
        around += rest * rest;
        between += i > 0 ? (rest - last) * (rest - last) : 0;
        last = rest;
    }
    return sqrt(around / (double)(count - 1)) * part > LEAST_DRIFT * mean && between < 2 * DRIFT * around;
}

enum sg_sample_why sg_sample_unsteady(const sg_sample_cost *by_visit, const sg_sample_cost *by_work,
                                      uint64_t n, double part)
{
    double differs = fmin(sg_sample_spread(by_visit, n), sg_sample_spread(by_work, n));
    if (differs > MOST_SPREAD && differs * part > SMALL_SPREAD)
        return SG_SAMPLES_DIFFER;
    return drifts(by_visit, by_work, n, part) ? SG_SAMPLES_DRIFT : SG_SAMPLES_STEADY;
}

double sg_sample_variance(const sg_sample_cost *c, uint64_t n)
{
    double count = (double)n, mean = c->sum / count, successive = sg_sample_spread(c, n);
    if (mean <= 0)
        return 0;
    double all = (c->powers - c->sum * mean) / (count - 1) / (mean * mean);
    return all > successive * successive ? all : successive * successive;
}

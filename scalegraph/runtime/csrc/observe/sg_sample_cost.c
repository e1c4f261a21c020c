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

/* Do the last of `n` samples of a phase with this fraction of the time drift? */
static bool drifts(const sg_sample_cost *c, uint64_t n, double part)
{
    uint64_t first = n > SG_RECENT ? n - SG_RECENT : 0;
    double count = (double)(n - first), mean = 0, around = 0, between = 0;
    for (uint64_t i = first; i < n; i++)
        mean += c->recent[i % SG_RECENT] / count;
    for (uint64_t i = first; i < n; i++) {
        double value = c->recent[i % SG_RECENT],
               step = i > first ? value - c->recent[(i - 1) % SG_RECENT] : 0;
        around += (value - mean) * (value - mean);
        between += step * step;
    }
    return sqrt(around / (count - 1)) * part > LEAST_DRIFT * mean && between < 2 * DRIFT * around;
}

bool sg_sample_steady(const sg_sample_cost *c, uint64_t n, double part)
{
    double differs = sg_sample_spread(c, n);
    return (differs <= MOST_SPREAD || differs * part <= SMALL_SPREAD) && !drifts(c, n, part);
}

double sg_sample_variance(const sg_sample_cost *c, uint64_t n)
{
    double count = (double)n, mean = c->sum / count, successive = sg_sample_spread(c, n);
    if (mean <= 0)
        return 0;
    double all = (c->powers - c->sum * mean) / (count - 1) / (mean * mean);
    return all > successive * successive ? all : successive * successive;
}

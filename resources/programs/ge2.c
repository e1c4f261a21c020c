/* Gauss elimination with fixed row ownership; the main thread pivots.
 *
 * Row i belongs to processor i mod N throughout, so a row stays in its owner's caches unless
 * the main thread swaps it with another. Compare ge1.c, where a row changes hands at every
 * step.
 *
 *     ge2 N [4|8 [SEED [verify]]]      eliminates a dense N x N system of elements of 4 or 8 bytes; with
 *                                      `verify` also prints its solution
 */
#include "gauss.h"
#include <omp.h>

static void eliminate(const gauss *g)
{
#pragma omp parallel
    {
        int processors = omp_get_num_threads();
        int self = omp_get_thread_num();

        for (int i = self; i < g->n; i += processors)
            initialize_row(g, i);
#pragma omp barrier
        for (int k = 0; k < g->n; k++) {
#pragma omp master
            pivot(g, k);
#pragma omp barrier
            int first = k + 1 + (self - (k + 1) % processors + processors) % processors;
            for (int i = first; i < g->n; i += processors)
                eliminate_row(g, i, k);
#pragma omp barrier
        }
    }
}

int main(int argc, char **argv)
{
    return gauss_main(argc, argv, eliminate);
}

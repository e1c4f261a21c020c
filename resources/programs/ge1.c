/* Gauss elimination in which rows move between processors; the main thread pivots.
 *
 * At every step the remaining rows are redistributed, one by one, beginning with the row below the pivot. So
 * a processor works on a row that another one changed in the previous step, and has to fetch it first.
 * Compare ge2.c, where every row has a fixed owner.
 *
 *     ge1 N [4|8 [SEED [verify]]]      eliminates a dense N x N system of elements of 4 or 8 bytes; with
 *                                      `verify` also prints its solution
 */
#include "gauss.h"
#include <omp.h>

static void eliminate(const gauss *g)
{
#pragma omp parallel
    {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < g->n; i++)
            initialize_row(g, i);
        for (int k = 0; k < g->n; k++) {
#pragma omp master
            pivot(g, k);
#pragma omp barrier
#pragma omp for schedule(static, 1)
            for (int i = k + 1; i < g->n; i++)
                eliminate_row(g, i, k);
        }
    }
}

int main(int argc, char **argv)
{
    return gauss_main(argc, argv, eliminate);
}

/* Processors arrive at barriers one after another, far apart; region 1 is the third barrier. */
#include <omp.h>

double x[64][16];

static void work(int me)
{
    for (int i = 0; i < 500 * (me + 1); i++)
        x[me][0] = x[me][0] * 0.5 + 1;
}

int main(void)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        for (int round = 0; round < 2; round++) {
            work(me);
#pragma omp barrier
        }
        work(me);
        {
            SCALEGRAPH_SCOPE(1);
#pragma omp barrier
        }
    }
    return 0;
}

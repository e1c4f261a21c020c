/* Processor 0 works ten times as long as the others before the barrier. */
#include <omp.h>

double x[64][16];

int main(void)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < (me == 0 ? 10000 : 1000); i++)
            x[me][0] = x[me][0] * 0.5 + 1;
#pragma omp barrier
    }
    return 0;
}

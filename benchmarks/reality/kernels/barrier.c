/* Time of a barrier: prints "THREADS;us" for "#pragma omp barrier" with all threads.
 *   barrier ROUNDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **argument)
{
    int rounds = count > 1 ? atoi(argument[1]) : 100;
#pragma omp parallel
    {
        double start = 0;
        for (int i = -10; i < rounds; i++) { /* the first ones warm up the caches */
            if (i == 0)
                start = omp_get_wtime();
#pragma omp barrier
        }
#pragma omp master
        printf("%d;%.5f\n", omp_get_num_threads(), (omp_get_wtime() - start) * 1e6 / rounds);
    }
    return 0;
}

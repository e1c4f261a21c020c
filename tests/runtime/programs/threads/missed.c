/* One of two threads skips a barrier: the argument says which. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int misses = argc > 1 ? atoi(argv[1]) : 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num() != misses) {
#pragma omp barrier
        }
    }
    puts("never");
    return 0;
}

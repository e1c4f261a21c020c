#include <omp.h>
#include <stdio.h>

int *volatile nowhere;

int main(void)
{
    printf("output before the fault\n");
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        nowhere[4] = 1;
    return 0;
}

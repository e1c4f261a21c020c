#include <omp.h>
#include <stdio.h>

int main(void)
{
    int size = 0;
    for (int i = 0; i < 2; i++)
#pragma omp parallel num_threads(64)
#pragma omp single
        size = omp_get_num_threads();
    printf("%d\n", size);
    return 0;
}

#include <stdio.h>

int *nowhere;

int main(void)
{
    printf("before\n");
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        nowhere[3] = 1;
    }
    return 0;
}

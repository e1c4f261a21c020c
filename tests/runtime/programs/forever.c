#include <stdio.h>

volatile int flag;

int main(void)
{
    printf("begun\n");
    fflush(stdout);
#pragma omp parallel
    while (!flag)
        ;
    return 0;
}

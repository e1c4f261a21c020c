/* A processor that waits for a variable another one sets makes progress. */
#include <omp.h>
#include <stdio.h>

volatile int ready;
int value;

int main(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        while (!ready)
            ;
        printf("%d\n", value);
    } else {
        value = 42;
        ready = 1;
    }
    return 0;
}

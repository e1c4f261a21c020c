#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void bye(void)
{
    printf("bye\n");
}

int main(void)
{
    atexit(bye);
#pragma omp parallel
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            exit(7);
#pragma omp barrier
    }
    return 0;
}

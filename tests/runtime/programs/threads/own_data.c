/* Every processor has thread data, errno and a stack of its own. */
#include <errno.h>
#include <omp.h>
#include <stdio.h>

static int own;
#pragma omp threadprivate(own)

int main(void)
{
    int faults = 0;
#pragma omp parallel reduction(+ : faults)
    {
        int me = omp_get_thread_num();
        volatile int stack[64];
        own = errno = stack[5] = me;
#pragma omp barrier
        faults += own != me || errno != me || stack[5] != me;
    }
    printf("%d\n", faults);
    return 0;
}

/* Tasks that must run one after the other, in the order of their creation. */
#include <stdio.h>

enum { TASKS = 64 };

int main(void)
{
    static int order[TASKS], at;
    long x = 1;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i) depend(inout : x) shared(x)
    {
        for (int k = 0; k < 2000; k++)
            x = x * 5 + k;
        order[at++] = i;
    }
    for (int i = 0; i < TASKS; i++)
        printf("%d ", order[i]);
    printf("%ld\n", x);
    return 0;
}

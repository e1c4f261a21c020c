/* Recursion by tasks, and independent tasks: N processors should be nearly N times as fast. */
#include <stdio.h>

enum { TASKS = 256, CUT = 8 };

static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) if (n > CUT)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > CUT)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static long work(long x)
{
    for (int i = 0; i < 3000; i++)
        x = x * 5 + i;
    return x;
}

int main(void)
{
    static long result[TASKS];
    long number, sum = 0;
#pragma omp parallel
    {
#pragma omp single
        number = fibonacci(20);
#pragma omp single
        for (int i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i)
            result[i] = work(i);
    }
    for (int i = 0; i < TASKS; i++)
        sum += result[i];
    printf("%ld %ld\n", number, sum);
    return 0;
}

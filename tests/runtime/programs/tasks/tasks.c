/* Explicit tasks: recursion, dependences, groups, loops. */
#include <stdio.h>

static int fib(int n)
{
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    int f = 0, x = 0, y = 0, sum = 0, cells[40] = {0};
#pragma omp parallel
#pragma omp single
    {
        f = fib(12);
#pragma omp task depend(out : x)
        x = 5;
#pragma omp task depend(in : x) depend(out : y)
        y = x + 1;
#pragma omp taskwait
#pragma omp taskgroup
        for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(i)
        {
#pragma omp atomic
            sum += i;
        }
#pragma omp taskloop grainsize(3)
        for (int i = 0; i < 40; i++)
            cells[i] += i;
    }
    int total = 0;
    for (int i = 0; i < 40; i++)
        total += cells[i];
    printf("%d %d %d %d %d\n", f, x, y, sum, total);
    return 0;
}

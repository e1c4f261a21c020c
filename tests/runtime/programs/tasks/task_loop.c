/* Task loops, task reductions of every construct. */
#include <omp.h>
#include <stdio.h>

static int hits[1000];

static void loops(void)
{
    long sum = 0, down = 0;
    int last = -1;
#pragma omp taskloop grainsize(7)
    for (int i = 0; i < 1000; i++)
        hits[i]++;
#pragma omp taskloop num_tasks(13) reduction(+ : sum) lastprivate(last)
    for (int i = 0; i < 1000; i += 3) {
        sum += i;
        last = i;
    }
#pragma omp taskloop collapse(2) nogroup
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 50; j++)
            hits[i * 50 + j]++;
#pragma omp taskwait
#if __GNUC__ >= 12
#pragma omp taskloop reduction(+ : down) grainsize(strict : 11)
#else
#pragma omp taskloop reduction(+ : down) grainsize(11)
#endif
    for (unsigned long long k = 1000; k > 0; k--)
        down += (long)k;
#pragma omp taskgroup task_reduction(+ : down)
    for (int i = 0; i < 40; i++)
#pragma omp task in_reduction(+ : down) firstprivate(i)
        down += i;
    printf("%ld %d %ld\n", sum, last, down);
}

int main(void)
{
    long members = 0, product = 3, sections = 0;
    int wrong = 0;
#pragma omp parallel
#pragma omp single
    loops();
#pragma omp parallel reduction(task, + : members)
#pragma omp task in_reduction(+ : members)
    members++;
#pragma omp parallel
    {
#pragma omp for reduction(task, * : product) schedule(dynamic)
        for (int i = 0; i < 4; i++)
#pragma omp task in_reduction(* : product)
            product *= 2;
#pragma omp sections reduction(task, + : sections)
        {
#pragma omp section
#pragma omp task in_reduction(+ : sections)
            sections += 1;
#pragma omp section
            sections += 10;
        }
    }
    for (int i = 0; i < 1000; i++)
        wrong += hits[i] != 2;
    printf("%d %ld %ld %d\n", wrong, product, sections, members == omp_get_max_threads());
    return 0;
}

/* Tasks in groups inside groups take part in the task reductions of the groups around; warnings are printed.
 */
#include <omp.h>
#include <stdio.h>

static long loop_in_parallel(int n)
{
    long sum = 1;
#pragma omp parallel reduction(task, + : sum)
#pragma omp master
#pragma omp taskloop in_reduction(+ : sum) grainsize(3)
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static long groups(int depth)
{
    long sum = 2, product = 1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    {
#pragma omp taskgroup task_reduction(* : product)
        {
#pragma omp taskgroup
            for (int i = 0; i < depth; i++) {
#pragma omp task in_reduction(+ : sum) in_reduction(* : product)
                {
                    sum += i;
                    product *= 2;
                }
            }
#pragma omp task in_reduction(+ : sum)
            sum += 1000;
        }
    }
    return sum * 100000 + product;
}

static long worksharing(int n)
{
    long sum = 0;
#pragma omp parallel
    {
#pragma omp for reduction(task, + : sum)
        for (int i = 0; i < n; i++) {
#pragma omp taskgroup
            {
#pragma omp task in_reduction(+ : sum)
                sum += i;
            }
        }
    }
    return sum;
}

int main(void)
{
    printf("%ld %ld %ld\n", loop_in_parallel(100), groups(10), worksharing(50));
#pragma omp error at(execution) severity(warning) message("as expected")
    return 0;
}

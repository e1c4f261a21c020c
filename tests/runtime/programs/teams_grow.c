/* Teams of 3, 3, 5 and 2 threads, and one of 2 in which each starts 2: existing threads are reused. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    const int sizes[] = {3, 3, 5, 2};
    int sum = 0;
    omp_set_max_active_levels(2);
    for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(sizes[i]) reduction(+ : sum)
        sum++;
    }
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum++;
    printf("%d\n", sum);
    return 0;
}

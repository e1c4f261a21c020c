/* Says where the members of a team run, and where those of the nested team of member 2. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

int main(void)
{
    int place[64], processor[64], parts[64], n = omp_get_max_threads();
    printf("%d %d %d\n", omp_get_proc_bind(), omp_get_num_places(), omp_get_num_procs());
#pragma omp parallel
    {
        int i = omp_get_thread_num();
        place[i] = omp_get_place_num();
        processor[i] = sched_getcpu();
        parts[i] = omp_get_partition_num_places();
#pragma omp parallel num_threads(2) proc_bind(close) if (i == 2)
#pragma omp critical
        if (i == 2)
            printf("nested %d %d\n", omp_get_thread_num(), omp_get_place_num());
    }
    for (int i = 0; i < n; i++)
        printf("%d:%d/%d ", place[i], processor[i], parts[i]);
    printf("\n");
    return 0;
}

/* Cancellation of loops, sections, regions and task groups. */
#include <omp.h>
#include <stdio.h>

enum { LOOP = 1000, TASKS = 200 };

int main(void)
{
    int found = -1, iterations = 0, tasks = 0, after = 0, sections = 0;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < LOOP; i++) {
#pragma omp cancellation point for
#pragma omp atomic
            iterations++;
            if (i == 3) {
#pragma omp atomic write
                found = i;
#pragma omp cancel for
            }
        }
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp atomic
                sections++;
#pragma omp cancel sections
            }
#pragma omp section
#pragma omp atomic
            sections++;
        }
    }
#pragma omp parallel
    {
#pragma omp single
#pragma omp taskgroup
        for (int i = 0; i < TASKS; i++)
#pragma omp task shared(tasks)
        {
#pragma omp atomic
            tasks++;
#pragma omp cancel taskgroup
        }
        if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp atomic
        after++;
    }
    int members = omp_get_max_threads();
    printf("%d %d %d %d\n", found, iterations < LOOP, tasks < TASKS, sections >= 1);
    printf("%d\n", omp_get_cancellation() ? after : after - members);
    return 0;
}

/* Nested regions: which thread is whose ancestor, and which threads work. */
#include <omp.h>
#include <stdio.h>

static int kept;
#pragma omp threadprivate(kept)

int main(void)
{
    int seen[4][3] = {{0}}, wrong = 0, stayed = 1;
#pragma omp parallel num_threads(4)
    kept = 10 + omp_get_thread_num();
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3) reduction(+ : wrong)
        {
            int inner = omp_get_thread_num();
#pragma omp atomic
            seen[outer][inner]++;
            wrong += omp_get_ancestor_thread_num(1) != outer || omp_get_ancestor_thread_num(2) != inner;
            wrong += omp_get_level() != 2 || omp_get_active_level() != 2 || omp_get_team_size(1) != 4;
#pragma omp barrier
#pragma omp for schedule(dynamic)
            for (int k = 0; k < 10; k++)
#pragma omp atomic
                seen[outer][0]++;
#pragma omp parallel num_threads(2) if (inner == 1)
#pragma omp critical
            seen[outer][2] += 100 * omp_get_num_threads();
        }
    }
#pragma omp parallel num_threads(4) reduction(&& : stayed)
    stayed = kept == 10 + omp_get_thread_num();
    for (int i = 0; i < 4; i++)
        printf("%d %d %d\n", seen[i][0], seen[i][1], seen[i][2]);
    printf("%d %d %d\n", wrong, stayed, omp_get_max_active_levels());
    return 0;
}

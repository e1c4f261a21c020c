/* Loops whose iterations wait for others, and ordered regions under every schedule. */
#include <stdio.h>

enum { N = 30, M = 20 };
static long cell[N][M], line[N];

#define ORDERED(clause)                                                                                      \
    _Pragma(clause) for (int i = 0; i < 12; i++)                                                             \
    {                                                                                                        \
        _Pragma("omp ordered") printf("%d ", i);                                                             \
    }

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            cell[i][j] = 1;
#pragma omp parallel
    {
#pragma omp for ordered(2) schedule(static, 1)
        for (int i = 1; i < N; i++)
            for (int j = 1; j < M; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                cell[i][j] = (cell[i - 1][j] + cell[i][j - 1]) % 1000003;
#pragma omp ordered depend(source)
            }
#pragma omp for ordered(1) schedule(dynamic, 2)
        for (unsigned long long i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
            line[i] = line[i - 1] * 3 + (long)i;
#pragma omp ordered depend(source)
        }
        ORDERED("omp for ordered schedule(static)")
        ORDERED("omp for ordered schedule(static, 2)")
        ORDERED("omp for ordered schedule(dynamic)")
        ORDERED("omp for ordered schedule(guided)")
        ORDERED("omp for ordered schedule(runtime)")
    }
    printf("\n%ld %ld\n", cell[N - 1][M - 1], line[N - 1]);
    return 0;
}

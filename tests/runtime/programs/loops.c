/* Worksharing loops of every schedule, types, directions; each iteration runs exactly once. */
#include <omp.h>
#include <stdio.h>

enum { N = 103 };
static int seen[8][N];

static int bad(int k, int last, int step)
{
    int faults = 0;
    for (int i = 0; i < N; i++)
        faults += seen[k][i] != (i < last && i % step == 0);
    return faults;
}

int main(void)
{
    long sum = 0;
    int last = -1;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            seen[0][i]++;
#pragma omp for schedule(static, 4) nowait
        for (int i = 0; i < N; i++)
            seen[1][i]++;
#pragma omp for schedule(dynamic, 3) nowait
        for (int i = 0; i < N; i += 2)
            seen[2][i]++;
#pragma omp for schedule(guided) reduction(+ : sum)
        for (int i = N - 1; i >= 0; i--) {
            seen[3][i]++;
            sum += i;
        }
#pragma omp for schedule(runtime) lastprivate(last)
        for (unsigned long i = 0; i < N; i++) {
            seen[4][i]++;
            last = (int)i;
        }
#pragma omp for schedule(dynamic)
        for (unsigned long long i = N; i > 0; i--)
            seen[5][i - 1]++;
#pragma omp for schedule(static, 5) ordered
        for (int i = 0; i < N; i++) {
            seen[6][i]++;
#pragma omp ordered
            if (i % 25 == 0)
                printf("ordered %d\n", i);
        }
#pragma omp for schedule(dynamic, 2) ordered
        for (int i = 0; i < N; i++) {
            seen[7][i]++;
#pragma omp ordered
            if (i % 20 == 0)
                printf("in turn %d\n", i);
        }
    }
    for (int k = 0; k < 8; k++)
        printf("%d: %d\n", k, bad(k, N, k == 2 ? 2 : 1));
    int total = 0;
#pragma omp parallel for collapse(2) schedule(guided, 2) reduction(+ : total)
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 11; j++)
            total += i * j;
#pragma omp parallel for schedule(dynamic, 7) reduction(max : last)
    for (int i = 0; i < N; i++)
        last = i * 3 > last ? i * 3 : last;
#pragma omp parallel for schedule(runtime) reduction(^ : total)
    for (int i = 0; i < N; i++)
        total ^= i;
#pragma omp parallel for schedule(dynamic)
    for (int i = 5; i < 5; i++)
        printf("never\n");
    printf("%ld %d %d\n", sum, last, total);
    return 0;
}

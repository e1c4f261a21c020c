/* Dependences of every kind, checked by the order of execution. */
#include <omp.h>
#include <stdio.h>

enum { N = 8 };
static int cell[N + 1][N + 1], when[N + 1][N + 1], clock_;

static void wavefront(void)
{
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j]) firstprivate(i, j)
        {
            cell[i][j] = cell[i - 1][j] + cell[i][j - 1];
#pragma omp atomic capture
            when[i][j] = ++clock_;
        }
}

static void objects(void)
{
    int x = 0, y = 0, sum = 0;
    omp_depend_t object;
#pragma omp task depend(out : x) shared(x)
    x = 5;
#pragma omp task depend(in : x) depend(out : y) shared(x, y)
    y = x + 1;
#pragma omp taskwait depend(in : y)
    printf("%d %d\n", x, y);
#pragma omp task depend(inout : x) shared(x) if (0)
    x *= 2;
    printf("%d\n", x);
#pragma omp depobj(object) depend(inout : x)
#pragma omp task depend(depobj : object) shared(x)
    x += 100;
#pragma omp depobj(object) update(in)
#pragma omp task depend(depobj : object) shared(x, y)
    y = x;
#pragma omp taskwait
    printf("%d %d\n", x, y);
#pragma omp depobj(object) destroy
    for (int i = 0; i < 10; i++)
#pragma omp task depend(mutexinoutset : sum) shared(sum) firstprivate(i)
        sum += i;
#pragma omp task depend(in : sum) shared(sum)
    printf("%d\n", sum);
#pragma omp taskwait
}

int main(void)
{
    int late = 0;
    for (int i = 0; i <= N; i++)
        cell[i][0] = cell[0][i] = 1;
#pragma omp parallel
#pragma omp master
    {
        wavefront();
        objects();
    }
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            late += when[i - 1][j] > when[i][j] || when[i][j - 1] > when[i][j];
    printf("%d %d\n", cell[N][N], late);
    return 0;
}

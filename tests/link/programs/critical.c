#include <stdio.h>
#include <stdlib.h>

static double table[512];
static int counted;

static double work(int n)
{
    double s = 1;
    for (int i = 0; i < n; i++)
        s = s * 1.000001 + i;
    return s;
}

int main(void)
{
    double *many = malloc(4096 * sizeof *many);
#pragma omp parallel
    {
        double s = work(200);
#pragma omp for
        for (int i = 0; i < 4096; i++)
            many[i] = s + table[i % 512]++;
#pragma omp critical(counting)
        counted += work(50) > 0;
#pragma omp critical
        counted += s > 0;
    }
    printf("%d\n", counted);
    free(many);
    return 0;
}

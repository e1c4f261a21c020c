#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Sums an array; argument: its length. Reads one number from standard input if there is one. */
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, extra = 0;
    double *a = malloc(n * sizeof *a), sum = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = i * 0.5;
#pragma omp parallel for reduction(+ : sum) schedule(runtime)
    for (int i = 0; i < n; i++)
        sum += a[i];
    if (scanf("%d", &extra) == 1)
        printf("extra %d\n", extra);
    printf("sum %g, greeting %s\n", sum, getenv("GREETING") ? getenv("GREETING") : "none");
    printf("%s\n", __FILE__);
    free(a);
    return 0;
}

#include <math.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += exp(-i * argc);
    printf("%.9f %.9f\n", sum, pow(sin(argc), 2) + pow(cos(argc), 2));
    return 0;
}

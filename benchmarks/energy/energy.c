#include <stdio.h>
#include <stdlib.h>
#include <math.h>
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    double sum = 0, x, d = 1.0 / n;
#pragma omp parallel for reduction(+ : sum) private(x)
    for (long i = 0; i < n; i++) {
        x = (i + 0.5) * d;
        sum = sum + 4.0 * sqrt(1.0 - x * x);
    }
    printf("%.6f\n", sum / n);
}

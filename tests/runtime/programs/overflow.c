#include <stdio.h>

static int deeper(int n)
{
    volatile char room[1000];
    room[0] = (char)n;
    return n == 0 ? 0 : deeper(n - 1) + room[0];
}

int main(int argc, char **argv)
{
    (void)argv;
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += deeper(100000 * argc);
    printf("%d\n", sum);
    return 0;
}

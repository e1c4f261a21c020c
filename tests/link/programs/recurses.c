/* Argument: none = without end; else the depth. Every frame is larger than a page. */
#include <stdlib.h>

static int down(int depth)
{
    volatile char frame[20000];
    frame[depth % 100] = 1;
    return depth == 0 ? 0 : down(depth - 1) + frame[depth % 100];
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : -1, sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += down(depth);
    return sum == 0;
}

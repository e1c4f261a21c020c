/* Computes while it holds the lock of a stream. */
#include <stdio.h>

int main(void)
{
    volatile double x = 1;
    flockfile(stdout);
    for (int i = 0; i < 1000; i++)
        x = x * 1.0001;
    funlockfile(stdout);
    printf("%.3f\n", x);
    return 0;
}

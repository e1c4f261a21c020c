#include <stdio.h>

int main(void)
{
    volatile int x = 1;
    printf("started\n");
    fflush(stdout);
    while (x)
        x = x + 2;
    return 0;
}

#include <stdio.h>

int main(void)
{
    for (int i = 0; i < 20000; i++)
        printf("line %d\n", i);
    return 0;
}

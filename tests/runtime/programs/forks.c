#include <stdio.h>
#include <unistd.h>

int main(void)
{
    printf("before\n");
    return fork() == 0;
}

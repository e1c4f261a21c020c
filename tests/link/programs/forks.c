#include <stdio.h>
#include <unistd.h>

int main(void)
{
    if (fork() == 0)
        printf("child\n");
    return 0;
}

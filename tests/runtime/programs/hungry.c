#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *p = malloc((size_t)1 << 40);
    if (p == NULL) {
        fprintf(stderr, "no memory\n");
        return 3;
    }
    return 0;
}

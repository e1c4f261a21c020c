#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    for (;;) {
        char *more = malloc(64 << 20);
        if (more == NULL) {
            fprintf(stderr, "no memory\n");
            return 3;
        }
        more[0] = 1;
    }
}

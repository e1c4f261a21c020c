/* The heap, and functions of the C library that move memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    int faults = 0;
    char *blocks[200];
#pragma omp parallel for reduction(+ : faults)
    for (int i = 0; i < 200; i++) {
        size_t size = (size_t)(i * i * 7 + 1);
        blocks[i] = malloc(size);
        memset(blocks[i], i, size);
        blocks[i] = realloc(blocks[i], 3 * size);
        faults += (uintptr_t)blocks[i] % 16 != 0 || blocks[i][size - 1] != (char)i;
    }
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < i * i * 7 + 1; k++)
            faults += blocks[i][k] != (char)i;
        free(blocks[i]);
    }
    for (int i = 0; i < 50; i++) {
        size_t alignment = (size_t)16 << i % 9;
        void *p = NULL;
        faults += posix_memalign(&p, alignment, 100) != 0 || (uintptr_t)p % alignment != 0;
        int *q = calloc(1000, sizeof(int));
        for (int k = 0; k < 1000; k++)
            faults += q[k] != 0;
        memset(q, 1, 4000);
        free(q);
        free(p);
    }
    char a[64], *b = strdup("simulated");
    strcpy(a, b);
    strcat(a, " machine");
    memmove(a + 1, a, strlen(a) + 1);
    printf("%d %s %d %d\n", faults, a, strcmp(a, b) != 0, (int)(strchr(a, 'm') - a));
    int numbers[500];
    for (int i = 0; i < 500; i++)
        numbers[i] = i * 7919 % 500;
    qsort(numbers, 500, sizeof(int), compare);
    for (int i = 0; i < 500; i++)
        faults += numbers[i] != i;
    printf("%d\n", faults);
    return 0;
}

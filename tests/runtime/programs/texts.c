/* Functions of the C library that move, compare and search memory, and sorting. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
static int cmp(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv)
{
    (void)argv;
    char buf[200], b2[200];
    const char *volatile t = "the quick brown fox jumps over the lazy dog";
    const char *volatile q = "lazy";
    char *end = memccpy(buf, t, 'q', 100);
    *end = 0;
    printf("%s|", buf);
    char *d = strdup(t), *e = strndup(t, 9);
    printf("%s|%s|", d, e);
    strcpy(buf, "ab");
    strncat(buf, t, 5);
    printf("%s|", buf);
    printf("%ld|", (long)(stpncpy(b2, t, 10) - b2));
    bcopy(t, b2, 10);
    printf("%.10s|", b2);
    printf("%s|%s|%s|%s|", strrchr(t, 'o'), (char *)memrchr(t, 'u', 40), strstr(t, q),
           (char *)memmem(t, 44, q, 4));
    printf("%s|%zu|%zu|", strpbrk(t, "xyz"), strspn(t, "eht "), strcspn(t, "q"));
    printf("%d %d|", strcasecmp("ABC", t + argc - 1) > 0, bcmp(t, d, 10));
    wchar_t w[50], v[50];
    wmemset(w, L'x', 20);
    w[20] = 0;
    wmemcpy(v, w, 21);
    wmemmove(v + 1, v, 20);
    v[21] = 0;
    printf("%zu %d|", wcslen(v), wmemcmp(v, w, 20));
    int n[100];
    for (int i = 0; i < 100; i++)
        n[i] = (i * 37) % 101;
    qsort(n, 100, sizeof *n, cmp);
    for (int i = 1; i < 100; i++)
        if (n[i] < n[i - 1])
            return 1;
    puts("sorted");
    return 0;
}

/* More C library functions that move or search memory: their references are simulated line by line. Searches
 * are charged for the bytes they had to examine. */
#include <stdio.h>
#include <strings.h>
#include <wchar.h>

#include "sg_work.h"

static void reads(const void *address, size_t size, const void *site)
{
    sg_reference_range(address, size, SG_READ, site);
}

static void writes(const void *address, size_t size, const void *site)
{
    sg_reference_range(address, size, SG_WRITE, site);
}

#define WRAP(type, name, parameters)                                                                         \
    type __wrap_##name parameters;                                                                           \
    extern type real_##name parameters __asm__("__real_" #name);                                             \
    SG_API type __wrap_##name parameters

/* Bytes read of a string by a function that stopped at `end`; NULL: all of it. */
static size_t upto(const char *text, const void *end)
{
    return (end != NULL ? (size_t)((const char *)end - text) : strlen(text)) + 1;
}

/* ---- copies ---- */

WRAP(void *, memccpy, (void *restrict to, const void *restrict from, int value, size_t size))
{
    char *end = real_memccpy(to, from, value, size);
    size_t moved = end != NULL ? (size_t)(end - (char *)to) : size;
    reads(from, moved, SG_CALLER);
    writes(to, moved, SG_CALLER);
    return end;
}

WRAP(char *, strdup, (const char *text))
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy == NULL)
        return NULL;
    reads(text, size, SG_CALLER);
    writes(copy, size, SG_CALLER);
    return memcpy(copy, text, size);
}

WRAP(char *, strndup, (const char *text, size_t most))
{
    char *copy = real_strndup(text, most);
    if (copy != NULL) {
        reads(text, strlen(copy) + 1, SG_CALLER);
        writes(copy, strlen(copy) + 1, SG_CALLER);
    }
    return copy;
}

WRAP(char *, strncat, (char *restrict to, const char *restrict from, size_t most))
{
    size_t before = strlen(to);
    real_strncat(to, from, most);
    size_t added = strlen(to) - before;
    reads(to, before + 1, SG_CALLER);
    reads(from, added < most ? added + 1 : most, SG_CALLER);
    writes(to + before, added + 1, SG_CALLER);
    return to;
}

WRAP(char *, stpncpy, (char *restrict to, const char *restrict from, size_t most))
{
    char *end = real_stpncpy(to, from, most);
    size_t length = (size_t)(end - to);
    reads(from, length < most ? length + 1 : most, SG_CALLER);
    writes(to, most, SG_CALLER);
    return end;
}

WRAP(void, bcopy, (const void *from, void *to, size_t size))
{
    reads(from, size, SG_CALLER);
    writes(to, size, SG_CALLER);
    memmove(to, from, size);
}

/* ---- searches ---- */

WRAP(char *, strrchr, (const char *text, int value))
{
    reads(text, strlen(text) + 1, SG_CALLER);
    return real_strrchr(text, value);
}

WRAP(void *, memrchr, (const void *from, int value, size_t size))
{
    char *found = real_memrchr(from, value, size);
    const char *first = found != NULL ? found : from;
    reads(first, (size_t)((const char *)from + size - first), SG_CALLER);
    return found;
}

WRAP(char *, strstr, (const char *text, const char *part))
{
    char *found = real_strstr(text, part);
    size_t length = strlen(part);
    reads(text, found != NULL ? (size_t)(found - text) + length : strlen(text) + 1, SG_CALLER);
    reads(part, length + 1, SG_CALLER);
    return found;
}

WRAP(void *, memmem, (const void *from, size_t size, const void *part, size_t length))
{
    char *found = real_memmem(from, size, part, length);
    reads(from, found != NULL ? (size_t)(found - (const char *)from) + length : size, SG_CALLER);
    reads(part, length, SG_CALLER);
    return found;
}

WRAP(char *, strpbrk, (const char *text, const char *set))
{
    char *found = real_strpbrk(text, set);
    reads(text, upto(text, found), SG_CALLER);
    reads(set, strlen(set) + 1, SG_CALLER);
    return found;
}

WRAP(size_t, strspn, (const char *text, const char *set))
{
    size_t length = real_strspn(text, set);
    reads(text, length + 1, SG_CALLER);
    reads(set, strlen(set) + 1, SG_CALLER);
    return length;
}

WRAP(size_t, strcspn, (const char *text, const char *set))
{
    size_t length = real_strcspn(text, set);
    reads(text, length + 1, SG_CALLER);
    reads(set, strlen(set) + 1, SG_CALLER);
    return length;
}

WRAP(int, strcasecmp, (const char *a, const char *b))
{
    int result = real_strcasecmp(a, b);
    size_t x = strlen(a), y = strlen(b), most = (x < y ? x : y) + 1;
    size_t same = 0;
    while (same + 1 < most && strncasecmp(a + same, b + same, 1) == 0)
        same++;
    reads(a, same + 1, SG_CALLER);
    reads(b, same + 1, SG_CALLER);
    return result;
}

WRAP(int, bcmp, (const void *a, const void *b, size_t size))
{
    reads(a, size, SG_CALLER);
    reads(b, size, SG_CALLER);
    return memcmp(a, b, size);
}

/* ---- wide characters ---- */

WRAP(wchar_t *, wmemcpy, (wchar_t *restrict to, const wchar_t *restrict from, size_t count))
{
    reads(from, count * sizeof(wchar_t), SG_CALLER);
    writes(to, count * sizeof(wchar_t), SG_CALLER);
    return memcpy(to, from, count * sizeof(wchar_t));
}

WRAP(wchar_t *, wmemmove, (wchar_t * to, const wchar_t *from, size_t count))
{
    reads(from, count * sizeof(wchar_t), SG_CALLER);
    writes(to, count * sizeof(wchar_t), SG_CALLER);
    return memmove(to, from, count * sizeof(wchar_t));
}

WRAP(wchar_t *, wmemset, (wchar_t * to, wchar_t value, size_t count))
{
    writes(to, count * sizeof(wchar_t), SG_CALLER);
    return real_wmemset(to, value, count);
}

WRAP(int, wmemcmp, (const wchar_t *a, const wchar_t *b, size_t count))
{
    reads(a, count * sizeof(wchar_t), SG_CALLER);
    reads(b, count * sizeof(wchar_t), SG_CALLER);
    return real_wmemcmp(a, b, count);
}

WRAP(size_t, wcslen, (const wchar_t *text))
{
    size_t length = real_wcslen(text);
    reads(text, (length + 1) * sizeof(wchar_t), SG_CALLER);
    return length;
}

/* ---- sorting: the program's comparisons make their own references; a merge sort moves every element once
 * per doubling of the sorted runs ---- */

typedef int comparison(const void *, const void *);

/* A sort branches on each comparison; predicted correctly if the result is the same as the last one. */
typedef struct sorting {
    comparison *compare;
    uint64_t surprises;
    bool less;
} sorting;

static int compare_and_note(const void *a, const void *b, void *argument)
{
    sorting *s = argument;
    int order = s->compare(a, b);
    s->surprises += s->less != (order <= 0);
    s->less = order <= 0;
    return order;
}

WRAP(void, qsort, (void *base, size_t count, size_t size, comparison *compare))
{
    sorting s = {.compare = compare};
    if (sg_now->coroutine == NULL) {
        real_qsort(base, count, size, compare);
        return;
    }
    for (size_t run = 1; run < count; run *= 2) {
        reads(base, count * size, SG_CALLER);
        writes(base, count * size, SG_CALLER);
    }
    qsort_r(base, count, size, compare_and_note, &s);
    sg_work_of_sort(count, s.surprises, SG_CALLER);
}

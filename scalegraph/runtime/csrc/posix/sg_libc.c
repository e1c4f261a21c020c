/* C library functions that move memory: their references are simulated line by line. */
#include <string.h>
#include <strings.h>

#include "sg_runtime.h"

static void reads(const void *address, size_t size, const void *site)
{
    sg_reference_range(address, size, SG_READ, site);
}

static void writes(const void *address, size_t size, const void *site)
{
    sg_reference_range(address, size, SG_WRITE, site);
}

void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t size);
SG_API void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t size)
{
    reads(from, size, SG_CALLER);
    writes(to, size, SG_CALLER);
    return memcpy(to, from, size);
}

void *__wrap_mempcpy(void *restrict to, const void *restrict from, size_t size);
SG_API void *__wrap_mempcpy(void *restrict to, const void *restrict from, size_t size)
{
    reads(from, size, SG_CALLER);
    writes(to, size, SG_CALLER);
    return (char *)memcpy(to, from, size) + size;
}

void *__wrap_memmove(void *to, const void *from, size_t size);
SG_API void *__wrap_memmove(void *to, const void *from, size_t size)
{
    reads(from, size, SG_CALLER);
    writes(to, size, SG_CALLER);
    return memmove(to, from, size);
}

void *__wrap_memset(void *to, int value, size_t size);
SG_API void *__wrap_memset(void *to, int value, size_t size)
{
    writes(to, size, SG_CALLER);
    return memset(to, value, size);
}

void __wrap_bzero(void *to, size_t size);
SG_API void __wrap_bzero(void *to, size_t size)
{
    writes(to, size, SG_CALLER);
    memset(to, 0, size);
}

int __wrap_memcmp(const void *a, const void *b, size_t size);
SG_API int __wrap_memcmp(const void *a, const void *b, size_t size)
{
    reads(a, size, SG_CALLER);
    reads(b, size, SG_CALLER);
    return memcmp(a, b, size);
}

void *__wrap_memchr(const void *a, int value, size_t size);
extern void *real_memchr(const void *a, int value, size_t size) __asm__("__real_memchr");
SG_API void *__wrap_memchr(const void *a, int value, size_t size)
{
    char *found = real_memchr(a, value, size);
    reads(a, found != NULL ? (size_t)(found - (const char *)a) + 1 : size, SG_CALLER);
    return found;
}

size_t __wrap_strlen(const char *text);
SG_API size_t __wrap_strlen(const char *text)
{
    size_t size = strlen(text);
    reads(text, size + 1, SG_CALLER);
    return size;
}

size_t __wrap_strnlen(const char *text, size_t most);
SG_API size_t __wrap_strnlen(const char *text, size_t most)
{
    const char *end = real_memchr(text, 0, most);
    size_t size = end != NULL ? (size_t)(end - text) : most;
    reads(text, size < most ? size + 1 : most, SG_CALLER);
    return size;
}

char *__wrap_strcpy(char *restrict to, const char *restrict from);
SG_API char *__wrap_strcpy(char *restrict to, const char *restrict from)
{
    size_t size = strlen(from) + 1;
    reads(from, size, SG_CALLER);
    writes(to, size, SG_CALLER);
    return memcpy(to, from, size);
}

char *__wrap_stpcpy(char *restrict to, const char *restrict from);
SG_API char *__wrap_stpcpy(char *restrict to, const char *restrict from)
{
    size_t size = strlen(from) + 1;
    reads(from, size, SG_CALLER);
    writes(to, size, SG_CALLER);
    return (char *)memcpy(to, from, size) + size - 1;
}

char *__wrap_strncpy(char *restrict to, const char *restrict from, size_t most);
extern char *real_strncpy(char *restrict to, const char *restrict from,
                          size_t most) __asm__("__real_strncpy");
SG_API char *__wrap_strncpy(char *restrict to, const char *restrict from, size_t most)
{
    const char *end = real_memchr(from, 0, most);
    reads(from, end != NULL ? (size_t)(end - from) + 1 : most, SG_CALLER);
    writes(to, most, SG_CALLER);
    return real_strncpy(to, from, most);
}

char *__wrap_strcat(char *restrict to, const char *restrict from);
SG_API char *__wrap_strcat(char *restrict to, const char *restrict from)
{
    size_t before = strlen(to), size = strlen(from) + 1;
    reads(to, before + 1, SG_CALLER);
    reads(from, size, SG_CALLER);
    writes(to + before, size, SG_CALLER);
    memcpy(to + before, from, size);
    return to;
}

/* Bytes of two strings that a comparison examines: up to and including the first difference. */
static size_t compared(const char *a, const char *b, size_t most)
{
    size_t i = 0;
    while (i < most && a[i] == b[i] && a[i] != 0)
        i++;
    return i < most ? i + 1 : most;
}

int __wrap_strcmp(const char *a, const char *b);
extern int real_strcmp(const char *a, const char *b) __asm__("__real_strcmp");
SG_API int __wrap_strcmp(const char *a, const char *b)
{
    size_t size = compared(a, b, SIZE_MAX);
    reads(a, size, SG_CALLER);
    reads(b, size, SG_CALLER);
    return real_strcmp(a, b);
}

int __wrap_strncmp(const char *a, const char *b, size_t most);
extern int real_strncmp(const char *a, const char *b, size_t most) __asm__("__real_strncmp");
SG_API int __wrap_strncmp(const char *a, const char *b, size_t most)
{
    size_t size = compared(a, b, most);
    reads(a, size, SG_CALLER);
    reads(b, size, SG_CALLER);
    return real_strncmp(a, b, most);
}

char *__wrap_strchr(const char *text, int value);
extern char *real_strchr(const char *text, int value) __asm__("__real_strchr");
SG_API char *__wrap_strchr(const char *text, int value)
{
    char *found = real_strchr(text, value);
    reads(text, (found != NULL ? (size_t)(found - text) : strlen(text)) + 1, SG_CALLER);
    return found;
}

/* C library functions that the linker's --wrap redirects in the program, spelt as the runtime itself must
 * call them. Include it after the system's headers. */
#ifndef SG_NAMES_H
#define SG_NAMES_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size) __asm__("__real_memcpy");
void *memmove(void *to, const void *from, size_t size) __asm__("__real_memmove");
void *memset(void *to, int value, size_t size) __asm__("__real_memset");
int memcmp(const void *a, const void *b, size_t size) __asm__("__real_memcmp");
size_t strlen(const char *text) __asm__("__real_strlen");
int strcasecmp(const char *a, const char *b) __asm__("__real_strcasecmp");
size_t strnlen(const char *text, size_t most) __asm__("__real_strnlen");
int strcmp(const char *a, const char *b) __asm__("__real_strcmp");
int strncmp(const char *a, const char *b, size_t most) __asm__("__real_strncmp");
char *strcpy(char *restrict to, const char *restrict from) __asm__("__real_strcpy");
char *strchr(const char *text, int value) __asm__("__real_strchr");
size_t strspn(const char *text, const char *set) __asm__("__real_strspn");
void qsort(void *items, size_t count, size_t size,
           int (*compare)(const void *, const void *)) __asm__("__real_qsort");
size_t strcspn(const char *text, const char *set) __asm__("__real_strcspn");
char *strrchr(const char *text, int value) __asm__("__real_strrchr");
char *strstr(const char *text, const char *part) __asm__("__real_strstr");
int snprintf(char *to, size_t size, const char *format, ...) __asm__("__real_snprintf");
void *mmap(void *address, size_t size, int protection, int flags, int file,
           off_t offset) __asm__("__real_mmap");

/* The C library's own lock of a stream; the simulated machine provides flockfile (sg_stdio.c). */
int _IO_ftrylockfile(FILE *stream);
void _IO_funlockfile(FILE *stream);

#endif

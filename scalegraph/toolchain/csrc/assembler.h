/* Our assembler: its parts, see assembler.c. */
#ifndef SCALEGRAPH_ASSEMBLER_H
#define SCALEGRAPH_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *start;
    size_t length, room;
} text;

/* Part of the compiler's output: a line, or a word of it. */
typedef struct {
    const char *start;
    size_t length;
} span;

static inline span after(span line, size_t count)
{
    return (span){line.start + count, line.length - count};
}

_Noreturn void fail(void);
void *need(void *memory);
void add(text *to, const char *from, size_t length);

/* Rewrite the compiler's output, which ends with a newline and a NUL; return what has its hooks in line,
 * nothing if none can be. */
span rewritten(span source);

#endif

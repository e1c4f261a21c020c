/* The assembler behind the compilers of simulated programs: hooks become part of the program's code.
 *
 * gcc calls it as `as` (option -B); it changes the compiler's output and calls the real assembler. The call
 * of a hook stays in place; code inserted before it handles the common case and jumps over the call. So the
 * return address, which identifies the place, stays the same, and readers of the machine code can skip the
 * inserted code. After a call only callee-saved registers are live, so nothing has to be saved.
 *
 * References are not counted one by one. A segment is code between two labels, jumps or calls of the
 * program's own: it is executed as a whole. The hook of its block, or code of its own if it has none, counts
 * it in a slot, and a table (section .debug_scalegraph, not loaded) lists the references of each segment.
 * runtime/csrc/core/sg_inline.c reads it.
 *
 * toolchain/inlining.py compiles it and defines ASSEMBLER, the real one, and SLOTS, the section of
 * slots.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assembler.h"

_Noreturn void fail(void)
{
    perror("scalegraph: assembler");
    exit(1);
}

void *need(void *memory)
{
    if (memory == NULL)
        fail();
    return memory;
}

void add(text *to, const char *from, size_t length)
{
    if (to->room - to->length < length) {
        to->room = (to->room + length) * 2;
        to->start = need(realloc(to->start, to->room));
    }
    memcpy(to->start + to->length, from, length);
    to->length += length;
}

static text read_all(const char *name)
{
    text made = {need(malloc(1 << 16)), 0, 1 << 16};
    int file = strcmp(name, "-") == 0 ? 0 : open(name, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; file >= 0 && got > 0; made.length += (size_t)got) {
        if (made.room - made.length < 1 << 15)
            made.start = need(realloc(made.start, made.room *= 4));
        got = read(file, made.start + made.length, made.room - made.length);
        if (got < 0)
            fail();
    }
    return made;
}

/* Make *source* the standard input. */
static void feed(span source)
{
    int file = memfd_create("source", MFD_CLOEXEC);
    for (ssize_t put = 0; source.length > 0; source = after(source, (size_t)put))
        if (file < 0 || (put = write(file, source.start, source.length)) < 0)
            fail();
    if (lseek(file, 0, SEEK_SET) < 0 || dup2(file, 0) < 0)
        fail();
}

_Noreturn static void assemble(char **words)
{
    execvp(words[0], words);
    perror(words[0]);
    _exit(127);
}

/* Whether the real assembler accepts the rewritten file; it says nothing. */
static bool accepted(char **words, span source)
{
    int status, child = fork();
    if (child < 0)
        fail();
    if (child == 0) {
        feed(source);
        if (dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2) < 0)
            fail();
        assemble(words);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

static bool is_input(const char *word)
{
    size_t length = strlen(word);
    return strcmp(word, "-") == 0 ||
           (word[0] != '-' && length >= 2 && strcasecmp(word + length - 2, ".s") == 0);
}

/* A file that the assembler rejects with hooks in line is assembled unchanged. */
int main(int count, char **given)
{
    char **words = need(calloc((size_t)count + 2, sizeof *words));
    int inputs = 0, at = 0;
    bool names_output = false;
    words[0] = ASSEMBLER;
    for (int i = 1; i < count; i++) {
        bool is_output = i > 1 && strcmp(words[i - 1], "-o") == 0;
        words[i] = given[i];
        names_output |= strcmp(words[i], "-o") == 0;
        if (!is_output && is_input(words[i])) {
            inputs++;
            at = i;
        }
    }
    if (inputs == 0 && names_output) { /* with -pipe */
        words[at = count] = "-";
        inputs = 1;
    }
    if (inputs != 1)
        assemble(words);
    char *input = words[at];
    text source = read_all(input);
    span whole = {source.start, source.length};
    bool ended = source.length > 0 && source.start[source.length - 1] == '\n';
    add(&source, ended ? "" : "\n", 1);
    whole = (span){source.start, whole.length + !ended};
    add(&source, "", 1);
    words[at] = "-";
    span changed = rewritten(whole);
    if (changed.length > 0 && accepted(words, changed))
        return 0;
    words[at] = input;
    if (strcmp(input, "-") == 0)
        feed((span){source.start, whole.length - !ended});
    assemble(words);
}

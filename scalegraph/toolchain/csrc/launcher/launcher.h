/* The compiler wrapper's common case without Python: its parts, see launcher.c. */
#ifndef SCALEGRAPH_LAUNCHER_H
#define SCALEGRAPH_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *start;
    size_t length, room;
} text;

enum token_kind { WORD, NUMBER, STRING, PUNCT };
typedef struct {
    enum token_kind kind;
    int start, end; /* bytes of the source */
    int match;      /* of a bracket: the token that closes or opens it */
} token;

/* A directive from the first byte of its line to after its newline; its tokens are those after the #. */
typedef struct {
    int start, end, first, count;
    bool read, grouped; /* in a branch that is read; in any branch */
} directive;

typedef struct {
    const char *data;
    int length;
    token *tokens, *words; /* of the code; of directives */
    int count, words_count;
    directive *directives;
    int directives_count;
} reading;

/* A region: Site of instrument/syntax.py. lead and alone: directives, -1 for none. */
typedef struct {
    const char *kind;
    char *name;
    int start, end, lead, alone, line, order, made;
    bool inner;
} site;

typedef struct {
    site *sites;
    int count;
} sites;

/* Construct of instrument/pragmas.py. */
typedef struct {
    bool is; /* an OpenMP directive */
    const char *kind;
    char *title;
    bool standalone, is_loop, inside, opaque;
    int depth;
} construct;

/* Leave the command to the wrapper in Python. */
_Noreturn void leave(void);
void *room(size_t bytes);
void add(text *to, const char *from, size_t length);
void say(text *to, const char *form, ...) __attribute__((format(printf, 2, 3)));
/* Return *items* with room for one more than *count*. */
void *grown(void *items, int count, size_t size);

bool is(const reading *r, const token *word, const char *what);
bool one_of(const reading *r, const token *word, const char *const *what);
int line_of(const reading *r, int offset);

reading read_source(const char *data, int length);
construct construct_of(const reading *r, const directive *d);
sites find_sites(const reading *r);
/* Add the source with probes to *out*, and its regions as JSON to *regions*; return their number. */
int instrument(const reading *r, const char *file, text *out, text *regions);

#endif

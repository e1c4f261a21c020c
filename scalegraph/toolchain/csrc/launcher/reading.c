/* Tokens, directives and conditionals of a C source: instrument/lexer.py and conditionals.py, without what is
 * rare.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

static bool begins_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

static bool in_word(char c)
{
    return begins_word(c) || isdigit((unsigned char)c);
}

bool is(const reading *r, const token *word, const char *what)
{
    size_t length = (size_t)(word->end - word->start);
    return strlen(what) == length && memcmp(r->data + word->start, what, length) == 0;
}

bool one_of(const reading *r, const token *word, const char *const *what)
{
    while (*what != NULL && !is(r, word, *what))
        what++;
    return *what != NULL;
}

int line_of(const reading *r, int offset)
{
    static int known, line = 1; /* the next offset is mostly near */
    for (; known < offset; known++)
        line += r->data[known] == '\n';
    while (known > offset)
        line -= r->data[--known] == '\n';
    return line;
}

static int literal_end(const reading *r, int at)
{
    char quote = r->data[at++];
    while (at < r->length && r->data[at] != '\n') {
        if (r->data[at] == '\\')
            at++;
        else if (r->data[at] == quote)
            return at + 1;
        at++;
    }
    leave(); /* unterminated */
}

/* The token that begins at *at*. */
static token token_at(const reading *r, int at)
{
    const char *data = r->data;
    token t = {PUNCT, at, at + 1, -1};
    if (begins_word(data[at])) {
        t.kind = WORD;
        while (in_word(data[t.end]))
            t.end++;
        if (data[t.end] == '"' || data[t.end] == '\'') {
            static const char *const prefixes[] = {"L", "u", "U", "u8", NULL};
            if (one_of(r, &t, prefixes)) {
                t.kind = STRING;
                t.end = literal_end(r, t.end);
            }
        }
    } else if (isdigit((unsigned char)data[at])) {
        t.kind = NUMBER;
        while (in_word(data[t.end]) || data[t.end] == '.' ||
               ((data[t.end] == '+' || data[t.end] == '-') && strchr("eEpP", data[t.end - 1]) != NULL))
            t.end++;
    } else if (data[at] == '"' || data[at] == '\'') {
        t.kind = STRING;
        t.end = literal_end(r, at);
    }
    return t;
}

/* The offset after a comment at *at*, *at* if there is none. */
static int past_comment(const reading *r, int at)
{
    if (strncmp(r->data + at, "/*", 2) == 0) {
        const char *close = strstr(r->data + at + 2, "*/");
        if (close == NULL)
            leave();
        return (int)(close + 2 - r->data);
    }
    if (strncmp(r->data + at, "//", 2) != 0)
        return at;
    while (at < r->length && r->data[at] != '\n')
        at++;
    if (r->data[at - 1] == '\\')
        leave();
    return at;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* Read the directive whose # is at *at*, on a line that begins at *line_start*; return the offset after it.
 */
static int read_directive(reading *r, int line_start, int at)
{
    directive d = {line_start, 0, r->words_count, 0, true, false};
    at++;
    while (at < r->length && r->data[at] != '\n') {
        int past = past_comment(r, at);
        if (is_blank(r->data[at]))
            at++;
        else if (strncmp(r->data + at, "\\\n", 2) == 0)
            at += 2;
        else if (past > at) {
            if (memchr(r->data + at, '\n', (size_t)(past - at)) != NULL)
                leave();
            at = past;
        } else {
            r->words = grown(r->words, r->words_count, sizeof(token));
            r->words[r->words_count] = token_at(r, at);
            at = r->words[r->words_count++].end;
        }
    }
    d.end = at < r->length ? at + 1 : at;
    d.count = r->words_count - d.first;
    r->directives = grown(r->directives, r->directives_count, sizeof d);
    r->directives[r->directives_count++] = d;
    return d.end;
}

static void scan(reading *r)
{
    int line_start = 0;
    bool fresh = true, commented = false; /* nothing, or only comments, so far on the line */
    for (int at = 0; at < r->length;) {
        int past = past_comment(r, at);
        if (r->data[at] == '\n') {
            line_start = ++at;
            fresh = true;
            commented = false;
        } else if (is_blank(r->data[at]))
            at++;
        else if (past > at) {
            at = past;
            commented = true;
        } else if (r->data[at] == '#' && fresh) {
            if (commented)
                leave();
            line_start = at = read_directive(r, line_start, at);
        } else {
            if (r->data[at] == '\\' || r->data[at] == '#')
                leave();
            fresh = false;
            r->tokens = grown(r->tokens, r->count, sizeof(token));
            r->tokens[r->count] = token_at(r, at);
            at = r->tokens[r->count++].end;
        }
    }
}

static bool named(const reading *r, const directive *d, const char *name)
{
    return d->count > 0 && r->words[d->first].kind == WORD && is(r, &r->words[d->first], name);
}

/* What a condition is if every open one is true, and if every one is false. */
typedef struct {
    bool if_true, if_false;
} condition;

/* The words of *d* after its name, without parentheses: their number, and up to three of them. */
static int words_of(const reading *r, const directive *d, const token *found[3])
{
    int count = 0;
    for (int i = 1; i < d->count; i++) {
        const token *t = &r->words[d->first + i];
        if (!is(r, t, "(") && !is(r, t, ")")) {
            if (count < 3)
                found[count] = t;
            count++;
        }
    }
    return count;
}

static condition condition_of(const reading *r, const directive *d, const directive *next)
{
    const token *w[3], *other[3];
    int count = words_of(r, d, w);
    bool negated = named(r, d, "ifndef") || named(r, d, "elifndef");
    bool plain_if = named(r, d, "if") || named(r, d, "elif");
    if (named(r, d, "else"))
        return (condition){true, true};
    if (named(r, d, "ifndef") && next != NULL && named(r, next, "define")) { /* a guard */
        int others = words_of(r, next, other);
        size_t length = count > 0 ? (size_t)(w[0]->end - w[0]->start) : 0;
        if (count > 0 && others > 0 && (size_t)(other[0]->end - other[0]->start) == length &&
            memcmp(r->data + w[0]->start, r->data + other[0]->start, length) == 0)
            return (condition){true, true};
    }
    if (count == 0)
        return (condition){true, false};
    if (plain_if) {
        if (count == 1 && (is(r, w[0], "0") || is(r, w[0], "1"))) {
            bool value = is(r, w[0], "1");
            return (condition){value, value};
        }
        negated = is(r, w[0], "!");
        if (count != 2 + negated || !is(r, w[negated], "defined")) {
            negated = negated && count == 2;
            return (condition){!negated, negated};
        }
    }
    if (count > 3)
        leave();
    const token *last = w[count - 1];
    bool yes = is(r, last, "_OPENMP") || is(r, last, "__GNUC__");
    if (yes || is(r, last, "__clang__") || is(r, last, "_MSC_VER") || is(r, last, "__cplusplus"))
        return (condition){yes != negated, yes != negated};
    return (condition){!negated, negated};
}

/* A conditional group: what its surroundings and its branch read in the two readings, and what it has read.
 */
typedef struct {
    condition around, here, taken;
} group;

/* Keep the tokens that either reading has. Conditionals inside functions are rare. */
static void choose(reading *r)
{
    group stack[64], *top = stack;
    int kept = 0, at = 0, depth = 0;
    *top = (group){{true, true}, {true, true}, {true, true}};
    for (int i = 0; i <= r->directives_count; i++) {
        directive *d = i < r->directives_count ? &r->directives[i] : NULL;
        for (; at < r->count && (d == NULL || r->tokens[at].start < d->start); at++)
            if (top->here.if_true || top->here.if_false) {
                r->tokens[kept++] = r->tokens[at];
                char c = r->tokens[at].kind == PUNCT ? r->data[r->tokens[at].start] : ' ';
                depth += (strchr("([{", c) != NULL) - (strchr(")]}", c) != NULL);
            }
        if (d == NULL)
            break;
        d->grouped = top > stack;
        d->read = top->here.if_true || top->here.if_false;
        bool opens = named(r, d, "if") || named(r, d, "ifdef") || named(r, d, "ifndef");
        bool turns =
            named(r, d, "elif") || named(r, d, "elifdef") || named(r, d, "elifndef") || named(r, d, "else");
        bool ends = named(r, d, "endif");
        if (!opens && !turns && !ends)
            continue;
        const char *last = kept > 0 ? r->data + r->tokens[kept - 1].start : ";";
        if (depth != 0 || (*last != ';' && *last != '}') || (!opens && top == stack) || top == stack + 63)
            leave();
        if (ends) {
            top--;
            continue;
        }
        if (opens) {
            top++;
            *top = (group){top[-1].here, {false, false}, {false, false}};
        }
        condition c = condition_of(r, d, i + 1 < r->directives_count ? d + 1 : NULL);
        top->here.if_true = top->around.if_true && !top->taken.if_true && c.if_true;
        top->here.if_false = top->around.if_false && !top->taken.if_false && c.if_false;
        top->taken.if_true |= c.if_true;
        top->taken.if_false |= c.if_false;
    }
    r->count = kept;
}

/* Pair the brackets. */
static void match(reading *r)
{
    int *open = room(((size_t)r->count + 1) * sizeof *open), depth = 0;
    for (int i = 0; i < r->count; i++) {
        token *t = &r->tokens[i];
        const char *at = t->kind == PUNCT ? strchr("()[]{}", r->data[t->start]) : NULL;
        if (at == NULL)
            continue;
        if (strchr("([{", *at) != NULL)
            open[depth++] = i;
        else {
            if (depth == 0 || r->data[r->tokens[open[depth - 1]].start] != at[-1])
                leave();
            t->match = open[--depth];
            r->tokens[t->match].match = i;
        }
    }
    if (depth != 0)
        leave();
}

reading read_source(const char *data, int length)
{
    reading r = {data, length, NULL, NULL, 0, 0, NULL, 0};
    scan(&r);
    choose(&r);
    match(&r);
    return r;
}

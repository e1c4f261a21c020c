/* What OpenMP directives mean for regions: instrument/pragmas.py. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

enum { LOOP = 1, ALONE = 2 };

/* WORDS of instrument/pragmas.py; of several words, the first with a kind decides. */
static const struct {
    const char *word, *kind;
    int what;
} known[] = {
    {"parallel", "parallel", 0},  {"taskloop", "task", LOOP},
    {"for", "for", LOOP},         {"sections", "sections", 0},
    {"single", "single", 0},      {"workshare", "single", 0},
    {"critical", "critical", 0},  {"barrier", "barrier", ALONE},
    {"ordered", "ordered", 0},    {"task", "task", 0},
    {"master", "master", 0},      {"masked", "master", 0},
    {"simd", "", LOOP},           {"atomic", "", 0},
    {"section", "", ALONE},       {"taskwait", "", ALONE},
    {"taskyield", "", ALONE},     {"flush", "", ALONE},
    {"threadprivate", "", ALONE}, {"taskgroup", "", 0},
};
enum { KNOWN = sizeof known / sizeof *known };

static int word_number(const reading *r, const token *t)
{
    for (int i = 0; i < KNOWN; i++)
        if (is(r, t, known[i].word))
            return i;
    return -1;
}

/* The words of a directive's name and the clauses that matter. */
typedef struct {
    int words[8], count;
    text title, label;
    bool depends;
    int depth;
} clauses;

/* Note the clause *name* with *arguments*, *count* of them. */
static void clause(const reading *r, clauses *found, const token *name, const token *arguments, int count)
{
    if (is(r, name, "critical")) {
        found->label.length = 0;
        for (int i = 0; i < count; i++)
            add(&found->label, r->data + arguments[i].start, (size_t)(arguments[i].end - arguments[i].start));
    }
    found->depends |= is(r, name, "depend") || is(r, name, "doacross");
    if (is(r, name, "collapse") || is(r, name, "ordered")) {
        int given = count == 1 ? atoi(r->data + arguments[0].start) : 0;
        if (given < 1)
            leave(); /* an expression */
        if (given > found->depth)
            found->depth = given;
    }
}

static clauses clauses_of(const reading *r, const token *t, int count)
{
    clauses found = {.depth = 1};
    bool in_name = true;
    for (int at = 0; at < count; at++) {
        bool has_arguments = at + 1 < count && is(r, &t[at + 1], "(");
        int word = t[at].kind == WORD ? word_number(r, &t[at]) : -1;
        if (in_name && word < 0 && found.count == 0)
            leave(); /* a directive that is not listed */
        in_name = in_name && word >= 0 &&
                  !(found.count > 0 && (has_arguments || strcmp(known[word].word, "ordered") == 0));
        if (in_name) {
            if (found.count == 8)
                leave();
            found.words[found.count++] = word;
            say(&found.title, found.count > 1 ? " %s" : "%s", known[word].word);
        }
        if (has_arguments) {
            int close = at + 1;
            for (int depth = 0; close < count; close++) {
                depth += is(r, &t[close], "(") - is(r, &t[close], ")");
                if (depth == 0)
                    break;
            }
            clause(r, &found, &t[at], &t[at + 2], close - at - 2);
            at = close;
        } else if (!in_name && t[at].kind == WORD)
            found.depends |= is(r, &t[at], "depend");
    }
    return found;
}

construct construct_of(const reading *r, const directive *d)
{
    static const char *const others[] = {"target", "declare", "teams", "loop",  "distribute", "tile",
                                         "unroll", "cancel",  "end",   "begin", NULL};
    const token *t = &r->words[d->first];
    construct made = {.kind = ""};
    if (d->count < 2 || !is(r, &t[0], "pragma") || !is(r, &t[1], "omp"))
        return made;
    for (int i = 2; i < d->count && !is(r, &t[i], "("); i++)
        if (one_of(r, &t[i], others))
            leave();
    clauses found = clauses_of(r, t + 2, d->count - 2);
    if (found.count == 0)
        leave();
    made.is = true;
    int first = found.words[0], kind = KNOWN;
    for (int i = 0; i < found.count; i++) {
        int word = found.words[i];
        made.is_loop |= (known[word].what & LOOP) != 0;
        made.opaque |= strcmp(known[word].word, "simd") == 0;
        if (*known[word].kind != '\0' && word < kind)
            kind = word;
    }
    made.kind = kind < KNOWN ? known[kind].kind : "";
    made.standalone =
        (known[first].what & ALONE) != 0 || (strcmp(known[first].word, "ordered") == 0 && found.depends);
    made.opaque |= strcmp(known[first].word, "atomic") == 0;
    made.depth = made.is_loop ? found.depth : 0;
    made.inside = (strcmp(made.kind, "task") == 0 || strcmp(made.kind, "master") == 0) && !made.is_loop;
    if (strcmp(made.kind, "critical") == 0 && found.label.length > 0)
        say(&found.title, " (%.*s)", (int)found.label.length, found.label.start);
    add(&found.title, "", 1);
    made.title = found.title.start;
    return made;
}

/* Puts probes into the text: instrument/source.py and insertions.py. */
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

typedef struct {
    int offset, rank, number; /* the order of insertions */
    text put;
} insertion;

typedef struct {
    int offset;
    bool own_line;
} place;

static insertion *insertions;
static int insertions_count;

static int by_place(const void *left, const void *right)
{
    const insertion *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset - b->offset;
    return a->rank != b->rank ? a->rank - b->rank : a->number - b->number;
}

static int outer_first(const void *left, const void *right)
{
    const site *a = left, *b = right;
    if (a->start != b->start)
        return a->start - b->start;
    if (a->end != b->end)
        return b->end - a->end;
    if (a->order != b->order)
        return a->order - b->order;
    return a->line != b->line ? a->line - b->line : a->made - b->made;
}

static bool is_space(const reading *r, int at)
{
    return at >= 0 && at < r->length && r->data[at] != '\0' && strchr(" \t\n\r\v\f", r->data[at]) != NULL;
}

/* Before the directive: after the token before it, unless another directive comes between. */
static place before(const reading *r, int number)
{
    int start = r->directives[number].start, low = 0, high = r->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (r->tokens[middle].end <= start)
            low = middle + 1;
        else
            high = middle;
    }
    int end = low > 0 ? r->tokens[low - 1].end : 0;
    int other = number > 0 ? r->directives[number - 1].end : 0;
    return end > other ? (place){end, false} : (place){start, true};
}

static place behind(const reading *r, int number)
{
    int end = r->directives[number].end;
    bool next = number + 1 < r->directives_count && r->directives[number + 1].start == end;
    if (next || r->data[end - 1] != '\n' || end >= r->length)
        return (place){end, true};
    while (r->data[end] == ' ' || r->data[end] == '\t')
        end++;
    return (place){end, false};
}

static void say_line(text *to, int line, const char *file)
{
    say(to, "#line %d \"%s\"\n", line, file);
}

static void insert(const reading *r, place where, int rank, int number, const char *code, const char *file)
{
    insertion one = {where.offset, rank, number, {NULL, 0, 0}};
    int at = where.offset;
    if (where.own_line) {
        bool begins = at == 0 || r->data[at - 1] == '\n';
        say(&one.put, begins ? "%s\n" : "\n%s\n", code);
        say_line(&one.put, line_of(r, at), file);
    } else
        say(&one.put, "%s%s%s", at == 0 || is_space(r, at - 1) ? "" : " ", code, is_space(r, at) ? "" : " ");
    insertions = grown(insertions, insertions_count, sizeof one);
    insertions[insertions_count++] = one;
}

static void plant(const reading *r, const site *s, int number, const char *file)
{
    char code[64];
    text made = {NULL, 0, 0};
    place opening = {s->start, false}, closing = {s->end, false};
    if (s->inner)
        opening.offset++;
    else if (s->alone >= 0) {
        opening = before(r, s->alone);
        closing = behind(r, s->alone);
    } else if (s->lead >= 0)
        opening = before(r, s->lead);
    bool grouped = (s->alone >= 0 && r->directives[s->alone].grouped) ||
                   (s->lead >= 0 && r->directives[s->lead].grouped);
    if (grouped && (opening.own_line || closing.own_line))
        leave(); /* lines of other branches would have to be set right */
    say(&made, s->inner ? "SCALEGRAPH_SCOPE(%d);" : "{ SCALEGRAPH_SCOPE(%d);", number);
    if (made.length >= sizeof code)
        leave();
    memcpy(code, made.start, made.length);
    code[made.length] = '\0';
    insert(r, opening, 1, number, code, file);
    if (!s->inner)
        insert(r, closing, 0, -number, "}", file);
}

int instrument(const reading *r, const char *file, text *out, text *regions)
{
    sites all = find_sites(r);
    int *open = room(((size_t)all.count + 1) * sizeof *open), depth = 0, number = 0;
    site *kept = room(((size_t)all.count + 1) * sizeof *kept);
    qsort(all.sites, (size_t)all.count, sizeof(site), outer_first);
    for (int i = 0; i < all.count; i++) {
        const site *s = &all.sites[i];
        bool covered = false; /* a loop behind the pragma of another region at its start */
        for (int j = 0; j < all.count && strcmp(s->kind, "loop") == 0 && s->lead < 0; j++)
            covered |= all.sites[j].start == s->start && all.sites[j].lead >= 0;
        if (covered)
            continue;
        while (depth > 0 && kept[open[depth - 1]].end <= s->start)
            depth--;
        if (depth > 0 && s->end > kept[open[depth - 1]].end)
            continue;
        kept[++number] = *s;
        say(regions, "%s{\"id\": %d, \"kind\": \"%s\", \"name\": \"%s\", \"line\": %d, \"end_line\": %d, ",
            number > 1 ? ", " : "", number, s->kind, s->name, s->line, line_of(r, s->end - 1));
        say(regions, "\"parent\": %d, \"schedule\": \"\", \"iterations\": null}",
            depth > 0 ? open[depth - 1] : 0);
        open[depth++] = number;
        plant(r, s, number, file);
    }
    qsort(insertions, (size_t)insertions_count, sizeof *insertions, by_place);
    say_line(out, 1, file);
    int at = 0;
    for (int i = 0; i < insertions_count; i++) {
        add(out, r->data + at, (size_t)(insertions[i].offset - at));
        add(out, insertions[i].put.start, insertions[i].put.length);
        at = insertions[i].offset;
    }
    add(out, r->data + at, (size_t)(r->length - at));
    return number;
}

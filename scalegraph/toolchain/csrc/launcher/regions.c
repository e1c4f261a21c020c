/* Regions of a C source: instrument/syntax.py. */
#include <stdlib.h>
#include <string.h>

#include "statements.h"

static const reading *r;
static node *nodes;
static sites found;

/* The pragmas before token *i* and after the one before: the first, and how many directives. */
static int pragmas_before(int i, int *first)
{
    int low = 0, high = r->directives_count, from = i > 0 ? at(i - 1)->start : -1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (r->directives[middle].start < from)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low < r->directives_count && r->directives[low].start < at(i)->start)
        low++;
    return low - *first;
}

static bool is_pragma(const directive *d)
{
    return d->read && d->count > 0 && is(r, &r->words[d->first], "pragma");
}

static int line_after_blanks(int offset)
{
    while (r->data[offset] == ' ' || r->data[offset] == '\t')
        offset++;
    return line_of(r, offset);
}

static site *add_site(const char *kind, int start, int end, int line)
{
    found.sites = grown(found.sites, found.count, sizeof(site));
    site *s = &found.sites[found.count];
    *s = (site){kind, NULL, start, end, -1, -1, line, 0, found.count, false};
    found.count++;
    return s;
}

static char *title(const char *what, const char *function, int line)
{
    text made = {NULL, 0, 0};
    say(&made, "%s %s:%d", what, function, line);
    add(&made, "", 1);
    return made.start;
}

typedef struct {
    int directive;
    construct its;
} attached;

/* The pragmas that belong to the statement at token *i*: those after the last stand-alone one. */
static int attached_to(int i, attached *pragmas)
{
    int first, count = pragmas_before(i, &first), kept = 0;
    for (int d = first; d < first + count; d++) {
        if (!is_pragma(&r->directives[d]))
            continue;
        construct c = construct_of(r, &r->directives[d]);
        if (kept == 16)
            leave();
        pragmas[kept++] = (attached){d, c};
        if (c.standalone)
            kept = 0;
    }
    return kept;
}

static bool contains_construct(const node *n)
{
    for (int d = 0; d < r->directives_count; d++) {
        const directive *one = &r->directives[d];
        if (one->start >= at(n->from)->start && one->start < at(n->to - 1)->end && *construct_of(r, one).kind)
            return true;
    }
    return false;
}

/* Mark the loops below *n* that a construct needs perfectly nested. */
static void reserve(int n, int depth)
{
    while (--depth > 0) {
        int body = nodes[n].kind == FOR || nodes[n].kind == OTHER_LOOP ? nodes[n].child : -1;
        if (body >= 0 && nodes[body].kind == BLOCK)
            for (body = nodes[body].child; body >= 0 && nodes[body].kind != FOR;)
                body = nodes[body].next;
        if (body < 0 || nodes[body].kind != FOR)
            return;
        nodes[body].nested = true;
        n = body;
    }
}

static void add_construct(const node *n, const attached *pragmas, int count, int position,
                          const char *function)
{
    const construct *made = &pragmas[position].its;
    int line = line_after_blanks(r->directives[pragmas[position].directive].start);
    site *s = add_site(made->kind, at(n->from)->start, at(n->to - 1)->end, line);
    s->name = title(made->title, function, line);
    s->order = position;
    s->lead = pragmas[position].directive;
    if (made->inside) {
        bool last = position + 1 == count;
        s->inner = last && n->kind == BLOCK;
        s->lead = last ? -1 : pragmas[position + 1].directive;
    }
}

static void walk(int n, int loops, const char *function, bool *found_any)
{
    for (int c = nodes[n].child; c >= 0; c = nodes[c].next) {
        attached pragmas[16];
        int count = attached_to(nodes[c].from, pragmas);
        bool is_loop = nodes[c].kind == FOR || nodes[c].kind == OTHER_LOOP, opaque = false, shared = false;
        int glued = -1;
        for (int i = 0; i < count; i++) {
            construct *its = &pragmas[i].its;
            *found_any |= its->is;
            opaque |= its->opaque;
            shared |= its->is_loop && *its->kind;
            if (its->is && nodes[c].kind == SIMPLE && (a_type(nodes[c].from) || declares(nodes[c].from)))
                leave();
            if (its->is_loop)
                reserve(c, its->depth);
            if (glued < 0 && (!its->is || its->is_loop))
                glued = pragmas[i].directive;
        }
        *found_any |= is_loop;
        for (int i = 0; i < count; i++)
            if (*pragmas[i].its.kind)
                add_construct(&nodes[c], pragmas, count, i, function);
        if (is_loop && !shared && !nodes[c].nested && (loops == 0 || contains_construct(&nodes[c]))) {
            int line = line_of(r, at(nodes[c].from)->start);
            site *s = add_site("loop", at(nodes[c].from)->start, at(nodes[c].to - 1)->end, line);
            s->name = title("loop", function, line);
            s->lead = glued;
            s->order = count;
        }
        if (!opaque)
            walk(c, loops + is_loop, function, found_any);
    }
}

/* Add barriers and stand-alone ordered constructs before token *i*; *in_list*: between two statements. */
static void standalone(int i, bool in_list, const char *function, bool *found_any)
{
    int first, count = pragmas_before(i, &first);
    for (int d = first; d < first + count; d++) {
        const directive *one = &r->directives[d];
        construct c = is_pragma(one) ? construct_of(r, one) : (construct){.kind = ""};
        if (!c.standalone || (strcmp(c.kind, "barrier") != 0 && strcmp(c.kind, "ordered") != 0))
            continue;
        *found_any = true;
        if (!in_list)
            continue;
        int line = line_after_blanks(one->start);
        site *s = add_site(c.kind, one->start, one->end, line);
        s->name = title(c.title, function, line);
        s->alone = d;
    }
}

static void function(int head, int name, int body)
{
    enum { ROOT, SMALL = 8 }; /* SMALL_FUNCTION_STATEMENTS of instrument/tree.py */
    read_body(body);
    nodes = function_tree.nodes;
    token *t = at(name);
    text called = {NULL, 0, 0};
    add(&called, r->data + t->start, (size_t)(t->end - t->start));
    add(&called, "", 1);
    bool any = false;
    walk(ROOT, 0, called.start, &any);
    bool *items = room((size_t)r->count * sizeof *items);
    for (int i = 0; i < function_tree.count; i++) {
        items[nodes[i].from] |= nodes[i].is_item;
        items[nodes[i].to - 1] |= nodes[i].kind == BLOCK;
    }
    for (int i = body + 1; i < nodes[ROOT].to; i++)
        standalone(i, items[i], called.start, &any);
    bool small =
        function_tree.loops == 0 && function_tree.calls == 0 && function_tree.statements - 1 <= SMALL;
    if (small && !any && function_tree.unclear > 0)
        leave();
    if (any || !small) {
        int line = line_of(r, at(head)->start);
        site *s = add_site("function", at(body)->start, at(nodes[ROOT].to - 1)->end, line);
        text made = {NULL, 0, 0};
        say(&made, "function %s", called.start);
        add(&made, "", 1);
        s->name = made.start;
        s->inner = true;
        s->order = -1;
    }
}

/* Whether the tokens of [from, to) are what may stand before a function's name. */
static bool is_head(int from, int to)
{
    static const char *const storage[] = {"static", "extern",   "const", "volatile",
                                          "inline", "__inline", NULL};
    bool is_static = false, is_inline = false;
    int names = 0, basic = 0;
    for (int i = from; i < to; i++) {
        is_static |= its(i, "static") || its(i, "__inline");
        is_inline |= its(i, "inline");
        if (its(i, "*"))
            continue;
        if (!word_at(i) || (names + basic > 0 && its(i - 1, "*") && !one_of(r, at(i), storage)))
            return false;
        bool tagged = its(i, "struct") || its(i, "union") || its(i, "enum");
        if (tagged)
            i++;
        if (tagged || !(one_of(r, at(i), storage) || a_type(i)))
            names++;
        else
            basic += !one_of(r, at(i), storage);
    }
    return (names == 1) != (names == 0 && basic > 0) && !(names > 0 && basic > 0) &&
           (is_static || !is_inline);
}

/* Whether the replacement of a macro hides braces or cases. */
static bool hides(const directive *d)
{
    const token *t = &r->words[d->first];
    int from = 2, depth = 0;
    if (d->count < 3 || !is(r, t, "define"))
        return false;
    if (is(r, t + 2, "(") && t[2].start == t[1].end)
        while (from < d->count && !is(r, t + from++, ")"))
            ;
    for (int i = from; i < d->count; i++) {
        char c = t[i].kind == PUNCT ? r->data[t[i].start] : ' ';
        depth += (strchr("([{", c) != NULL) - (strchr(")]}", c) != NULL);
        if (depth < 0 || is(r, t + i, "case") || is(r, t + i, "default"))
            return true;
    }
    return depth != 0;
}

sites find_sites(const reading *source)
{
    begin_reading(r = source);
    for (int i = 0; i < r->directives_count; i++)
        if (hides(&r->directives[i]))
            leave();
    int from = 0; /* the first token of the declaration */
    for (int i = 0; i < r->count; i++) {
        if (its(i, ";"))
            from = i + 1;
        else if (its(i, ")") && word_at(i + 1))
            leave(); /* a macro, or parameters as before C89 */
        else if (its(i, "(") && !its(past(i), "{"))
            i = past(i) - 2;
        else if (its(i, "{") && its(i - 1, ")")) {
            int opening = at(i - 1)->match;
            if (!word_at(opening - 1) || !is_head(from, opening - 1))
                leave();
            for (int k = opening; k < i; k++)
                if (its(k, "{") || its(k, "__attribute__"))
                    leave();
            function(from, opening - 1, i);
            i = past(i) - 1;
            from = i + 1;
        } else if (its(i, "{")) {
            static const char *const tags[] = {"struct", "union", "enum", NULL};
            bool tagged = (word_at(i - 1) && one_of(r, at(i - 1), tags)) ||
                          (word_at(i - 2) && one_of(r, at(i - 2), tags));
            if (!tagged && !its(i - 1, "="))
                leave();
            i = past(i) - 1;
        } else if (strange_at(i) && !its(i, "typedef") && !its(i, "inline") && !its(i, "__inline"))
            leave();
    }
    return found;
}

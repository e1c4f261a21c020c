/* Statements of a function that is plain C, without a parser of expressions.
 *
 * Whatever the grammar of the wrapper in Python could read in another way (macros that are no expressions,
 * labels, statements in expressions) is left to it.
 */
#include <stdlib.h>
#include <string.h>

#include "statements.h"

static const char *const types[] = {
    "void",  "char",     "short",  "int",   "long", "float",  "double", "signed",   "unsigned", "_Bool",
    "const", "volatile", "struct", "union", "enum", "static", "extern", "register", "bool",     NULL};
static const char *const statements[] = {"if",      "else",   "for",   "while", "do",       "switch", "case",
                                         "default", "return", "break", "goto",  "continue", NULL};
static const char *const strange[] = {
    "goto",          "asm",         "__asm__",          "__asm",       "__label__",      "_Complex",
    "complex",       "__complex__", "imaginary",        "_Imaginary",  "_Generic",       "__extension__",
    "va_arg",        "typeof",      "__typeof__",       "__typeof",    "offsetof",       "__attribute__",
    "__attribute",   "_Pragma",     "__builtin_va_arg", "__auto_type", "_Static_assert", "static_assert",
    "_Atomic",       "inline",      "__inline",         "__inline__",  "_Alignas",       "alignas",
    "_Thread_local", "__thread",    "typedef",          NULL};
static const char *const sizes[] = {"sizeof", "_Alignof", "alignof", NULL};

static const reading *r;
tree function_tree;

void begin_reading(const reading *source)
{
    r = source;
}

token *at(int i)
{
    if (i < 0 || i >= r->count)
        leave();
    return &r->tokens[i];
}

bool its(int i, const char *what)
{
    return i >= 0 && i < r->count && is(r, &r->tokens[i], what);
}

bool word_at(int i)
{
    return i >= 0 && i < r->count && r->tokens[i].kind == WORD;
}

bool a_type(int i)
{
    return word_at(i) && one_of(r, &r->tokens[i], types);
}

bool strange_at(int i)
{
    return word_at(i) && one_of(r, &r->tokens[i], strange);
}

int past(int i)
{
    if (at(i)->match < 0)
        leave();
    return at(i)->match + 1;
}

/* Note what the parenthesis at *i*, which follows *before* in an expression from *from*, says about calls. */
static void parenthesis(int from, int i)
{
    int before = i - 1;
    if (its(i + 1, "{"))
        leave();
    if (i == from)
        return;
    if (word_at(before) && !one_of(r, at(before), sizes) && !its(before, "return")) {
        if (a_type(i + 1) && !(its(i + 1, "void") && its(i + 2, ")")))
            leave(); /* a type as an argument */
        bool declares =
            before > from && (word_at(before - 1) || its(before - 1, "*")) && !its(before - 1, "return");
        if (a_type(before) || declares)
            function_tree.unclear++;
        else
            function_tree.calls++;
    } else if (its(before, "]"))
        function_tree.calls++;
    else if (its(before, ")") && !a_type(at(before)->match + 1))
        function_tree.unclear++; /* no cast for certain */
}

/* Leave unless the tokens of [from, to) are an expression or a declaration beyond doubt. */
static void plain(int from, int to)
{
    int depth = 0;
    bool head = true; /* of a declaration */
    for (int i = from; i < to; i++) {
        token *t = at(i);
        if (t->kind == WORD && (one_of(r, t, strange) || (i > from && one_of(r, t, statements))))
            leave();
        bool beside = i > from && (t->kind == WORD || t->kind == STRING || t->kind == NUMBER);
        token *before = i > from ? at(i - 1) : t;
        if (beside && (before->kind == STRING || before->kind == NUMBER) && t->kind != STRING)
            leave();
        if (beside && t->kind != WORD && before->kind == WORD && !its(i - 1, "return") &&
            !its(i - 1, "case") && !its(i - 1, "sizeof"))
            leave();
        if (beside && t->kind == WORD && before->kind == WORD && i - from > 1 && word_at(i - 2) &&
            !a_type(i - 1) && !a_type(i - 2) && !(i - from > 2 && a_type(i - 3)))
            leave(); /* three names */
        head = head && (t->kind == WORD || its(i, "*"));
        if (beside && t->kind == WORD && before->kind == WORD && !head && !(depth > 0 && a_type(i - 1)) &&
            !one_of(r, before, sizes))
            leave(); /* a macro: two names that declare nothing */
        static const char *const ends[] = {"=", ",", "[", ")", ":", "*", NULL};
        bool goes_on = i + 1 < to && !word_at(i + 1) && !one_of(r, at(i + 1), ends) && !a_type(i - 1);
        if (beside && t->kind == WORD && before->kind == WORD && goes_on && !its(i - 1, "return") &&
            !one_of(r, before, sizes))
            leave();
        if (beside && (its(i - 1, "]") || its(i - 1, "}")))
            leave();
        if (beside && its(i - 1, ")") && at(i - 1)->match > from && word_at(at(i - 1)->match - 1) &&
            !one_of(r, at(at(i - 1)->match - 1), sizes))
            if (!its(at(i - 1)->match - 1, "return"))
                leave(); /* a macro */
        if (its(i, "("))
            parenthesis(from, i);
        depth += its(i, "(") - its(i, ")");
        if (depth > 0 && a_type(i) && its(i - 1, ","))
            leave();
        if (its(i, "{")) {
            int opening = its(i - 1, ")") ? at(i - 1)->match : -1;
            bool literal = opening > from && (at(opening - 1)->kind == PUNCT || its(opening - 1, "return")) &&
                           !its(opening - 1, ")") && !its(opening - 1, "]");
            if (!literal && !its(i - 1, "=") && !its(i - 1, ",") && !its(i - 1, "{"))
                leave();
        }
        if (its(i, ";"))
            leave();
    }
}

static int add_node(enum kind kind, int from, bool is_item)
{
    tree *t = &function_tree;
    t->nodes = grown(t->nodes, t->count, sizeof *t->nodes);
    t->nodes[t->count] = (node){kind, from, from, -1, -1, is_item, false};
    t->statements++;
    t->loops += kind == FOR || kind == OTHER_LOOP;
    return t->count++;
}

static int statement(int i, bool is_item);

/* Read a list of statements and its braces; those of a switch have cases. */
static void list(int block, bool has_cases)
{
    int i = function_tree.nodes[block].from + 1, end = past(function_tree.nodes[block].from) - 1, last = -1;
    while (i < end) {
        bool is_case = its(i, "case"), is_default = its(i, "default");
        if (is_case || is_default) {
            int from = i + 1;
            for (i = from; !its(i, ":"); i++)
                if (!has_cases || i >= end || its(i, "?"))
                    leave();
            if (!has_cases)
                leave();
            if (is_case)
                plain(from, i);
            function_tree.statements++;
            i++;
            continue;
        }
        int made = statement(i, true);
        *(last < 0 ? &function_tree.nodes[block].child : &function_tree.nodes[last].next) = made;
        last = made;
        i = function_tree.nodes[made].to;
    }
    function_tree.nodes[block].to = end + 1;
}

/* Read a statement with a head in parentheses and a body; return the token after it. */
static int headed(int made, int head)
{
    if (!its(head, "("))
        leave();
    int end = past(head), part = head + 1;
    for (int i = part, depth = 0; i < end; i++) {
        depth += (its(i, "(") || its(i, "{")) - (its(i, ")") || its(i, "}"));
        if (i == end - 1 || (its(i, ";") && depth == 0 && function_tree.nodes[made].kind == FOR)) {
            plain(part, i);
            part = i + 1;
        }
    }
    int body = statement(end, false);
    function_tree.nodes[made].child = body;
    return function_tree.nodes[body].to;
}

bool declares(int i)
{
    if (!word_at(i) || its(i, "return") || one_of(r, at(i), sizes))
        return false;
    for (i++; its(i, "*"); i++)
        ;
    return word_at(i);
}

/* Whether *name* is a macro of this source, whose braces have been looked at. */
static bool defined(const token *name)
{
    for (int i = 0; i < r->directives_count; i++) {
        const token *words = &r->words[r->directives[i].first];
        if (r->directives[i].count > 1 && is(r, words, "define") &&
            words[1].end - words[1].start == name->end - name->start &&
            memcmp(r->data + words[1].start, r->data + name->start, (size_t)(name->end - name->start)) == 0)
            return true;
    }
    return false;
}

static int simple(int i, bool is_item)
{
    int from = i;
    if (!is_item && word_at(i) && !its(i, "return") && its(i + 1, "(") && !its(past(i + 1), ";") &&
        !defined(at(i)))
        leave(); /* BEGIN (x)++; */
    if (word_at(i) && its(i + 1, ":"))
        leave(); /* a label */
    if (!is_item && declares(i))
        leave(); /* a macro, which may hide a brace: a declaration cannot be a body */
    for (; !its(i, ";"); i = at(i)->match > i ? past(i) : i + 1)
        if (its(i, "}"))
            leave();
    bool returns = its(from, "return");
    if (its(from, "break") || its(from, "continue"))
        from++;
    if (word_at(from) && !returns && one_of(r, at(from), statements))
        leave();
    if (a_type(from) && (its(from + 2, "{") || its(from + 1, "{")))
        leave(); /* a type is defined */
    plain(from, i);
    return i + 1;
}

/* Read the statement at token *i*; return its node. */
static int statement(int i, bool is_item)
{
    int made;
    at(i);
    if (its(i, "{")) {
        made = add_node(BLOCK, i, is_item);
        list(made, false);
        return made;
    }
    bool is_for = its(i, "for"), is_while = its(i, "while"), is_if = its(i, "if"),
         is_switch = its(i, "switch");
    enum kind kind = is_for         ? FOR
                     : is_while     ? OTHER_LOOP
                     : is_if        ? BRANCH
                     : is_switch    ? SWITCH
                     : its(i, "do") ? OTHER_LOOP
                                    : SIMPLE;
    made = add_node(kind, i, is_item);
    int end;
    if (is_switch) {
        int block = past(i + 1);
        if (!its(i + 1, "(") || !its(block, "{"))
            leave();
        plain(i + 2, block - 1);
        int body = add_node(BLOCK, block, false);
        list(body, true);
        function_tree.nodes[made].child = body;
        end = function_tree.nodes[body].to;
    } else if (is_for || is_while || is_if) {
        end = headed(made, i + 1);
        if (is_if && its(end, "else")) {
            int otherwise = statement(end + 1, false);
            function_tree.nodes[function_tree.nodes[made].child].next = otherwise;
            end = function_tree.nodes[otherwise].to;
        }
    } else if (kind == OTHER_LOOP) {
        int body = statement(i + 1, false);
        function_tree.nodes[made].child = body;
        end = function_tree.nodes[body].to;
        if (!its(end, "while") || !its(end + 1, "(") || !its(past(end + 1), ";"))
            leave();
        plain(end + 2, past(end + 1) - 1);
        end = past(end + 1) + 1;
    } else
        end = simple(i, is_item);
    function_tree.nodes[made].to = end;
    return made;
}

void read_body(int body)
{
    function_tree = (tree){NULL, 0, 0, 0, 0, 0};
    list(add_node(BLOCK, body, false), false);
}

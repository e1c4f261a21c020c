/* The tree of statements of a function, see statements.c. */
#ifndef SCALEGRAPH_STATEMENTS_H
#define SCALEGRAPH_STATEMENTS_H

#include "launcher.h"

enum kind { BLOCK, FOR, OTHER_LOOP, BRANCH, SWITCH, SIMPLE };
typedef struct {
    enum kind kind;
    int from, to; /* tokens */
    int child, next;
    bool is_item; /* stands in a list of statements */
    bool nested;  /* belongs to the loop nest of a construct */
} node;

/* A function's statements, of which the first is its body, and what they contain. */
typedef struct {
    node *nodes;
    int count, statements, loops;
    int calls, unclear; /* certain calls; parentheses that may be one */
} tree;

extern tree function_tree;

/* The source whose tokens the functions below are about. */
void begin_reading(const reading *source);
/* Token *i*; its text, type and kind; after the bracket that closes the one at *i*. */
token *at(int i);
bool its(int i, const char *what);
bool word_at(int i);
bool a_type(int i);
bool strange_at(int i);
int past(int i);
/* Whether the statement at token *i* may declare a name, or begin with a macro of any content. */
bool declares(int i);
/* Read the function with the body that begins at token *body* into `function_tree`. */
void read_body(int body);

#endif

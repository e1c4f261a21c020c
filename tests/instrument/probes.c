/* A runtime that only checks: regions must be left in the order they were entered. */
#include <stdio.h>
#include <stdlib.h>

void __scalegraph_enter(unsigned id);
void __scalegraph_leave(unsigned id);

static _Thread_local unsigned stack[4096];
static _Thread_local unsigned depth;
static unsigned long visits;

void __scalegraph_enter(unsigned id)
{
    stack[depth++ % 4096] = id;
    __atomic_add_fetch(&visits, 1, __ATOMIC_RELAXED);
}

void __scalegraph_leave(unsigned id)
{
    if (depth == 0 || stack[--depth % 4096] != id) {
        fprintf(stderr, "region %u left in the wrong order\n", id);
        abort();
    }
}

__attribute__((destructor)) static void report(void)
{
    fprintf(stderr, "visits %lu\n", visits);
}

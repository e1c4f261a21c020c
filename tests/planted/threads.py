"""Programs of POSIX threads with one planted reason to lose time: between ``<<`` and ``>>``."""

from __future__ import annotations

HEAD = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int threads;
static double sums[64];
static double total;
static pthread_barrier_t barrier;
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
"""
TAIL = """
int main(int argc, char **argv)
{
    pthread_t t[64];
    threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_barrier_init(&barrier, 0, threads);
    for (long i = 1; i < threads; i++)
        pthread_create(&t[i], 0, body, (void *)i);
    body((void *)0);
    for (int i = 1; i < threads; i++)
        pthread_join(t[i], 0);
    return total == 42;
}
"""
BODY = {
    "join_late": """
static void *body(void *arg)
{
    long me = (long)arg;
    for (int i = me; i < 64; i += threads)
        sums[me] += work(1000);
    if (me == threads - 1)
        for (int k = 0; k < 60000; k++) // <<
            sums[me] += sums[me] * 0.5 + k; // >>
    return 0;
}
""",
}
CREATION = """
int main(int argc, char **argv)
{
    pthread_t t[64];
    threads = argc > 1 ? atoi(argv[1]) : 4;
    for (int step = 0; step < 20; step++) { // <<
        for (long i = 0; i < threads; i++)
            pthread_create(&t[i], 0, body, (void *)i);
        for (int i = 0; i < threads; i++)
            pthread_join(t[i], 0);
    } // >>
    return total == 42;
}
"""
SMALL = """
static void *body(void *arg)
{
    sums[(long)arg] += work(20);
    return 0;
}
"""


def texts() -> dict[str, str]:
    """Return the programs by name."""
    made = {f"{name}.c": HEAD + body + TAIL for name, body in BODY.items()}
    made["creation.c"] = HEAD + SMALL + CREATION
    return made

/* One reason to wait at a time, by the first argument; every other part of the program is short. */
#include <omp.h>

volatile int cell[64 * 64];

/* Does some work `rounds` times on the thread's own line. */
static __attribute__((noinline)) void work(int line, int rounds)
{
    for (int i = 0; i < rounds; i++)
        cell[64 * line] += i;
}

static void set_up(void)
{
    SCALEGRAPH_SCOPE(1);
    work(0, 20000);
}

static void single(void)
{
    SCALEGRAPH_SCOPE(2);
#pragma omp parallel
    {
        work(omp_get_thread_num(), 100);
#pragma omp single
        {
            SCALEGRAPH_SCOPE(3);
            work(0, 20000);
        }
    }
}

static void forks(void)
{
    SCALEGRAPH_SCOPE(4);
    for (int i = 0; i < 20; i++) {
#pragma omp parallel
        work(omp_get_thread_num(), 1);
    }
}

static void locked(void)
{
    SCALEGRAPH_SCOPE(5);
#pragma omp parallel
    {
        SCALEGRAPH_SCOPE(6);
#pragma omp critical
        work(0, 2000);
    }
}

static void uneven(void)
{
    SCALEGRAPH_SCOPE(7);
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        work(me, 2000 * (me + 1));
    }
}

int main(int argc, char **argv)
{
    static void (*const parts[])(void) = {set_up, single, forks, locked, uneven};
    (void)argc;
    parts[argv[1][0] - '0']();
    return 0;
}

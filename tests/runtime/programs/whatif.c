/* Computation, a walk through memory, a lock and a barrier, to test virtual speedups and ideal machines. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 1024, ROUNDS = 20 };
static double walked[LINES * 8] __attribute__((aligned(4096)));
static double guarded[8] __attribute__((aligned(4096)));
static int lock_word __attribute__((aligned(4096)));

static double __attribute__((noinline)) compute(int n)
{
    SCALEGRAPH_SCOPE(1);
    double s = 1;
    for (int i = 0; i < n; i++)
        s = s * 1.000001 + i;
    return s;
}

static void __attribute__((noinline)) walk(void)
{
    SCALEGRAPH_SCOPE(2);
    for (int i = 0; i < LINES; i++)
        walked[8 * i] += 1;
}

static void __attribute__((noinline)) guard(omp_lock_t *lock, double more)
{
    omp_set_lock(lock);
    guarded[0] += more;
    guarded[1] += compute(100) > 0;
    omp_unset_lock(lock);
}

static void __attribute__((noinline)) walk_heap(double *made)
{
    SCALEGRAPH_SCOPE(4);
    for (int i = 0; i < LINES; i++)
        made[8 * i] = 1;
}

int main(void)
{
    omp_lock_t *lock = (omp_lock_t *)&lock_word;
    omp_init_lock(lock);
    walk();
    walk();
    double *made = malloc(LINES * 64);
    walk_heap(made);
    free(made);
#pragma omp parallel
    {
        SCALEGRAPH_SCOPE(3);
        double s = compute(1000 * (1 + omp_get_thread_num()));
        for (int i = 0; i < ROUNDS; i++)
            guard(lock, s > 0);
#pragma omp barrier
#pragma omp for schedule(dynamic, 8)
        for (int i = 0; i < LINES; i++)
            walked[8 * i] += s;
        int one = 1;
#pragma omp atomic
        guarded[2] += one;
    }
    printf("%g %g %g\n", guarded[0], guarded[1], guarded[2]);
    return 0;
}

/* Barriers and locks at times that do not disturb each other: thread i arrives i steps after thread 0, and
 * whoever holds the lock keeps it until all others wait. Scope 1 has EPISODES of them, after some to warm the
 * caches. */
#include <omp.h>
#include <stdio.h>

enum { STEP = 4000, WARM = 3, EPISODES = 4 };

static void delay(long steps)
{
    for (long i = 0; i < steps * STEP; i++)
        __asm__ volatile("");
}

static void episode(int id, int threads)
{
    delay(id);
#pragma omp critical
    delay(2 * threads);
    delay(id);
#pragma omp barrier
}

int main(void)
{
#pragma omp parallel
    {
        int id = omp_get_thread_num(), threads = omp_get_num_threads();
        for (int i = 0; i < WARM; i++)
            episode(id, threads);
        {
            SCALEGRAPH_SCOPE(1);
            for (int i = 0; i < EPISODES; i++)
                episode(id, threads);
        }
        episode(id, threads);
    }
    puts("done");
    return 0;
}

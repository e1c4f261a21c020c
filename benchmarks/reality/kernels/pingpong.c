/* Time to transfer a line between cores: two threads take turns to change a flag, each by compare-and-swap until it
 * succeeds. Prints "FIRST;SECOND;ns one way" for each pair; thread I runs on processor I, the others wait meanwhile.
 *   pingpong ROUNDS FIRST SECOND [FIRST SECOND ..] */
#include <omp.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    alignas(256) atomic_int flag; /* alone in its line */
    char apart[252];
} shared;

static void turns(int mine, int theirs, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int wanted = theirs;
        while (!atomic_compare_exchange_strong_explicit(&shared.flag, &wanted, mine, memory_order_relaxed,
                                                        memory_order_relaxed))
            wanted = theirs;
    }
}

int main(int count, char **argument)
{
    int rounds = count > 1 ? atoi(argument[1]) : 0;
#pragma omp parallel
    for (int i = 2; i + 1 < count; i += 2) {
        int first = atoi(argument[i]), second = atoi(argument[i + 1]), me = omp_get_thread_num();
        if (first == second || first >= omp_get_num_threads() || second >= omp_get_num_threads())
            continue;
        if (me == first)
            atomic_store(&shared.flag, 1); /* the second thread's turn is over */
#pragma omp barrier
        double start = omp_get_wtime();
        if (me == first)
            turns(0, 1, rounds);
        else if (me == second)
            turns(1, 0, rounds);
        if (me == first)
            printf("%d;%d;%.4f\n", first, second, (omp_get_wtime() - start) * 1e9 / rounds / 2);
#pragma omp barrier
    }
    return 0;
}

/* Bouncing cache lines: processors p and p + N / 2 share LINES lines, and both increment a word of each line. To
 * access a line that the other processor holds, a processor fetches it from the other's cache and upgrades it. */
#include <omp.h>
#include <stdlib.h>

enum { LINES = 16, WORDS = 32 }; /* 256 bytes: at least one line on every machine */

static volatile double shared[2048][LINES][WORDS];

int main(int count, char **argument)
{
    int rounds = count > 1 ? atoi(argument[1]) : 100;
#pragma omp parallel
    {
        int half = (omp_get_num_threads() + 1) / 2, pair = omp_get_thread_num() % half;
#pragma omp barrier
        for (int round = 0; round < rounds; round++)
            for (int line = 0; line < LINES; line++)
                shared[pair][line][0] += 1;
    }
    return 0;
}

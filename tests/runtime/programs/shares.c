/* Processors take turns, so that all misses of each variable are known. Each variable has its own line. */
#include <omp.h>
#include <stdlib.h>

#define ALONE  __attribute__((aligned(128)))
#define ROUNDS 10

volatile int apart[32] ALONE;             /* each processor writes its own */
volatile int together ALONE;              /* all write the same */
volatile int pair[32] ALONE;              /* the first writes one, the second reads another and then the same */
volatile int announced ALONE;             /* all read, the first writes */
struct cell { double x; int hits[2]; };
struct cell cells[2] ALONE;

int main(void)
{
    volatile long *block = calloc(64, sizeof(long));
#pragma omp parallel
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        for (int round = 0; round < ROUNDS; round++) {
            for (int turn = 0; turn < all; turn++) {
                if (turn == me) {
                    apart[me] = round;
                    together = round;
                }
#pragma omp barrier
            }
            if (me == 0)
                pair[0] = round;
#pragma omp barrier
            if (me == 1)
                (void)pair[1]; /* whether this miss was useful is not known yet */
#pragma omp barrier
            if (me == 1 && round % 2 == 0)
                (void)pair[0];
            (void)announced;
#pragma omp barrier
            if (me == 0)
                announced = round;
#pragma omp barrier
        }
        if (me < 2)
            ((volatile struct cell *)cells)[me].hits[1] = me;
        block[8 * me] = me;
    }
    free((void *)block);
    return 0;
}

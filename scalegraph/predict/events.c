/* What events of OpenMP cost on N processors: nothing else happens here, and all threads come at the same time.
 * The costs are those of the regions: start of the first team, of later ones, barrier, critical section. */
enum { TIMES = 32 };

int main(void)
{
#pragma omp parallel
    __asm__ volatile("");
    for (int i = 0; i < TIMES; i++) {
#pragma omp parallel
        __asm__ volatile("");
    }
#pragma omp parallel
    for (int i = 0; i < TIMES; i++) {
#pragma omp barrier
    }
#pragma omp parallel
    for (int i = 0; i < TIMES; i++) {
#pragma omp critical
        __asm__ volatile("");
    }
    return 0;
}

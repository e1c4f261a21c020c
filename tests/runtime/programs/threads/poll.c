/* Like a worker farm, threads poll a pool in a critical section until all of them find it empty. */
#include <omp.h>
#include <stdio.h>

static int pool[64], size, waiting, done;

int main(void)
{
    int workers = omp_get_max_threads();
    pool[size++] = 32;
#pragma omp parallel
    {
        int idle = 0, next = 0;
        while (waiting != workers) {
#pragma omp critical
            {
                if (size > 0) {
                    next = pool[--size];
                    if (idle)
                        waiting--;
                    idle = 0;
                } else if (!idle) {
                    idle = 1;
                    waiting++;
                }
            }
            if (next > 1) {
#pragma omp critical
                {
                    pool[size++] = next / 2;
                    pool[size++] = next - next / 2;
                }
            } else if (next == 1) {
#pragma omp atomic
                done++;
            }
            next = 0;
        }
    }
    printf("%d\n", done);
    return 0;
}

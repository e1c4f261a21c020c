/* Time and the number of processors are those of the simulated machine. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
    struct timespec a, b;
    double w = omp_get_wtime();
    clock_gettime(CLOCK_MONOTONIC, &a);
    usleep(250000);
    clock_gettime(CLOCK_MONOTONIC, &b);
    w = omp_get_wtime() - w;
    double c = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    printf("%.3f %.3f %d %ld %d\n", w, c, omp_get_num_procs(), sysconf(_SC_NPROCESSORS_ONLN), sched_getcpu());
    return 0;
}

#include <omp.h>
#include <stdio.h>

int main(void)
{
    static omp_lock_t lock[2];
    omp_init_lock(&lock[0]);
    omp_init_lock(&lock[1]);
    printf("before\n");
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        omp_set_lock(&lock[me]);
#pragma omp barrier
        omp_set_lock(&lock[1 - me]);
    }
    return 0;
}

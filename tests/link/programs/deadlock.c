#include <omp.h>
#include <stdio.h>

omp_lock_t a, b;

int main(void)
{
    omp_init_lock(&a);
    omp_init_lock(&b);
    printf("going\n");
#pragma omp parallel num_threads(2)
    {
        omp_lock_t *first = omp_get_thread_num() == 0 ? &a : &b;
        omp_lock_t *second = omp_get_thread_num() == 0 ? &b : &a;
        omp_set_lock(first);
#pragma omp barrier
        omp_set_lock(second);
        omp_unset_lock(second);
        omp_unset_lock(first);
    }
    return 0;
}

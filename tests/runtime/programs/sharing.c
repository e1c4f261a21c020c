/* sections, single, copyprivate, master, masked, critical, atomic, barrier, copyin, locks, nested regions. */
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

static int own = 11;
#pragma omp threadprivate(own)
static _Thread_local int local;

int main(void)
{
    int sections = 0, singles = 0, masters = 0, named = 0, unnamed = 0, copies = 0, faults = 0, nested = 0;
    double atomic = 0;
    long word = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int guarded = 0, deep = 0, tried = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    own = 42;
#pragma omp parallel copyin(own)
    {
        int me = omp_get_thread_num(), got = 0;
        if (own != 42)
#pragma omp atomic
            faults++;
        own = local = errno = me;
#pragma omp sections
        {
#pragma omp section
#pragma omp atomic
            sections += 1;
#pragma omp section
#pragma omp atomic
            sections += 10;
#pragma omp section
#pragma omp atomic
            sections += 100;
        }
        for (int i = 0; i < 5; i++)
#pragma omp single nowait
        {
#pragma omp atomic
            singles++;
        }
#pragma omp single copyprivate(got)
        got = 77;
#pragma omp atomic
        copies += got == 77;
#pragma omp master
        masters++;
#pragma omp critical(name)
        named++;
#pragma omp critical
        unnamed++;
#pragma omp atomic
        atomic += 0.5;
        __atomic_fetch_add(&word, 3, __ATOMIC_SEQ_CST);
        omp_set_lock(&lock);
        guarded++;
        omp_unset_lock(&lock);
        while (!omp_test_lock(&lock))
            ;
        tried++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        deep++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp barrier
        if (own != me || local != me || errno != me)
#pragma omp atomic
            faults++;
        int before = omp_get_thread_num();
#pragma omp parallel num_threads(3)
        {
#pragma omp single
#pragma omp atomic
            nested++;
#pragma omp barrier
        }
        if (omp_get_thread_num() != before || omp_get_level() != 1)
#pragma omp atomic
            faults++;
    }
    int team = omp_get_max_threads();
    printf("%d %d %d %d\n", sections, singles, masters, faults);
    printf("%d %d %d %d %d %d %d\n", named == team, unnamed == team, copies == team, guarded == team,
           deep == team, tried == team, nested == team);
    printf("%g %d\n", atomic / team, word == 3 * team);
#pragma omp parallel if (team < 0)
    printf("alone %d of %d\n", omp_get_thread_num(), omp_get_num_threads());
#pragma omp parallel sections
    {
#pragma omp section
        sections++;
#pragma omp section
        printf("in parallel %d\n", omp_in_parallel());
    }
    omp_set_num_threads(1);
#pragma omp parallel
    printf("one of %d\n", omp_get_num_threads());
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return 0;
}

/* Final, undeferred, untied, detached and prioritised tasks; locks that belong to tasks. */
#include <omp.h>
#include <stdio.h>

static omp_nest_lock_t lock;

static void detached(void)
{
#if __GNUC__ >= 11
    omp_event_handle_t event;
    int n = 0;
#pragma omp task detach(event) depend(out : n) shared(n)
    n = 1;
#pragma omp task depend(in : n) shared(n)
    printf("complete %d\n", n);
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
#pragma omp taskwait
#endif
}

static void kinds(void)
{
    int final = 0, order = 0, here = omp_get_thread_num();
#pragma omp task final(1) shared(final)
    {
        final = omp_in_final();
#pragma omp task shared(final)
        final += 2 * omp_in_final();
    }
#pragma omp taskwait
#pragma omp task if (0) shared(order, here)
    order = here == omp_get_thread_num();
#pragma omp task untied
    {
#pragma omp taskyield
    }
#pragma omp taskwait
    printf("%d %d %d\n", final, order, omp_in_final());
}

int main(void)
{
    int n = 0;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(1)
    for (int i = 0; i < 5; i++)
#pragma omp task priority(i) firstprivate(i)
        printf("%d ", i);
    printf("\n");
#pragma omp parallel
    {
#pragma omp single
        detached();
#pragma omp single
        kinds();
        for (int i = 0; i < 5; i++)
#pragma omp task shared(n)
        {
            omp_set_nest_lock(&lock);
            omp_set_nest_lock(&lock);
            n++;
            omp_unset_nest_lock(&lock);
            omp_unset_nest_lock(&lock);
        }
    }
    printf("%d\n", n == 5 * omp_get_max_threads());
    return 0;
}

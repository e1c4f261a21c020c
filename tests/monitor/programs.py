"""Programs whose waits are known."""

TEAM = r"""
#include <omp.h>
#include <stdio.h>
#include <time.h>

static int order[4], at;

static void rest(long ms)
{
    struct timespec wanted = {0, ms * 1000000};
    nanosleep(&wanted, NULL);
}

static double spin(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * 0.5;
    return sum;
}

int main(void)
{
    double total = 0;
    #pragma omp parallel reduction(+ : total)
    {
        if (omp_get_thread_num() == 0)
            rest(20);
        #pragma omp barrier
        total += spin(1000);
        #pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 10; i++)
            total += spin(100);
        #pragma omp critical
        order[at++ % 4] = omp_get_thread_num();
        #pragma omp single
        for (int i = 0; i < 5; i++) {
            #pragma omp task
            spin(100);
        }
    }
    printf("%g\n", total);
    return 0;
}
"""

THREADS = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *given)
{
    struct timespec wanted = {0, 20000000};
    pthread_mutex_lock(&lock);
    nanosleep(&wanted, NULL);
    pthread_mutex_unlock(&lock);
    return given;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("joined");
    return 0;
}
"""

JUMPS = r"""
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static int deep(int n)
{
    if (n == 0)
        longjmp(back, 1);
    return deep(n - 1) + 1;
}

int main(void)
{
    volatile int found = 0;
    for (int i = 0; i < 3; i++)
        if (setjmp(back) == 0)
            found += deep(2000);
    printf("%d\n", found);
    return 0;
}
"""

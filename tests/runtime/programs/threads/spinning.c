/* Threads wait for each other in turn, in their own loops; and a sleeping thread wakes in time. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 5, ROUNDS = 20 };

static atomic_int turn;
static volatile int plain;
static int order[THREADS * ROUNDS], n;

static void *work(void *argument)
{
    int me = (int)(long)argument;
    while (!plain)
        ;
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) % THREADS != me)
            ;
        order[n++] = me;
        atomic_fetch_add_explicit(&turn, 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    struct timespec before, after, pause = {0, 3000000};
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    plain = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    int right = 0;
    for (int i = 0; i < n; i++)
        right += order[i] == i % THREADS;
    double slept = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    printf("%d %d %d\n", n, right, slept >= 0.003);
    return 0;
}

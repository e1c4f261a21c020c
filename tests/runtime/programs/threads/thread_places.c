/* How many processors there are, where a thread may run, and that more threads than processors share them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static atomic_int seen[64], alone;

static void *work(void *argument)
{
    volatile long sum = 0;
    for (long i = 0; i < 2000; i++)
        sum += i;
    atomic_fetch_add(&seen[sched_getcpu()], 1);
    return argument;
}

static void *bound(void *argument)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((int)(long)argument, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
        return NULL;
    atomic_fetch_add(&alone, sched_getcpu() == (int)(long)argument);
    return argument;
}

int main(void)
{
    pthread_t thread[12];
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    printf("%ld %d %d %d\n", count, get_nprocs(), CPU_COUNT(&set), sched_getcpu());
    for (int i = 0; i < 12; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < 12; i++)
        pthread_join(thread[i], NULL);
    int used = 0, runs = 0;
    for (int i = 0; i < 64; i++) {
        used += seen[i] > 0;
        runs += seen[i];
    }
    printf("%d %d\n", used, runs);
    for (long i = 0; i < 12; i++)
        pthread_create(&thread[i], NULL, bound, (void *)(i % count));
    for (int i = 0; i < 12; i++)
        pthread_join(thread[i], NULL);
    printf("%d\n", alone);
    return 0;
}

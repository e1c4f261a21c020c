/* The date, running clocks, and the processor's own counter. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

static long long cycles(void)
{
#ifdef __x86_64__
    return (long long)__rdtsc();
#else
    return 0;
#endif
}

int main(void)
{
    time_t now = time(NULL);
    struct tm day;
    gmtime_r(&now, &day);
    struct timespec real, running;
    struct timeval value;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &running);
    gettimeofday(&value, NULL);
    printf("%d-%02d-%02d %ld %ld %ld\n", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday,
           (long)(real.tv_sec - now), (long)(value.tv_sec - now), (long)running.tv_sec);
    long long before = cycles();
    usleep(1000);
    long long after = cycles();
    printf("%lld\n", (after - before) / 1000);
#ifdef __x86_64__
    unsigned number;
    long long ordered = (long long)__rdtscp(&number);
    printf("%d %u\n", ordered > after, number);
    unsigned long long until = __rdtsc() + 5000;
    while (__rdtsc() < until)
        ;
#endif
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    clock_gettime(CLOCK_REALTIME, &real);
    real.tv_sec += 2;
    pthread_mutex_lock(&mutex);
    int ended = pthread_cond_timedwait(&condition, &mutex, &real);
    clock_gettime(CLOCK_MONOTONIC, &running);
    printf("%d %ld\n", ended == ETIMEDOUT, (long)running.tv_sec);
    return 0;
}

/* All synchronisation primitives of pthreads, with known counts. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <semaphore.h>
#include <unistd.h>
#include <time.h>
#include <string.h>
enum { N = 8 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, rec = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                       err = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static pthread_spinlock_t sp;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t s;
static long count, spun, items, done, onces, destroyed, serial, readers;
static __thread long own[20000];
static void init(void)
{
    onces++;
}
static void destroy(void *p)
{
    __atomic_add_fetch(&destroyed, (long)p, __ATOMIC_RELAXED);
}
static void *work(void *arg)
{
    long id = (long)arg;
    pthread_once(&once, init);
    pthread_setspecific(key, (void *)(id + 1));
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
        pthread_spin_lock(&sp);
        spun++;
        pthread_spin_unlock(&sp);
        own[i * 7] = id;
    }
    pthread_mutex_lock(&rec);
    pthread_mutex_lock(&rec);
    pthread_mutex_unlock(&rec);
    pthread_mutex_unlock(&rec);
    pthread_mutex_lock(&err);
    if (pthread_mutex_lock(&err) != EDEADLK)
        abort();
    pthread_mutex_unlock(&err);
    if (pthread_mutex_unlock(&err) != EPERM)
        abort();
    for (int r = 0; r < 5; r++)
        if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    if (id % 2) {
        pthread_rwlock_wrlock(&rw);
        readers += 10;
        pthread_rwlock_unlock(&rw);
    } else {
        pthread_rwlock_rdlock(&rw);
        long x = readers;
        (void)x;
        pthread_rwlock_unlock(&rw);
    }
    sem_wait(&s);
    pthread_mutex_lock(&m);
    while (items == 0)
        pthread_cond_wait(&c, &m);
    items--;
    done++;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    if (id == 3)
        pthread_exit((void *)(id * id));
    return (void *)(id * id);
}
int main(void)
{
    pthread_t t[N];
    long sum = 0;
    pthread_key_create(&key, destroy);
    pthread_barrier_init(&b, NULL, N);
    pthread_spin_init(&sp, 0);
    sem_init(&s, 0, 3);
    for (long i = 0; i < N; i++)
        if (pthread_create(&t[i], NULL, work, (void *)i))
            abort();
    for (int i = 0; i < N - 3; i++)
        sem_post(&s);
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&m);
        items++;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    for (int i = 0; i < N; i++) {
        void *r;
        if (pthread_join(t[i], &r))
            abort();
        sum += (long)r;
    }
    printf("%ld %ld %ld %ld %ld %ld %ld %ld\n", count, spun, done, onces, destroyed, serial, readers, sum);
    struct timespec a, z;
    clock_gettime(CLOCK_MONOTONIC, &a);
    usleep(2000);
    clock_gettime(CLOCK_MONOTONIC, &z);
    double d = (z.tv_sec - a.tv_sec) + (z.tv_nsec - a.tv_nsec) * 1e-9;
    printf("slept %s\n", d >= 0.002 ? "well" : "badly");
    struct timespec dl;
    clock_gettime(CLOCK_REALTIME, &dl);
    dl.tv_nsec += 1000000;
    if (dl.tv_nsec >= 1000000000) {
        dl.tv_sec++;
        dl.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&m);
    int e = pthread_cond_timedwait(&c, &m, &dl);
    pthread_mutex_unlock(&m);
    printf("%s\n", strerror(e));
    e = sem_timedwait(&s, &dl);
    printf("%d %s\n", e, strerror(errno));
    return 0;
}

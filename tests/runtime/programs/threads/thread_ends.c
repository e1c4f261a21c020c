/* Ways in which threads end, wait and are distinguished; each prints a known result. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <setjmp.h>
#include <sched.h>
#include <unistd.h>
#include <threads.h>
#include <string.h>
#include <stdatomic.h>
#include <signal.h>
static int order[64], n;
static void note(void *p)
{
    order[n++] = (int)(long)p;
}
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void inner(void)
{
    pthread_cleanup_push(note, (void *)3);
    pthread_testcancel();
    pthread_exit((void *)77);
    pthread_cleanup_pop(0);
}
static void *cleans(void *a)
{
    pthread_cleanup_push(note, (void *)1);
    pthread_cleanup_push(note, (void *)2);
    inner();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return a;
}
static void unlock(void *p)
{
    pthread_mutex_unlock(p);
    note((void *)9);
}
static void *waits(void *a)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(0);
    return a;
}
static void *sleeps(void *a)
{
    sleep(1000);
    return a;
}
static void *protected_(void *a)
{
    int o;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &o);
    usleep(1000);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &o);
    note((void *)4);
    usleep(1);
    note((void *)5);
    return a;
}
static pthread_mutex_t robust;
static void *dies(void *a)
{
    pthread_mutex_lock(&robust);
    return a;
}
static void *jumps(void *a)
{
    static __thread jmp_buf b;
    volatile int k = 0;
    if (setjmp(b) < 3) {
        k = k + 1;
        longjmp(b, k);
    }
    return (void *)(long)k;
}
static atomic_int flag;
static volatile int plain;
static void *spins(void *a)
{
    while (!atomic_load(&flag))
        ;
    while (!plain)
        sched_yield();
    atomic_store(&flag, 2);
    return a;
}
static int c11(void *a)
{
    return (int)(long)a + 1;
}
static tss_t tss;
static int tss_sum;
static void tss_d(void *p)
{
    tss_sum += (int)(long)p;
}
static int c11b(void *a)
{
    tss_set(tss, a);
    thrd_yield();
    thrd_exit(5);
}
static int compare(const void *a, const void *b)
{
    sched_yield();
    return *(const int *)a - *(const int *)b;
}
static void *sorts(void *a)
{
    int v[200];
    unsigned s = (unsigned)(long)a;
    for (int i = 0; i < 200; i++) {
        s = s * 1103515245 + 12345;
        v[i] = (int)(s >> 8) % 1000;
    }
    qsort(v, 200, sizeof *v, compare);
    for (int i = 1; i < 200; i++)
        if (v[i - 1] > v[i])
            abort();
    long k = 0;
    for (int i = 0; i < 200; i++)
        k += v[i];
    return (void *)k;
}
static void *prints(void *a)
{
    for (int i = 0; i < 20; i++) {
        flockfile(stdout);
        printf("(%c", 'x');
        sched_yield();
        printf("%c)", 'y');
        funlockfile(stdout);
    }
    return a;
}
static char big_tls_probe(void)
{
    static __thread char big[300000];
    big[299999]++;
    return big[299999];
}
static void *tls(void *a)
{
    return (void *)(long)(big_tls_probe() + big_tls_probe());
}
static void *deep(void *a)
{
    volatile char buf[3 << 20];
    buf[0] = 1;
    buf[sizeof buf - 1] = 2;
    return (void *)(long)(buf[0] + buf[sizeof buf - 1]);
}
static void *detached(void *a)
{
    atomic_fetch_add(&flag, 1);
    return a;
}
int main(void)
{
    pthread_t t, u;
    void *r;
    pthread_create(&t, NULL, cleans, NULL);
    pthread_join(t, &r);
    printf("%ld:", (long)r);
    for (int i = 0; i < n; i++)
        printf(" %d", order[i]);
    puts("");
    n = 0;
    pthread_create(&t, NULL, waits, NULL);
    usleep(2000);
    pthread_cancel(t);
    pthread_join(t, &r);
    printf("%d %d %d\n", r == PTHREAD_CANCELED, n, order[0]);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_create(&t, NULL, sleeps, NULL);
    usleep(1000);
    pthread_cancel(t);
    pthread_join(t, &r);
    printf("%d\n", r == PTHREAD_CANCELED);
    n = 0;
    pthread_create(&t, NULL, protected_, NULL);
    pthread_cancel(t);
    pthread_join(t, &r);
    printf("%d %d %d\n", r == PTHREAD_CANCELED, n, order[0]);
    pthread_mutexattr_t ma;
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &ma);
    pthread_create(&t, NULL, dies, NULL);
    pthread_join(t, NULL);
    int e = pthread_mutex_lock(&robust);
    printf("%s\n", e == EOWNERDEAD ? "dead" : "?");
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    printf("%d\n", pthread_mutex_lock(&robust));
    pthread_create(&t, NULL, jumps, NULL);
    pthread_join(t, &r);
    printf("%ld\n", (long)r);
    pthread_create(&t, NULL, spins, NULL);
    usleep(100);
    atomic_store(&flag, 1);
    plain = 1;
    while (atomic_load(&flag) != 2)
        ;
    pthread_join(t, NULL);
    puts("spun");
    thrd_t ct;
    int ci;
    thrd_create(&ct, c11, (void *)41);
    thrd_join(ct, &ci);
    printf("%d\n", ci);
    tss_create(&tss, tss_d);
    thrd_create(&ct, c11b, (void *)6);
    thrd_join(ct, &ci);
    printf("%d %d\n", ci, tss_sum);
    pthread_create(&t, NULL, sorts, (void *)1);
    pthread_create(&u, NULL, sorts, (void *)2);
    pthread_join(t, &r);
    printf("%ld ", (long)r);
    pthread_join(u, &r);
    printf("%ld\n", (long)r);
    pthread_create(&t, NULL, prints, 0);
    pthread_create(&u, NULL, prints, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    puts("");
    pthread_create(&t, NULL, tls, 0);
    pthread_join(t, &r);
    printf("%ld %d\n", (long)r, big_tls_probe());
    pthread_attr_t at;
    pthread_attr_init(&at);
    pthread_attr_setstacksize(&at, 4 << 20);
    pthread_create(&t, &at, deep, 0);
    pthread_join(t, &r);
    printf("%ld\n", (long)r);
    static char own[1 << 20] __attribute__((aligned(4096)));
    pthread_attr_t as;
    pthread_attr_init(&as);
    pthread_attr_setstack(&as, own, sizeof own);
    pthread_create(&t, &as, sorts, (void *)3);
    pthread_join(t, &r);
    printf("%ld\n", (long)r);
    pthread_attr_t ad;
    pthread_attr_init(&ad);
    pthread_attr_setdetachstate(&ad, PTHREAD_CREATE_DETACHED);
    atomic_store(&flag, 0);
    for (int i = 0; i < 40; i++) {
        pthread_create(&t, &ad, detached, 0);
    }
    while (atomic_load(&flag) < 40)
        sched_yield();
    puts("detached");
    char name[16];
    pthread_setname_np(pthread_self(), "fred");
    pthread_getname_np(pthread_self(), name, sizeof name);
    puts(name);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    printf("%d\n", pthread_setaffinity_np(pthread_self(), sizeof set, &set));
    printf("%d\n", sched_getcpu());
    sched_getaffinity(0, sizeof set, &set);
    printf("%d\n", CPU_COUNT(&set));
    printf("%d %d\n", pthread_join(pthread_self(), NULL) == EDEADLK, pthread_kill(pthread_self(), 0));
    struct timespec ts = {0, 5000};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += 1;
    pthread_create(&t, NULL, sleeps, 0);
    printf("%d\n", pthread_timedjoin_np(t, NULL, &now) == ETIMEDOUT);
    pthread_cancel(t);
    pthread_join(t, 0);
    (void)ts;
    pthread_create(&t, NULL, sorts, (void *)9);
    pthread_detach(t);
    pthread_exit(NULL);
}

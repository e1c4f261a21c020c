/* Threads that are woken, cancelled or released at the same moment for two reasons: one case by name. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty, told;
static int started, faults;

static void work(int steps)
{
    for (volatile int i = 0; i < steps; i++)
        continue;
}

static struct timespec in_ns(long ns)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += (time.tv_nsec + ns) / 1000000000;
    time.tv_nsec = (time.tv_nsec + ns) % 1000000000;
    return time;
}

/* Before main. */
static void __attribute__((constructor)) early(void)
{
    thrd_yield();
}

/* ---- cancelled on the way to a wait ---- */

static void unlock(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&mutex);
}

static void *wait_for_ever(void *on)
{
    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    work(100);
    if (on == &empty) {
        sem_wait(&empty);
    } else {
        pthread_mutex_lock(&mutex);
        pthread_cleanup_push(unlock, NULL);
        for (;;)
            pthread_cond_wait(&never, &mutex);
        pthread_cleanup_pop(1);
    }
    return NULL;
}

static void cancel_at_every_moment(void *on)
{
    int cancelled = 0;
    for (int delay = 0; delay < 200; delay++) {
        pthread_t thread;
        void *result;
        started = 0;
        pthread_create(&thread, NULL, wait_for_ever, on);
        while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
            sched_yield();
        work(delay);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("%d cancelled\n", cancelled);
}

/* ---- cancelled and woken at the same time ---- */

static void *take(void *unused)
{
    __atomic_fetch_add(&started, 1, __ATOMIC_ACQ_REL);
    sem_wait(&told);
    return unused;
}

static void post_and_cancel(void)
{
    for (int round = 0; round < 20; round++) {
        pthread_t first, second;
        void *result;
        started = 0;
        pthread_create(&first, NULL, take, NULL);
        pthread_create(&second, NULL, take, NULL);
        while (__atomic_load_n(&started, __ATOMIC_ACQUIRE) < 2)
            sched_yield();
        usleep(1000);
        sem_post(&told);
        pthread_cancel(first);
        pthread_join(first, &result);
        if (result != PTHREAD_CANCELED) /* it has taken the posted unit */
            sem_post(&told);
        pthread_join(second, &result);
    }
    printf("all\n");
}

/* ---- a join that times out just when the thread ends ---- */

static void *finish_at(void *until)
{
    struct timespec now, *end = until;
    do {
        work(20);
        clock_gettime(CLOCK_REALTIME, &now);
    } while (now.tv_sec < end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec < end->tv_nsec));
    return NULL;
}

static void join_when_the_time_is_over(void)
{
    int right = 0;
    for (int round = 0; round < 100; round++) {
        pthread_t thread;
        struct timespec until = in_ns(600000);
        pthread_create(&thread, NULL, finish_at, &until);
        int error = pthread_timedjoin_np(thread, NULL, &until);
        right += error == ETIMEDOUT ? pthread_join(thread, NULL) == 0 : error == 0;
    }
    printf("%d joined\n", right);
}

/* ---- the last two threads end at once, after main ---- */

static void *end(void *steps)
{
    work((int)(long)steps);
    return NULL;
}

static void end_together(int steps)
{
    pthread_t thread;
    printf("main ends\n");
    pthread_create(&thread, NULL, end, (void *)(long)steps);
    pthread_detach(thread);
    pthread_exit(NULL);
}

/* ---- a futex is no place to be cancelled at ---- */

static void *sleep_at_futex(void *word)
{
    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n((int *)word, __ATOMIC_ACQUIRE) == 0)
        if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) != 0 && errno != EAGAIN)
            faults++;
    pthread_testcancel();
    return NULL;
}

static void cancel_at_futex(void)
{
    static int word;
    void *result;
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_at_futex, &word);
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        sched_yield();
    usleep(1000);
    pthread_cancel(thread);
    usleep(1000);
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(thread, &result);
    printf("cancelled %d, faults %d\n", result == PTHREAD_CANCELED, faults);
}

/* ---- a writer that gives up no longer blocks readers ---- */

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *write_in_vain(void *unused)
{
    struct timespec until = in_ns(20000000);
    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    if (pthread_rwlock_timedwrlock(&lock, &until) != ETIMEDOUT)
        faults++;
    return unused;
}

static void *read_behind(void *unused)
{
    usleep(5000);
    pthread_rwlock_rdlock(&lock);
    sem_post(&told);
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void writer_gives_up(void)
{
    pthread_t writer, reader;
    pthread_rwlock_rdlock(&lock);
    pthread_create(&writer, NULL, write_in_vain, NULL);
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        sched_yield();
    pthread_create(&reader, NULL, read_behind, NULL);
    sem_wait(&told);
    pthread_rwlock_unlock(&lock);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    printf("both read, faults %d\n", faults);
}

/* ---- a barrier for fewer threads than reach it ---- */

enum { CROWD = 12, PHASES = 60 };

static pthread_barrier_t everybody, some;
static int come, gone, serial, members;

static void *meet(void *number)
{
    for (int phase = 0; phase < PHASES; phase++) {
        pthread_barrier_wait(&everybody);
        int place = ((int)(long)number + phase) % CROWD; /* one too many arrives at once, the others much later */
        work(place <= members ? place * phase % 23 : 300 * place);
        __atomic_fetch_add(&come, 1, __ATOMIC_ACQ_REL);
        int last = pthread_barrier_wait(&some) == PTHREAD_BARRIER_SERIAL_THREAD;
        int left = __atomic_add_fetch(&gone, 1, __ATOMIC_ACQ_REL);
        if (left > __atomic_load_n(&come, __ATOMIC_ACQUIRE) / members * members)
            __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&serial, last, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void crowd(int count)
{
    pthread_t thread[CROWD];
    members = count;
    pthread_barrier_init(&everybody, NULL, CROWD);
    pthread_barrier_init(&some, NULL, (unsigned)members);
    for (long i = 0; i < CROWD; i++)
        pthread_create(&thread[i], NULL, meet, (void *)i);
    for (int i = 0; i < CROWD; i++)
        pthread_join(thread[i], NULL);
    printf("%d of %d serial, %d too early\n", serial, gone, faults);
}

/* ---- the first thread past a barrier initialises it again with another count ---- */

static void *renew(void *unused)
{
    if (pthread_barrier_wait(&some) == PTHREAD_BARRIER_SERIAL_THREAD) {
        __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
        pthread_barrier_destroy(&some);
        pthread_barrier_init(&some, NULL, 2);
    }
    return unused;
}

static void renewed(void)
{
    pthread_t thread[3];
    for (int round = 0; round < 20; round++) {
        pthread_barrier_init(&some, NULL, 3);
        for (int i = 0; i < 3; i++)
            pthread_create(&thread[i], NULL, renew, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(thread[i], NULL);
        pthread_barrier_destroy(&some);
    }
    printf("%d serial\n", serial);
}

/* ---- a thread ends holding a spin lock; memory beside it looks like a robust mutex ---- */

static union {
    pthread_spinlock_t spin;
    int word[16];
} beside;

static void *keep(void *robust)
{
    if (robust != NULL)
        pthread_mutex_lock(robust);
    pthread_spin_lock(&beside.spin);
    return NULL;
}

static void kept(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t robust;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    pthread_spin_init(&beside.spin, 0);
    for (int i = 1; i < 16; i++)
        beside.word[i] = 16;
    pthread_create(&thread, NULL, keep, &robust);
    pthread_join(thread, NULL);
    for (int i = 1; i < 16; i++)
        faults += beside.word[i] != 16;
    printf("%s, faults %d, spin lock %s\n", pthread_mutex_lock(&robust) == EOWNERDEAD ? "told" : "not told",
           faults, pthread_spin_trylock(&beside.spin) == EBUSY ? "kept" : "free");
}

/* ---- time passes for a thread whose deadline is over before it waits ---- */

static void *busy(void *unused)
{
    work(3000);
    return unused;
}

static void wait_in_the_past(void)
{
    pthread_t thread;
    struct timespec past = {0, 1}, before, after;
    cpu_set_t one, all;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    all = one;
    CPU_SET(1, &all);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    pthread_create(&thread, NULL, busy, NULL); /* inherits the one processor */
    pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    clock_gettime(CLOCK_MONOTONIC, &before);
    pthread_mutex_lock(&mutex);
    int error = pthread_cond_timedwait(&never, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &after);
    pthread_join(thread, NULL);
    printf("%s, time goes %s\n", error == ETIMEDOUT ? "timed out" : "woken",
           after.tv_sec * 1000000000 + after.tv_nsec < before.tv_sec * 1000000000 + before.tv_nsec ? "back"
                                                                                                   : "on");
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    sem_init(&empty, 0, 0);
    sem_init(&told, 0, 0);
    if (strcmp(which, "condition") == 0)
        cancel_at_every_moment(&never);
    else if (strcmp(which, "semaphore") == 0)
        cancel_at_every_moment(&empty);
    else if (strcmp(which, "posted") == 0)
        post_and_cancel();
    else if (strcmp(which, "joined") == 0)
        join_when_the_time_is_over();
    else if (strcmp(which, "last") == 0)
        end_together(number);
    else if (strcmp(which, "futex") == 0)
        cancel_at_futex();
    else if (strcmp(which, "writer") == 0)
        writer_gives_up();
    else if (strcmp(which, "crowd") == 0)
        crowd(number);
    else if (strcmp(which, "renewed") == 0)
        renewed();
    else if (strcmp(which, "kept") == 0)
        kept();
    else
        wait_in_the_past();
    return 0;
}

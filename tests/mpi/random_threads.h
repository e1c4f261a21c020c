/* Parts of random MPI programs whose ranks have threads. These exchange messages with threads of other ranks,
 * and use pipes, events, conditions, semaphores and signals within their rank. Each thread has its own sum;
 * the sums enter the rank's state in the order of the threads. */
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "random_windows.h"

enum { MOST_THREADS = 4 };

typedef struct job {
    world w;
    int number, threads, distance, turns, tag;
    word sum;
    int ways[2];
    sem_t *given, *taken;
    pthread_mutex_t *mutex;
    pthread_cond_t *changed;
    int *turn;
} job;

static word stir(word x, int steps)
{
    for (int i = 0; i < steps; i++)
        x = mix(x + (word)i);
    return x;
}

static void run_jobs(void *(*run)(void *), job *jobs, int threads)
{
    pthread_t thread[MOST_THREADS];
    for (int i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, run, &jobs[i]);
    run(&jobs[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < threads; i++)
        absorb(jobs[i].sum);
}

/* A thread exchanges messages with the threads of the same number in other ranks. */
static void *exchange(void *argument)
{
    job *j = argument;
    int to = modulo(j->w.rank + (long)j->distance, j->w.size),
        from = modulo(j->w.rank - (long)j->distance, j->w.size);
    for (int i = 0; i < j->turns; i++) {
        word out = stir(j->sum + (word)i, 30 * (1 + j->number)), in = 0;
        MPI_Sendrecv(&out, 1, MPI_UNSIGNED_LONG, to, j->tag * MOST_THREADS + j->number, &in, 1,
                     MPI_UNSIGNED_LONG, from, j->tag * MOST_THREADS + j->number, j->w.comm,
                     MPI_STATUS_IGNORE);
        j->sum = mix(j->sum + in);
    }
    return NULL;
}

static void threads_exchange(world w, int threads, int distance, int turns, int teams, int tag)
{
    job jobs[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        jobs[i] = (job){.w = w,
                        .number = i,
                        .threads = threads,
                        .distance = distance,
                        .turns = turns,
                        .tag = tag,
                        .sum = state + (word)i};
    if (!teams) {
        run_jobs(exchange, jobs, threads);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < threads; i++)
        exchange(&jobs[i]);
    for (int i = 0; i < threads; i++)
        absorb(jobs[i].sum);
}

/* The main thread passes on what it receives to threads, through files, and gets their sums back. */
static void *answer(void *argument)
{
    job *j = argument;
    word x;
    if (j->number == 0)
        return NULL;
    while (read(j->ways[0], &x, sizeof x) == sizeof x && x != 0)
        j->sum = mix(j->sum + stir(x, 20));
    return NULL;
}

static void threads_of_pipes(world w, int threads, int distance, int turns, int polls, int tag)
{
    job jobs[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    int to = modulo(w.rank + (long)distance, w.size), from = modulo(w.rank - (long)distance, w.size);
    for (int i = 1; i < threads; i++) {
        jobs[i] = (job){.number = i};
        if (pipe(jobs[i].ways) != 0)
            absorb(1);
        pthread_create(&thread[i], NULL, answer, &jobs[i]);
    }
    for (int i = 0; i < turns * (threads - 1); i++) {
        word out = state | 1, in = 0;
        MPI_Sendrecv(&out, 1, MPI_UNSIGNED_LONG, to, tag, &in, 1, MPI_UNSIGNED_LONG, from, tag, w.comm,
                     MPI_STATUS_IGNORE);
        struct pollfd ready = {jobs[1 + i % (threads - 1)].ways[1], POLLOUT, 0};
        if (polls && poll(&ready, 1, -1) != 1)
            absorb(2);
        if (write(ready.fd, &in, sizeof in) != sizeof in)
            absorb(3);
    }
    for (int i = 1; i < threads; i++) {
        word none = 0;
        if (write(jobs[i].ways[1], &none, sizeof none) != sizeof none)
            absorb(4);
        pthread_join(thread[i], NULL);
        absorb(jobs[i].sum);
        close(jobs[i].ways[0]);
        close(jobs[i].ways[1]);
    }
}

/* Threads take turns, using a condition or semaphores; in its turn a thread exchanges messages with another
 * rank. */
static void *in_turn(void *argument)
{
    job *j = argument;
    int to = modulo(j->w.rank + (long)j->distance, j->w.size),
        from = modulo(j->w.rank - (long)j->distance, j->w.size);
    for (int i = 0; i < j->turns; i++) {
        word out = j->sum, in = 0;
        if (j->given != NULL)
            sem_wait(&j->given[j->number]);
        else {
            pthread_mutex_lock(j->mutex);
            while (*j->turn % j->threads != j->number)
                pthread_cond_wait(j->changed, j->mutex);
        }
        MPI_Sendrecv(&out, 1, MPI_UNSIGNED_LONG, to, j->tag, &in, 1, MPI_UNSIGNED_LONG, from, j->tag,
                     j->w.comm, MPI_STATUS_IGNORE);
        j->sum = mix(j->sum + in);
        if (j->given != NULL)
            sem_post(&j->given[(j->number + 1) % j->threads]);
        else {
            ++*j->turn;
            pthread_cond_broadcast(j->changed);
            pthread_mutex_unlock(j->mutex);
        }
    }
    return NULL;
}

static void threads_in_turn(world w, int threads, int distance, int turns, int semaphores, int tag)
{
    job jobs[MOST_THREADS];
    sem_t given[MOST_THREADS];
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    int turn = 0;
    for (int i = 0; i < threads; i++) {
        sem_init(&given[i], 0, i == 0);
        jobs[i] = (job){.w = w,
                        .number = i,
                        .threads = threads,
                        .distance = distance,
                        .turns = turns,
                        .tag = tag,
                        .sum = state + (word)i,
                        .given = semaphores ? given : NULL,
                        .mutex = &mutex,
                        .changed = &changed,
                        .turn = &turn};
    }
    run_jobs(in_turn, jobs, threads);
    for (int i = 0; i < threads; i++)
        sem_destroy(&given[i]);
}

/* A thread waits for an event that announces each message that has arrived. */
static void *count_events(void *argument)
{
    job *j = argument;
    uint64_t got = 0;
    while (j->sum < (word)j->turns && read(j->ways[0], &got, sizeof got) == sizeof got)
        j->sum += got;
    return NULL;
}

static void threads_of_events(world w, int distance, int turns, int tag)
{
    job j = {.turns = turns, .ways = {eventfd(0, 0), -1}};
    pthread_t thread;
    int to = modulo(w.rank + (long)distance, w.size), from = modulo(w.rank - (long)distance, w.size);
    pthread_create(&thread, NULL, count_events, &j);
    for (int i = 0; i < turns; i++) {
        uint64_t one = 1;
        word out = state, in = 0;
        MPI_Sendrecv(&out, 1, MPI_UNSIGNED_LONG, to, tag, &in, 1, MPI_UNSIGNED_LONG, from, tag, w.comm,
                     MPI_STATUS_IGNORE);
        absorb(in);
        if (write(j.ways[0], &one, sizeof one) != sizeof one)
            absorb(5);
    }
    pthread_join(thread, NULL);
    absorb(j.sum);
    close(j.ways[0]);
}

static _Thread_local volatile int heard;

static void hear(int number)
{
    heard += number == SIGUSR1;
}

/* All members of nested teams raise signals; the signals received are added up over the ranks. */
static void teams_of_signals(world w, int outer, int inner, int turns)
{
    long sum = 0, all = 0;
    signal(SIGUSR1, hear);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer) reduction(+ : sum)
    {
        long own = 0;
#pragma omp parallel num_threads(inner) reduction(+ : own)
        {
            heard = 0;
            for (int i = 0; i < turns; i++)
                raise(SIGUSR1);
            own += heard + (long)(stir((word)omp_get_thread_num(), 50) & 7);
        }
        sum += own;
    }
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, w.comm);
    absorb((word)all);
}

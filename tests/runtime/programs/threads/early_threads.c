/* A constructor creates permanent and temporary threads, and runs a parallel region before main. */
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

enum { WORKERS = 3, ROUNDS = 20, SIZE = 3000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static pthread_t worker[WORKERS];
static int alive, round_number, finished, stop, too_early, in_constructor = 1;
static double sums[WORKERS], table[SIZE];
static int counted;
static __thread int own = 5;
static int *own_of_main;
static int answer;

static void *work(void *argument)
{
    int me = (int)(long)argument, seen = 0;
    pthread_mutex_lock(&mutex);
    too_early += in_constructor; /* the constructor holds this mutex while it creates threads */
    alive++;
    pthread_cond_signal(&done);
    for (;;) {
        while (round_number == seen && !stop)
            pthread_cond_wait(&ready, &mutex);
        if (stop)
            break;
        seen = round_number;
        pthread_mutex_unlock(&mutex);
        for (int i = me; i < SIZE; i += WORKERS)
            sums[me] += table[i];
        pthread_mutex_lock(&mutex);
        if (++finished == WORKERS)
            pthread_cond_signal(&done);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static int once(void *argument)
{
    return *(int *)argument + own;
}

__attribute__((constructor)) static void open_pool(void)
{
    own = 37;
    own_of_main = &own;
    for (int i = 0; i < SIZE; i++)
        table[i] = i % 7;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&worker[i], NULL, work, (void *)(long)i);
    in_constructor = 0;
    while (alive < WORKERS)
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
#pragma omp parallel for reduction(+ : counted)
    for (int i = 0; i < SIZE; i++)
        counted += (int)table[i];
}

__attribute__((constructor)) static void ask(void)
{
    thrd_t thread;
    int seven = 7;
    thrd_create(&thread, once, &seven);
    thrd_join(thread, &answer);
}

__attribute__((destructor)) static void close_pool(void)
{
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    printf("closed, %d\n", own);
}

int main(int argc, char **argv)
{
    double sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        finished = 0;
        round_number++;
        pthread_cond_broadcast(&ready);
        while (finished < WORKERS)
            pthread_cond_wait(&done, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < WORKERS; i++)
        sum += sums[i];
    printf("%d %s, %.0f, %d, %d, too early %d, own %d %d\n", argc, argv[argc] == NULL ? "whole" : "cut", sum,
           counted, answer, too_early, own, own_of_main == &own);
    return 0;
}

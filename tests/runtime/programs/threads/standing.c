/* Threads that are already in a queue still have something to do before they sleep. If there are more threads than
 * processors, they lose their processor to others meanwhile. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 7, ROUNDS = 60, PLACES = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static pthread_once_t once[ROUNDS];
static int turns, inside, most, onces, done[THREADS];

static void first(void)
{
    volatile int work = 0;
    for (int i = 0; i < 300; i++)
        work += i;
    __atomic_fetch_add(&onces, 1, __ATOMIC_RELAXED);
}

static void *run(void *argument)
{
    int me = (int)(long)argument;
    for (int k = 0; k < ROUNDS; k++) {
        pthread_mutex_lock(&mutex); /* in turn */
        while (turns % THREADS != me)
            pthread_cond_wait(&turn, &mutex);
        turns++;
        pthread_cond_broadcast(&turn);
        while (inside == PLACES)
            pthread_cond_wait(&room, &mutex);
        if (++inside > most)
            most = inside;
        pthread_mutex_unlock(&mutex);
        pthread_once(&once[k], first);
        pthread_mutex_lock(&mutex);
        inside--;
        pthread_cond_signal(&room);
        pthread_mutex_unlock(&mutex);
        done[me]++;
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int all = 0;
    for (int i = 0; i < ROUNDS; i++)
        once[i] = (pthread_once_t)PTHREAD_ONCE_INIT;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        all += done[i];
    }
    printf("%d turns, %d onces, %d rounds, %d inside, at most %d: %s\n", turns, onces, all, inside, PLACES,
           most <= PLACES ? "yes" : "no");
    return 0;
}

/* Waits for ever; the argument says for what. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signal_ = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;

static void *other(void *what)
{
    if (strcmp(what, "mutex") == 0) {
        pthread_mutex_lock(&b);
        usleep(1000);
        pthread_mutex_lock(&a);
    } else if (strcmp(what, "condition") == 0) {
        pthread_mutex_lock(&a);
        pthread_cond_wait(&signal_, &a);
    } else if (strcmp(what, "semaphore") == 0) {
        sem_wait(&semaphore);
    } else if (strcmp(what, "barrier") == 0) {
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const char *what = argc > 1 ? argv[1] : "mutex";
    puts("before");
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    if (strcmp(what, "fork") == 0 && fork() == 0)
        return 1;
    if (strcmp(what, "alarm") == 0)
        alarm(1);
    if (strcmp(what, "kill") == 0)
        pthread_kill(pthread_self(), 10);
    if (strcmp(what, "asynchronous") == 0)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    if (strcmp(what, "many") == 0)
        for (int i = 0; i < 5000; i++)
            pthread_create(&thread, NULL, other, "semaphore");
    pthread_mutex_lock(&a);
    pthread_create(&thread, NULL, other, (void *)what);
    usleep(500);
    if (strcmp(what, "mutex") == 0)
        pthread_mutex_lock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, NULL);
    return 0;
}

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <time.h>
static _Thread_local volatile int handled, value;
static atomic_int total, go, ready;
static void on(int s) { (void)s; handled++; total++; }
static void on_info(int s, siginfo_t *i, void *c) { (void)c; handled += s == i->si_signo; value = i->si_value.sival_int; total++; }
static void *spinner(void *a) { ready++; while (!go) ; return (void *)(long)handled; }
static sem_t sem;
static void *sleeper(void *a) { ready++; int r = sem_wait(&sem); return (void *)(long)(r == -1 && errno == EINTR ? 100 + handled : handled); }
static void *locker(void *a) { ready++; pthread_mutex_lock(a); pthread_mutex_unlock(a); return (void *)(long)handled; }
static void *waiter(void *a) { int n = 0; ready++; sigwait(a, &n); return (void *)(long)n; }
static void *pauser(void *a) { ready++; pause(); return (void *)(long)handled; }
static sigjmp_buf jump;
static void leave(int s) { siglongjmp(jump, s); }
static void until(int n) { while (ready < n) ; struct timespec t = {0, 1000000}; nanosleep(&t, 0); }
int main(void)
{
    pthread_t t[8]; void *r;
    struct sigaction a = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
    signal(SIGUSR1, on);
    sigaction(SIGUSR2, &a, 0);
    pthread_create(&t[0], 0, spinner, 0);
    until(1);
    for (int i = 0; i < 5; i++) { int before = total; pthread_kill(t[0], SIGUSR1); while (total == before) ; }
    go = 1; pthread_join(t[0], &r); printf("spinner %ld, main %d\n", (long)r, handled);
    sem_init(&sem, 0, 0); ready = 0;
    pthread_create(&t[0], 0, sleeper, 0); until(1);
    pthread_kill(t[0], SIGUSR2); pthread_join(t[0], &r); printf("sleeper %ld\n", (long)r);
    ready = 0; pthread_create(&t[0], 0, sleeper, 0); until(1);
    pthread_kill(t[0], SIGUSR1); until(1); sem_post(&sem); pthread_join(t[0], &r); printf("restarted %ld\n", (long)r);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); ready = 0;
    pthread_create(&t[0], 0, locker, &m); until(1);
    int before = total; pthread_kill(t[0], SIGUSR2); while (total == before) ; pthread_mutex_unlock(&m);
    pthread_join(t[0], &r); printf("locker %ld\n", (long)r);
    sigset_t set, old; sigemptyset(&set); sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old); ready = 0;
    pthread_create(&t[0], 0, waiter, &set); until(1);
    kill(getpid(), SIGUSR1); pthread_join(t[0], &r); printf("waiter %d\n", (long)r == SIGUSR1);
    raise(SIGUSR1); raise(SIGUSR1); sigset_t p; sigpending(&p); printf("pending %d handled %d\n", sigismember(&p, SIGUSR1), handled);
    pthread_sigmask(SIG_SETMASK, &old, 0); printf("then %d\n", handled);
    ready = 0; pthread_create(&t[0], 0, pauser, 0); until(1); pthread_kill(t[0], SIGUSR1); pthread_join(t[0], &r); printf("pauser %ld\n", (long)r);
    union sigval v = {.sival_int = 42}; sigqueue(getpid(), SIGUSR2, v); printf("value %d\n", value);
    signal(SIGUSR2, leave); for (int i = 0; i < 3; i++) if (sigsetjmp(jump, 1) == 0) raise(SIGUSR2); else printf("jumped\n");
    signal(SIGUSR1, SIG_IGN); raise(SIGUSR1); printf("ignored\n");
    struct timespec w = {0, 1000}; sigemptyset(&set); sigaddset(&set, SIGRTMIN); sigprocmask(SIG_BLOCK, &set, 0);
    printf("timed %d\n", sigtimedwait(&set, 0, &w) == -1 && errno == EAGAIN);
    for (int i = 0; i < 3; i++) { v.sival_int = i; sigqueue(getpid(), SIGRTMIN, v); }
    siginfo_t info; for (int i = 0; i < 3; i++) printf("queued %d\n", sigwaitinfo(&set, &info) == SIGRTMIN ? info.si_value.sival_int : -1);
    printf("exists %d\n", pthread_kill(pthread_self(), 0));
    return 0;
}

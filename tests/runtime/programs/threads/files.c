#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static double work(int n)
{
    double x = 0;
    for (int i = 1; i <= n; i++)
        x += 1.0 / i;
    return x;
}
/* a pair of sockets, more than a buffer of data */
static int pair[2];
static void *pusher(void *a)
{
    char *big = malloc(1 << 18);
    memset(big, 7, 1 << 18);
    ssize_t n = send(pair[0], big, 1 << 18, 0);
    struct iovec v[2] = {{big, 100000}, {big, 200000}};
    n += writev(pair[0], v, 2);
    shutdown(pair[0], SHUT_WR);
    free(big);
    return (void *)(long)n;
}
static void sockets(void)
{
    pthread_t t;
    void *sent;
    static char buffer[70000];
    long got = 0, n, sum = 0;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pthread_create(&t, 0, pusher, 0);
    while ((n = recv(pair[1], buffer, sizeof buffer, 0)) > 0)
        got += n, sum += buffer[n - 1];
    pthread_join(t, &sent);
    printf("sockets %ld %ld last %ld\n", got, (long)sent, n);
}
/* a server on the loopback network */
static int port;
static void *client(void *a)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    double x = work(1000 * (int)(long)a);
    if (connect(s, (struct sockaddr *)&to, sizeof to) || send(s, &x, sizeof x, 0) != sizeof x)
        perror("client");
    if (recv(s, &x, sizeof x, MSG_WAITALL) != sizeof x)
        perror("answer");
    close(s);
    return (void *)(long)(x * 1000);
}
static void server(void)
{
    pthread_t t[4];
    int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bind(s, (struct sockaddr *)&at, sizeof at);
    listen(s, 8);
    getsockname(s, (struct sockaddr *)&at, &size);
    port = at.sin_port;
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], 0, client, (void *)(i + 1));
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double x, y;
        int c = accept(s, 0, 0);
        if (recv(c, &x, sizeof x, MSG_WAITALL) != sizeof x)
            perror("server");
        y = 2 * x;
        send(c, &y, sizeof y, 0);
        sum += x;
        close(c);
    }
    long all = 0;
    for (int i = 0; i < 4; i++) {
        void *r;
        pthread_join(t[i], &r);
        all += (long)r;
    }
    close(s);
    printf("server %.6f %ld\n", sum, all);
}
/* select, poll and timers */
static int p[2];
static void *later(void *a)
{
    struct timespec ms = {0, 200000000}; /* long enough that the host's threads reach their first wait in time */
    nanosleep(&ms, 0);
    return (void *)(long)write(p[1], "x", 1);
}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void waits(void)
{
    pthread_t t;
    fd_set set;
    struct timeval ms = {0, 1000};
    char c;
    pipe2(p, O_CLOEXEC);
    pthread_create(&t, 0, later, 0);
    double begin = now();
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    int first = select(p[0] + 1, &set, 0, 0, &ms);
    struct pollfd f = {p[0], POLLIN, 0};
    int second = poll(&f, 1, 5000);
    double took = now() - begin;
    printf("waits %d %d %d took %d\n", first, second, read(p[0], &c, 1) == 1, took >= 200 && took < 4500);
    pthread_join(t, 0);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {{0, 2000000}, {0, 2000000}};
    timerfd_settime(timer, 0, &every, 0);
    uint64_t n, sum = 0;
    begin = now();
    for (int i = 0; i < 3; i++)
        if (read(timer, &n, sizeof n) == sizeof n)
            sum += n;
    took = now() - begin;
    printf("timer %d %d\n", sum >= 3, took >= 5.9 && took < 500);
    int q = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = 5}, got;
    epoll_ctl(q, EPOLL_CTL_ADD, timer, &e);
    printf("epoll %d\n", epoll_wait(q, &got, 1, 1000) == 1 && got.data.u32 == 5);
    close(timer);
    printf("nothing %d\n", epoll_wait(q, &got, 1, 5));
    close(q);
}
static void *signaller(void *a)
{
    work(1000);
    kill(getpid(), SIGUSR1);
    return 0;
}
static void signals(void)
{
    pthread_t t;
    sigset_t set;
    struct signalfd_siginfo info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    int s = signalfd(-1, &set, 0);
    pthread_create(&t, 0, signaller, 0);
    struct pollfd f = {s, POLLIN, 0};
    int r = poll(&f, 1, -1);
    ssize_t n = read(s, &info, sizeof info);
    printf("signalfd %d %d %d\n", r, n == sizeof info, info.ssi_signo == SIGUSR1);
    pthread_join(t, 0);
    close(s);
}
/* a pipeline: each stage reads from one pipe and writes into the next one */
enum { STAGES = 4, ITEMS = 50 };
static int stage[STAGES + 1][2];
static void *run_stage(void *a)
{
    long i = (long)a;
    double x;
    while (read(stage[i][0], &x, sizeof x) == sizeof x) {
        x += work(100);
        if (write(stage[i + 1][1], &x, sizeof x) != sizeof x)
            return a;
    }
    close(stage[i + 1][1]);
    return 0;
}
static void pipeline(void)
{
    pthread_t t[STAGES];
    double x, sum = 0;
    for (int i = 0; i <= STAGES; i++)
        if (pipe(stage[i]))
            exit(1);
    for (long i = 0; i < STAGES; i++)
        pthread_create(&t[i], 0, run_stage, (void *)i);
    for (int i = 0; i < ITEMS; i++) {
        x = i;
        if (write(stage[0][1], &x, sizeof x) != sizeof x)
            exit(2);
    }
    close(stage[0][1]);
    while (read(stage[STAGES][0], &x, sizeof x) == sizeof x)
        sum += x;
    for (int i = 0; i < STAGES; i++)
        pthread_join(t[i], 0);
    printf("pipeline %.6f\n", sum);
}
static int asked[2], told[2];
static void *sum_up(void *x)
{
    FILE *in = fdopen(asked[0], "r"), *out = fdopen(told[1], "w");
    char line[100];
    for (double v, sum = 0; fgets(line, sizeof line, in) != NULL;) {
        if (sscanf(line, "%lf", &v) == 1)
            fprintf(out, "%g %g\n", v, sum += v);
        fflush(out);
    }
    fclose(in);
    fclose(out);
    return x;
}
static void streams(void)
{
    pthread_t t;
    char line[100];
    if (pipe(asked) != 0 || pipe(told) != 0)
        exit(3);
    pthread_create(&t, 0, sum_up, 0);
    FILE *out = fdopen(asked[1], "w"), *in = fdopen(told[0], "r");
    for (int i = 0; i < 5; i++) {
        fprintf(out, "%d\n", i * i);
        fflush(out);
        if (fgets(line, sizeof line, in) != NULL)
            printf("stream %s", line);
    }
    fclose(out);
    printf("stream ends %d\n", fgets(line, sizeof line, in) == NULL);
    pthread_join(t, 0);
    fclose(in);
}
static void broken(int s) { (void)s; printf("SIGPIPE\n"); }
int main(void)
{
    sockets();
    server();
    waits();
    signals();
    pipeline();
    streams();
    int e[2];
    pipe(e);
    close(e[0]);
    signal(SIGPIPE, broken);
    ssize_t n = write(e[1], "x", 1);
    printf("broken %d %d\n", (int)n, errno == EPIPE);
    int v = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    uint64_t k;
    printf("event %d %d %d\n", (int)read(v, &k, 8), (int)read(v, &k, 8), (int)read(v, &k, 8));
    return 0;
}

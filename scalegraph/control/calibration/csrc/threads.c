/* Communication between two processors: a line that bounces between them, and atomic operations on one. */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PADDED __attribute__((aligned(256)))

static volatile uint64_t ball PADDED;
static uint64_t counter PADDED;
static volatile int go PADDED, over PADDED;

/* The other player: answers each odd value with the next even one. */
static void *answer(void *argument)
{
    bench_pin(*(const int *)argument);
    go = 1;
    while (!over) {
        uint64_t value = ball;
        if (value & 1)
            ball = value + 1;
        else
            spin();
    }
    return NULL;
}

/* One round: the line goes to the other processor and back. */
static void play(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--) {
        uint64_t sent = ball + 1;
        ball = sent;
        while (ball == sent)
            ;
    }
}

static void *disturb(void *argument)
{
    bench_pin(*(const int *)argument);
    go = 1;
    while (!over)
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void count_up(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--)
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
}

/* Measures while another thread runs `partner`. */
static void measure_beside(void *(*partner)(void *), const char *name, bench_body *body, double operations)
{
    pthread_t thread;
    go = over = 0;
    if (pthread_create(&thread, NULL, partner, &bench.second) != 0)
        exit(1);
    while (!go)
        sched_yield(); /* the other thread starts on this processor */
    bench_measure(name, body, NULL, operations);
    over = 1;
    pthread_join(thread, NULL);
}

/* ---- the operating system's part ---- */

static void *nothing(void *argument)
{
    return argument;
}

static void create_and_join(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) != 0)
            exit(1);
        pthread_join(thread, NULL);
    }
}

static int to[2], fro[2];

/* Sends back what arrives, on the sender's processor: each way takes a context switch. */
static void *echo(void *argument)
{
    char letter;
    bench_pin(bench.first);
    while (read(to[0], &letter, 1) == 1 && letter != 0)
        if (write(fro[1], &letter, 1) != 1)
            break;
    return argument;
}

static void send_and_wait(uint64_t times, void *state)
{
    char letter = 1;
    (void)state;
    for (; times > 0; times--)
        if (write(to[1], &letter, 1) != 1 || read(fro[0], &letter, 1) != 1)
            exit(1);
}

static void measure_switches(void)
{
    pthread_t thread;
    char end = 0;
    if (pipe(to) != 0 || pipe(fro) != 0 || pthread_create(&thread, NULL, echo, NULL) != 0)
        exit(1);
    bench_measure("thread_switch", send_and_wait, NULL, 2);
    if (write(to[1], &end, 1) == 1)
        pthread_join(thread, NULL);
}

void bench_system(void)
{
    bench_measure("thread_create", create_and_join, NULL, 1);
    measure_switches();
}

void bench_threads(void)
{
    measure_beside(answer, "transfer", play, 2);
    measure_beside(disturb, "atomic_contended", count_up, 1);
}

void bench_pair(void)
{
    char name[64];
    snprintf(name, sizeof name, "transfer_%d_%d", bench.first, bench.second);
    measure_beside(answer, name, play, 2);
}

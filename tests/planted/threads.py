"""Programs of POSIX and C++ threads with one planted reason to lose time: between ``<<`` and ``>>``."""

from __future__ import annotations

HEAD = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int threads, ready;
static double sums[64];
static double total;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static int ends[2];
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
"""
TAIL = """
int main(int argc, char **argv)
{
    pthread_t t[64];
    threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_barrier_init(&barrier, 0, threads);
    if (pipe(ends))
        return 1;
    for (long i = 1; i < threads; i++)
        pthread_create(&t[i], 0, body, (void *)i);
    body((void *)0);
    for (int i = 1; i < threads; i++)
        pthread_join(t[i], 0);
    return total == 42;
}
"""
BODY = {
    "join_late": """
static void *body(void *arg)
{
    long me = (long)arg;
    for (int i = me; i < 64; i += threads)
        sums[me] += work(1000);
    if (me == threads - 1)
        for (int k = 0; k < 60000; k++) // <<
            sums[me] += sums[me] * 0.5 + k; // >>
    return 0;
}
""",
    "mutex": """
static void *body(void *arg)
{
    for (int i = (long)arg; i < 64; i += threads) {
        double x = work(500);
        pthread_mutex_lock(&lock); // <<
        total += x + work(2000);
        pthread_mutex_unlock(&lock); // >>
    }
    return 0;
}
""",
    "read_write_lock": """
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static void *body(void *arg)
{
    long me = (long)arg;
    for (int i = me; i < 64; i += threads) {
        sums[me] += work(500);
        pthread_rwlock_wrlock(&table); // <<
        total += work(2000);
        pthread_rwlock_unlock(&table); // >>
        pthread_rwlock_rdlock(&table);
        sums[me] += total;
        pthread_rwlock_unlock(&table);
    }
    return 0;
}
""",
    "barrier_late": """
static void *body(void *arg)
{
    long me = (long)arg;
    for (int step = 0; step < 4; step++) {
        sums[me] += work(16000 / threads);
        if (me == 0)
            for (int k = 0; k < 16000; k++) // <<
                sums[me] += sums[me] * 0.5 + k; // >>
        pthread_barrier_wait(&barrier);
    }
    return 0;
}
""",
    "condition": """
static void *body(void *arg)
{
    long me = (long)arg;
    if (me == 0) {
        for (int k = 0; k < 60000; k++) // <<
            sums[me] += sums[me] * 0.5 + k; // >>
        pthread_mutex_lock(&lock);
        ready = 1;
        pthread_cond_broadcast(&go);
    } else {
        pthread_mutex_lock(&lock);
        while (!ready)
            pthread_cond_wait(&go, &lock);
    }
    pthread_mutex_unlock(&lock);
    sums[me] += work(40000 / threads);
    return 0;
}
""",
    "pool": """
static void *body(void *arg)
{
    long me = (long)arg;
    if (me == 0) {
        for (int job = 0; job < 64; job++) {
            double x = 0;
            for (int k = 0; k < 2000; k++) // <<
                x += x * 0.5 + k; // >>
            pthread_mutex_lock(&lock);
            total += x;
            ready++;
            pthread_cond_signal(&go);
            pthread_mutex_unlock(&lock);
        }
        pthread_mutex_lock(&lock);
        ready += 1000;
        pthread_cond_broadcast(&go);
        pthread_mutex_unlock(&lock);
    }
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!ready)
            pthread_cond_wait(&go, &lock);
        int left = ready - (ready >= 1000 ? 1000 : 0);
        if (!left)
            break;
        ready--;
        pthread_mutex_unlock(&lock);
        sums[me] += work(1000);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}
""",
    "pipe": """
static void *body(void *arg)
{
    long me = (long)arg;
    char c = 0;
    if (me == 0) {
        for (int k = 0; k < 60000; k++) // <<
            sums[me] += sums[me] * 0.5 + k; // >>
        for (int i = 1; i < threads; i++)
            if (write(ends[1], &c, 1) != 1)
                return 0;
    } else if (read(ends[0], &c, 1) != 1)
        return 0;
    sums[me] += work(40000 / threads);
    return 0;
}
""",
    "pipeline": """
static int done[65];
static void *body(void *arg)
{
    long me = (long)arg;
    for (int item = 0; item < 12; item++) {
        if (me > 0) {
            pthread_mutex_lock(&lock);
            while (done[me - 1] <= item)
                pthread_cond_wait(&go, &lock);
            pthread_mutex_unlock(&lock);
        }
        sums[me] += work(500);
        if (me == threads / 2)
            for (int k = 0; k < 8000; k++) // <<
                sums[me] += sums[me] * 0.5 + k; // >>
        pthread_mutex_lock(&lock);
        done[me]++;
        pthread_cond_broadcast(&go);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
""",
}
CREATION = """
int main(int argc, char **argv)
{
    pthread_t t[64];
    threads = argc > 1 ? atoi(argv[1]) : 4;
    for (int step = 0; step < 20; step++) { // <<
        for (long i = 0; i < threads; i++)
            pthread_create(&t[i], 0, body, (void *)i);
        for (int i = 0; i < threads; i++)
            pthread_join(t[i], 0);
    } // >>
    return total == 42;
}
"""
SMALL = """
static void *body(void *arg)
{
    sums[(long)arg] += work(20);
    return 0;
}
"""
CPP_HEAD = """
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex lock;
static double sums[64], total;
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
"""
CPP = {
    "cpp_mutex": """
int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    std::vector<std::thread> all;
    for (int me = 0; me < threads; me++)
        all.emplace_back([me, threads] {
            for (int i = me; i < 64; i += threads) {
                double x = work(500);
                std::lock_guard<std::mutex> hold(lock); // <<
                total += x + work(2000); // >>
            }
        });
    for (auto &one : all)
        one.join();
    return total == 42;
}
""",
    "cpp_serial": """
static void even(int threads)
{
    std::vector<std::thread> all;
    for (int me = 0; me < threads; me++)
        all.emplace_back([me, threads] {
            for (int i = me; i < 64; i += threads)
                sums[me] += work(500);
        });
    for (auto &one : all)
        one.join();
}
int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    even(threads);
    for (int k = 0; k < 60000; k++) // <<
        total += total * 0.5 + k; // >>
    even(threads);
    return total == 42;
}
""",
}


def texts() -> dict[str, str]:
    """Return the programs by name."""
    made = {f"{name}.c": HEAD + body + TAIL for name, body in BODY.items()}
    made["creation.c"] = HEAD + SMALL + CREATION
    return made | {f"{name}.cpp": CPP_HEAD + body for name, body in CPP.items()}

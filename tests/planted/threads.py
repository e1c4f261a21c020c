"""Programs of POSIX and C++ threads with one planted reason to lose time: between ``<<`` and ``>>``."""

from __future__ import annotations

HEAD = """
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
static int threads;
static double sums[64];
static double total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
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
    for (long i = 1; i < threads; i++)
        pthread_create(&t[i], 0, body, (void *)i);
    body((void *)0);
    for (int i = 1; i < threads; i++)
        pthread_join(t[i], 0);
    return total == 42;
}
"""
BODY = {
    "mutex": """
static void *body(void *arg)
{
    long me = (long)arg;
    for (int i = me; i < 64; i += threads) {
        double x = work(500);
        pthread_mutex_lock(&lock); // <<
        total += x + work(2000);
        pthread_mutex_unlock(&lock); // >>
    }
    return 0;
}
""",
    "barrier_late": """
static double late(void) // <<
{
    double x = 1;
    for (int k = 0; k < 60000; k++)
        x = x * 0.5 + 2.0;
    return x;
} // >>
static void *body(void *arg)
{
    long me = (long)arg;
    for (int i = me; i < 64; i += threads)
        sums[me] += work(2000);
    if (me == 0)
        total = late();
    pthread_barrier_wait(&barrier);
    for (int i = me; i < 64; i += threads)
        sums[me] += work(2000);
    return 0;
}
""",
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
    "condition": """
static int ready;
static double prepare(void) // <<
{
    double x = 1;
    for (int k = 0; k < 60000; k++)
        x = x * 0.5 + 2.0;
    return x;
} // >>
static void *body(void *arg)
{
    long me = (long)arg;
    if (me == 0) {
        total = prepare();
        pthread_mutex_lock(&lock);
        ready = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = me; i < 64; i += threads)
        sums[me] += work(2000);
    return 0;
}
""",
    "queue": """
static int next;
static int take(void)
{
    pthread_mutex_lock(&lock); // <<
    int i = next++;
    total += work(1500);
    pthread_mutex_unlock(&lock); // >>
    return i;
}
static void *body(void *arg)
{
    long me = (long)arg;
    while (take() < 64)
        sums[me] += work(1000);
    return 0;
}
""",
    "pipeline": """
static sem_t full[65];
static double slow(void) // <<
{
    double x = 1;
    for (int k = 0; k < 4000; k++)
        x = x * 0.5 + 2.0;
    return x;
} // >>
static void *body(void *arg)
{
    long me = (long)arg;
    for (int i = 0; i < 24; i++) {
        while (me > 0 && sem_wait(&full[me]) != 0)
            ;
        sums[me] += work(300);
        if (me == 1 || threads == 1)
            total += slow();
        sem_post(&full[me + 1]);
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
CPP = {
    "cpp_mutex": """
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex lock;
static double total;
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
int main(int argc, char **argv)
{
    int threads = argc > 1 ? std::atoi(argv[1]) : 4;
    std::vector<std::thread> all;
    for (int me = 0; me < threads; me++)
        all.emplace_back([=] {
            for (int i = me; i < 64; i += threads) {
                double x = work(500);
                std::lock_guard<std::mutex> guard(lock); // <<
                total += x + work(2000); // >>
            }
        });
    for (auto &one : all)
        one.join();
    return total == 42;
}
""",
    "cpp_serial": """
#include <cstdlib>
#include <thread>
#include <vector>
static double sums[64];
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
static double prepare(int n) // <<
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.5 + 2.0;
    return x;
} // >>
int main(int argc, char **argv)
{
    int threads = argc > 1 ? std::atoi(argv[1]) : 4;
    double total = prepare(100000);
    std::vector<std::thread> all;
    for (int me = 0; me < threads; me++)
        all.emplace_back([=] {
            for (int i = me; i < 64; i += threads)
                sums[me] += work(2000);
        });
    for (auto &one : all)
        one.join();
    return total == 42;
}
""",
}


def texts() -> dict[str, str]:
    """Return the programs by name."""
    made = {f"{name}.c": HEAD + body + TAIL for name, body in BODY.items()}
    made["creation.c"] = HEAD + SMALL + CREATION
    return made | {f"{name}.cpp": text for name, text in CPP.items()}

/* The primitives of the host's OpenMP library, as a program uses them. One thread measures their
 * instructions; two also measure the communication between processors. */
#include "bench.h"

#include <omp.h>

static omp_lock_t lock;
static uint64_t counter;
static int threads;

static void atomic(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--)
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
}

static void locked(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--) {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
}

static void region(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--) {
#pragma omp parallel num_threads(threads)
        __asm__ volatile("");
    }
}

static void barriers(uint64_t times, void *state)
{
    (void)state;
#pragma omp parallel num_threads(threads)
    for (uint64_t i = 0; i < times; i++) {
#pragma omp barrier
    }
}

static void chunks(uint64_t times, void *state)
{
    (void)state;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (uint64_t i = 0; i < times; i++)
        __asm__ volatile("");
}

static void tasks(uint64_t times, void *state)
{
    (void)state;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (uint64_t i = 0; i < times; i++) {
#pragma omp task
        __asm__ volatile("");
    }
}

/* Keeps each thread on its processor; later regions use the same team. */
static void pin_team(void)
{
#pragma omp parallel num_threads(2)
    bench_pin(omp_get_thread_num() == 0 ? bench.first : bench.second);
}

void bench_openmp(void)
{
    omp_set_dynamic(0);
    omp_init_lock(&lock);
    bench_cycles("atomic", atomic, NULL, 1);
    bench_cycles("lock_by_one", locked, NULL, 1);
    threads = 1;
    bench_cycles("region_by_one", region, NULL, 1);
    bench_cycles("barrier_by_one", barriers, NULL, 1);
    bench_cycles("chunk_by_one", chunks, NULL, 1);
    bench_cycles("task_by_one", tasks, NULL, 1);
    if (bench.second >= 0) {
        threads = 2;
        pin_team();
        bench_measure("region_by_two", region, NULL, 1);
        bench_measure("barrier_by_two", barriers, NULL, 1);
        bench_measure("chunk_by_two", chunks, NULL, 1);
    }
    omp_destroy_lock(&lock);
}

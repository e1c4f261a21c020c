/* The real computer's side of schedules: memory is memory, locks are locks, and time is the processor's
 * counter. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sgn.h"

void sgn_acquire(int64_t *lock)
{
    for (unsigned tries = 1; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0; tries++)
        while (__atomic_load_n(lock, __ATOMIC_RELAXED) != 0)
            if (tries++ % SGN_SPINS == 0)
                sched_yield();
}

void sgn_release(int64_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

uint64_t sgn_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static int64_t host_read(schedule_loop *loop, const int64_t *at)
{
    (void)loop;
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void host_write(schedule_loop *loop, int64_t *at, int64_t value)
{
    (void)loop;
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static int64_t host_add(schedule_loop *loop, int64_t *at, int64_t value)
{
    (void)loop;
    return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL);
}

static int64_t host_apply(schedule_loop *loop, int64_t *at, int64_t (*function)(int64_t, const void *),
                          const void *argument)
{
    (void)loop;
    int64_t before = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(at, &before, function(before, argument), true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    return before;
}

static void host_lock(schedule_loop *loop, int64_t *at)
{
    (void)loop;
    sgn_acquire(at);
}

static void host_unlock(schedule_loop *loop, int64_t *at)
{
    (void)loop;
    sgn_release(at);
}

static void host_work(schedule_loop *loop, uint64_t instructions)
{
    (void)loop, (void)instructions; /* they take real time here */
}

static uint64_t host_clock(schedule_loop *loop)
{
    (void)loop;
    return sgn_ticks();
}

const schedule_host sgn_host = {.read = host_read,
                                .write = host_write,
                                .add = host_add,
                                .apply = host_apply,
                                .lock = host_lock,
                                .unlock = host_unlock,
                                .work = host_work,
                                .clock = host_clock};

/* ---- what the simulator's sources need ---- */

void *sg_new(size_t size)
{
    size_t rounded = (size + 127) / 128 * 128;
    void *found = aligned_alloc(128, rounded > 0 ? rounded : 128);
    if (found == NULL)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the schedules of loops");
    __builtin_memset(found, 0, rounded);
    return found;
}

void sg_stop(enum sg_status status, const char *format, ...)
{
    va_list values;
    (void)status;
    fflush(NULL);
    fputs("scalegraph: ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    _exit(EXIT_FAILURE);
}

int sg_scan(const char *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int found = vsscanf(text, format, values);
    va_end(values);
    return found;
}

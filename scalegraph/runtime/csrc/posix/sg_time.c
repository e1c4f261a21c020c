/* Time as the program sees it: that of the simulated machine. Clocks start at 0 with the run. The date at the
 * start is always the same, so that two runs read the same values; it is not 0, because some programs use it
 * as a factor in a random seed. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#include "sg_arch.h"
#include "sg_posix.h"

static uint64_t now_ns(const void *site)
{
    if (sg == NULL)
        return 0; /* during a library's startup */
    double clock = (double)sg_clock_now(site), hz = sg->config.clock_hz;
    return (uint64_t)(clock / hz * 1e9);
}

/* A clock must advance for programs that read it in a loop. */
static void pass_time(uint64_t cycles, const void *site)
{
    sg_processor *p = sg_now;
    if (p->coroutine == NULL)
        return;
    sg_charge(p, SG_CATEGORY_BUSY_INT, cycles);
    if (p->clock > p->limit)
        sg_yield(p, site);
}

/* ---- clocks ---- */

static time_t origin_of(clockid_t id)
{
    return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI ? SG_DATE_S : 0;
}

int sg_clock_gettime(clockid_t id, struct timespec *time, const void *site)
{
    sg_observe_reads_clock(site);
    pass_time(1, site);
    uint64_t ns = now_ns(site);
    time->tv_sec = origin_of(id) + (time_t)(ns / 1000000000u);
    time->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

SG_API int clock_gettime(clockid_t id, struct timespec *time)
{
    return sg_clock_gettime(id, time, SG_CALLER);
}

SG_API int clock_getres(clockid_t id, struct timespec *time)
{
    (void)id;
    if (time != NULL)
        *time = (struct timespec){0, sg->config.clock_hz >= 1e9 ? 1 : (long)(1e9 / sg->config.clock_hz)};
    return 0;
}

SG_API int timespec_get(struct timespec *time, int base)
{
    return sg_clock_gettime(CLOCK_REALTIME, time, SG_CALLER) == 0 ? base : 0;
}

SG_API int gettimeofday(struct timeval *time, void *zone)
{
    (void)zone;
    sg_observe_reads_clock(SG_CALLER);
    pass_time(1, SG_CALLER);
    uint64_t us = now_ns(SG_CALLER) / 1000;
    *time = (struct timeval){SG_DATE_S + (time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    return 0;
}

SG_API time_t time(time_t *result)
{
    pass_time(1, SG_CALLER);
    time_t seconds = SG_DATE_S + (time_t)(now_ns(SG_CALLER) / 1000000000u);
    if (result != NULL)
        *result = seconds;
    return seconds;
}

SG_API clock_t clock(void)
{
    sg_observe_reads_clock(SG_CALLER);
    pass_time(1, SG_CALLER);
    return (clock_t)(now_ns(SG_CALLER) / (1000000000u / CLOCKS_PER_SEC));
}

SG_API clock_t times(struct tms *buffer)
{
    sg_observe_reads_clock(SG_CALLER);
    pass_time(1, SG_CALLER);
    clock_t ticks = (clock_t)(now_ns(SG_CALLER) / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK)));
    if (buffer != NULL)
        *buffer = (struct tms){.tms_utime = ticks};
    return ticks;
}

SG_API int getrusage(__rusage_who_t who, struct rusage *usage)
{
    pass_time(1, SG_CALLER);
    long error = sg_arch_syscall(SYS_getrusage, (int)who, (long)usage, 0, 0);
    if (error < 0) {
        errno = (int)-error;
        return -1;
    }
    uint64_t us = now_ns(SG_CALLER) / 1000;
    usage->ru_utime = (struct timeval){(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    usage->ru_stime = (struct timeval){0, 0};
    return 0;
}

/* ---- sleeping: the processor is free for other threads meanwhile ---- */

bool sg_sleep(uint64_t deadline, const void *site)
{
    if (!sg_enter(site))
        return true;
    sg_posix_test_cancel();
    if (deadline > sg_now->clock) {
        sg_self()->breaks = SG_BREAKS;
        sg_posix_wait(SG_CATEGORY_IDLE_WAIT, 0, -1, deadline);
        sg_self()->breaks = SG_GOES_ON;
    } else {
        sg_pass(site);
    }
    sg_posix_test_cancel();
    return !sg_take_broken(sg_self(), false);
}

/* Nanoseconds left until `deadline`. */
static uint64_t left_ns(uint64_t deadline)
{
    uint64_t now = sg_now->clock;
    return deadline > now ? (uint64_t)((double)(deadline - now) / sg->config.clock_hz * 1e9) : 0;
}

static int sleep_or_fail(const struct timespec *time, uint64_t deadline, struct timespec *left,
                         const void *site)
{
    if (time->tv_sec < 0 || !sg_is_time(time))
        return EINVAL;
    bool slept = sg_sleep(deadline, site);
    uint64_t ns = slept ? 0 : left_ns(deadline);
    if (left != NULL)
        *left = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return slept ? 0 : EINTR;
}

SG_API int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    int error = sleep_or_fail(wanted, sg_deadline_in(wanted), left, SG_CALLER);
    return error == 0 ? 0 : (errno = error, -1);
}

SG_API int clock_nanosleep(clockid_t id, int flags, const struct timespec *wanted, struct timespec *left)
{
    (void)id;
    bool absolute = (flags & TIMER_ABSTIME) != 0;
    uint64_t deadline = absolute ? sg_deadline(wanted) : sg_deadline_in(wanted);
    return sleep_or_fail(wanted, deadline, absolute ? NULL : left, SG_CALLER);
}

static uint64_t after_us(uint64_t us)
{
    struct timespec duration = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    return sg_deadline_in(&duration);
}

SG_API int usleep(useconds_t wanted)
{
    return sg_sleep(after_us(wanted), SG_CALLER) ? 0 : (errno = EINTR, -1);
}

SG_API unsigned sleep(unsigned wanted)
{
    uint64_t deadline = after_us(1000000ull * wanted);
    return sg_sleep(deadline, SG_CALLER) ? 0 : (unsigned)((left_ns(deadline) + 999999999) / 1000000000);
}

SG_API int sched_yield(void)
{
    if (!sg_enter(SG_CALLER))
        return 0;
    sg_charge(sg_now, SG_CATEGORY_BUSY_CONTROL, 1);
    sg_pass(SG_CALLER);
    return 0;
}

int sg_pthread_yield(void) __asm__("pthread_yield"); /* in newer headers, one is an alias of the other */
SG_API int sg_pthread_yield(void)
{
    return sched_yield();
}

/* Time, and the number of processors, as the program sees them: those of the simulated machine.
 * The clock of the day begins at the epoch's second 0, so that two runs read the same. */
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "sg_arch.h"
#include "sg_runtime.h"

static uint64_t now_ns(void)
{
    double clock = (double)sg_now->clock, hz = sg->config.clock_hz;
    return (uint64_t)(clock / hz * 1e9);
}

/* A clock that programs read in a loop must move. */
static void pass_time(uint64_t cycles, const void *site)
{
    sg_processor *p = sg_now;
    if (p->coroutine == NULL)
        return;
    sg_charge(p, SG_LEAF_BUSY_INT, cycles);
    if (p->clock > p->limit)
        sg_yield(p, site);
}

/* ---- clocks: the day of the simulation begins at the epoch's second 0 for every run ---- */

int __wrap_clock_gettime(clockid_t id, struct timespec *time);
SG_API int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    pass_time(1, SG_CALLER);
    uint64_t ns = now_ns();
    time->tv_sec = (time_t)(ns / 1000000000u);
    time->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

int __wrap_clock_getres(clockid_t id, struct timespec *time);
SG_API int __wrap_clock_getres(clockid_t id, struct timespec *time)
{
    (void)id;
    if (time != NULL)
        *time = (struct timespec){0, sg->config.clock_hz >= 1e9 ? 1 : (long)(1e9 / sg->config.clock_hz)};
    return 0;
}

int __wrap_timespec_get(struct timespec *time, int base);
SG_API int __wrap_timespec_get(struct timespec *time, int base)
{
    return __wrap_clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

int __wrap_gettimeofday(struct timeval *time, void *zone);
SG_API int __wrap_gettimeofday(struct timeval *time, void *zone)
{
    (void)zone;
    pass_time(1, SG_CALLER);
    uint64_t us = now_ns() / 1000;
    if (time != NULL)
        *time = (struct timeval){(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    return 0;
}

time_t __wrap_time(time_t *result);
SG_API time_t __wrap_time(time_t *result)
{
    pass_time(1, SG_CALLER);
    time_t seconds = (time_t)(now_ns() / 1000000000u);
    if (result != NULL)
        *result = seconds;
    return seconds;
}

clock_t __wrap_clock(void);
SG_API clock_t __wrap_clock(void)
{
    pass_time(1, SG_CALLER);
    return (clock_t)(now_ns() / (1000000000u / CLOCKS_PER_SEC));
}

clock_t __wrap_times(struct tms *buffer);
SG_API clock_t __wrap_times(struct tms *buffer)
{
    pass_time(1, SG_CALLER);
    clock_t ticks = (clock_t)(now_ns() / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK)));
    if (buffer != NULL)
        *buffer = (struct tms){.tms_utime = ticks};
    return ticks;
}

int __wrap_getrusage(int who, struct rusage *usage);
SG_API int __wrap_getrusage(int who, struct rusage *usage)
{
    pass_time(1, SG_CALLER);
    long error = sg_arch_syscall(SYS_getrusage, who, (long)usage, 0, 0);
    if (error < 0) {
        errno = (int)-error;
        return -1;
    }
    uint64_t us = now_ns() / 1000;
    usage->ru_utime = (struct timeval){(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    usage->ru_stime = (struct timeval){0, 0};
    return 0;
}

/* ---- sleeping: the processor is idle for a simulated time ---- */

static void sleep_for(double seconds, const void *site)
{
    sg_processor *p = sg_now;
    p->site = site;
    sg_charge_site(p, SG_LEAF_IDLE_ORDER, (uint64_t)(seconds * sg->config.clock_hz) + 1);
    sg_yield(p, site);
}

int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left);
SG_API int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    sleep_for((double)wanted->tv_sec + (double)wanted->tv_nsec * 1e-9, SG_CALLER);
    return 0;
}

int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *wanted, struct timespec *left);
SG_API int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *wanted,
                                  struct timespec *left)
{
    (void)id, (void)left;
    double seconds = (double)wanted->tv_sec + (double)wanted->tv_nsec * 1e-9;
    if (flags & TIMER_ABSTIME)
        seconds -= (double)now_ns() * 1e-9;
    sleep_for(seconds > 0 ? seconds : 0, SG_CALLER);
    return 0;
}

int __wrap_usleep(useconds_t wanted);
SG_API int __wrap_usleep(useconds_t wanted)
{
    sleep_for((double)wanted * 1e-6, SG_CALLER);
    return 0;
}

unsigned __wrap_sleep(unsigned wanted);
SG_API unsigned __wrap_sleep(unsigned wanted)
{
    sleep_for((double)wanted, SG_CALLER);
    return 0;
}

int __wrap_sched_yield(void);
SG_API int __wrap_sched_yield(void)
{
    sg_processor *p = sg_now;
    sg_charge(p, SG_LEAF_BUSY_CONTROL, 1);
    sg_yield(p, SG_CALLER);
    return 0;
}

int __wrap_pthread_yield(void);
SG_API int __wrap_pthread_yield(void)
{
    return __wrap_sched_yield();
}

/* ---- processors ---- */

long real_sysconf(int name) __asm__("__real_sysconf");
long __wrap_sysconf(int name);
SG_API long __wrap_sysconf(int name)
{
    if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN)
        return sg->processors;
    return real_sysconf(name);
}

int __wrap_get_nprocs(void);
SG_API int __wrap_get_nprocs(void)
{
    return (int)sg->processors;
}

int __wrap_get_nprocs_conf(void);
SG_API int __wrap_get_nprocs_conf(void)
{
    return (int)sg->processors;
}

int __wrap_sched_getcpu(void);
SG_API int __wrap_sched_getcpu(void)
{
    return (int)sg_now->id;
}

int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *set);
SG_API int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    memset(set, 0, size);
    for (uint32_t i = 0; i < sg->processors && i / 8 < size; i++)
        ((unsigned char *)set)[i / 8] |= (unsigned char)(1u << i % 8);
    return 0;
}

int __wrap_sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set);
SG_API int __wrap_sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set)
{
    (void)process, (void)size, (void)set; /* a simulated processor is where it is */
    return 0;
}

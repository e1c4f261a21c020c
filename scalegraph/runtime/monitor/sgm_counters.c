/* Counters of each thread: hardware counters where the kernel allows them, and the kernel's own. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sgm.h"

static const uint64_t kinds[4] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                  PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_STALLED_CYCLES_BACKEND};
static const char *refusal = "not opened";
uint64_t sgm_meter_every = UINT64_MAX;

static long open_migrations(void)
{
    struct perf_event_attr wanted = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof wanted, .config = PERF_COUNT_SW_CPU_MIGRATIONS};
    return syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void sgm_count_hardware(sgm_thread *t)
{
    t->migrations_file = sgm_meter_every != UINT64_MAX ? (int)open_migrations() : -1;
    for (int one = 0; one < 4; one++) {
        struct perf_event_attr wanted = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof wanted,
                                         .config = kinds[one],
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1,
                                         .read_format =
                                             PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
        long file = syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        t->hardware_files[one] = (int)file;
        if (one == 0)
            refusal = file >= 0         ? NULL
                      : errno == EACCES ? "the kernel does not allow it (kernel.perf_event_paranoid)"
                      : errno == EPERM  ? "the kernel does not allow it (kernel.perf_event_paranoid)"
                      : errno == ENOSYS ? "the kernel has no performance counters"
                                        : "this processor, or the virtual machine, has no counters";
    }
}

/* Adds up the counts; a counter that was multiplexed ran for only part of the time. */
void sgm_read_hardware(sgm_thread *t)
{
    for (int one = 0; one < 4; one++) {
        uint64_t found[3];
        int file = t->hardware_files[one];
        if (file < 0)
            continue;
        if (read(file, found, sizeof found) == (ssize_t)sizeof found && found[2] > 0)
            t->hardware[one] = (uint64_t)((double)found[0] * ((double)found[1] / (double)found[2]));
        close(file);
        t->hardware_files[one] = -1;
    }
}

/* ---- over time, for a trace ---- */

/* Reads the calling thread's counts into `found`; returns a bit set of the available metrics. */
static uint32_t read_all(const sgm_thread *t, uint64_t found[SG_METRIC_COUNT])
{
    struct rusage used;
    struct timespec ran;
    uint64_t one[3];
    uint32_t known = 0;
    for (uint32_t at = 0; at < 4; at++) {
        int file = t->hardware_files[at];
        if (file < 0 || read(file, one, sizeof one) != (ssize_t)sizeof one || one[2] == 0)
            continue;
        found[SG_METRIC_HW_CYCLES + at] = (uint64_t)((double)one[0] * ((double)one[1] / (double)one[2]));
        known |= 1u << (SG_METRIC_HW_CYCLES + at);
    }
    if (t->migrations_file >= 0 && read(t->migrations_file, one, sizeof *one) == (ssize_t)sizeof *one) {
        found[SG_METRIC_MIGRATIONS] = *one;
        known |= 1u << SG_METRIC_MIGRATIONS;
    }
    if (getrusage(RUSAGE_THREAD, &used) == 0) {
        found[SG_METRIC_PAGE_FAULTS] = (uint64_t)used.ru_minflt + (uint64_t)used.ru_majflt;
        found[SG_METRIC_CONTEXT_SWITCHES] = (uint64_t)used.ru_nvcsw + (uint64_t)used.ru_nivcsw;
        known |= 1u << SG_METRIC_PAGE_FAULTS | 1u << SG_METRIC_CONTEXT_SWITCHES;
    }
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) == 0) {
        found[SG_METRIC_CPU_TIME] = (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
        known |= 1u << SG_METRIC_CPU_TIME;
    }
    return known;
}

void sgm_begin_meter(sgm_thread *t)
{
    if (sgm_meter_every != UINT64_MAX)
        read_all(t, t->metered);
}

void sgm_meter(sgm_thread *t)
{
    uint64_t found[SG_METRIC_COUNT];
    uint32_t known = read_all(t, found);
    t->metered_at = t->last;
    for (uint32_t metric = 0; metric < SG_METRIC_COUNT; metric++) {
        if ((known >> metric & 1) == 0)
            continue;
        uint64_t before = t->metered[metric];
        sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_COUNTED,
                                           .what = (uint8_t)metric,
                                           .time = t->last,
                                           .first = found[metric] > before ? found[metric] - before : 0});
        t->metered[metric] = found[metric];
    }
}

const char *sgm_hardware_refusal(void)
{
    return refusal;
}

/* Hardware counters of each thread, where the kernel allows them. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sgm.h"

static const uint64_t kinds[4] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                  PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_STALLED_CYCLES_BACKEND};
static const char *refusal = "not opened";

void sgm_count_hardware(sgm_thread *t)
{
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

/* Adds up what was counted; a counter that shared its place with others was running for a part of the time
 * only. */
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

const char *sgm_hardware_refusal(void)
{
    return refusal;
}

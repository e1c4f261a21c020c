/* Which limit of the user or the host was reached. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include "sg_arch.h"
#include "sg_own.h"

/* The soft limit, or 0 for none. */
static uint64_t limit_of(int resource)
{
    struct rlimit limit;
    long error = sg_arch_syscall(SYS_prlimit64, 0, resource, 0, (long)&limit);
    return error != 0 || limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur;
}

/* The first number in a file, or 0. */
static uint64_t number_in(const char *path)
{
    char text[32] = "";
    long file = sg_arch_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return 0;
    sg_arch_syscall(SYS_read, file, (long)text, sizeof text - 1, 0);
    sg_arch_syscall(SYS_close, file, 0, 0, 0);
    return strtoull(text, NULL, 10);
}

/* The value of `name` in /proc/meminfo, converted from KiB to bytes. */
static uint64_t bytes_of(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line == NULL ? 0 : strtoull(line + strlen(name), NULL, 10) << 10;
}

uint64_t sg_host_free_bytes(void)
{
    char text[2048] = "";
    long file = sg_arch_syscall(SYS_openat, AT_FDCWD, (long)"/proc/meminfo", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return UINT64_MAX;
    sg_arch_syscall(SYS_read, file, (long)text, sizeof text - 1, 0);
    sg_arch_syscall(SYS_close, file, 0, 0, 0);
    uint64_t available = bytes_of(text, "MemAvailable:"), most = number_in("/sys/fs/cgroup/memory.max");
    if (available == 0)
        return UINT64_MAX;
    available += bytes_of(text, "SwapFree:");
    return most != 0 && most < available ? most : available;
}

const char *sg_host_limit(bool of_threads)
{
    static char text[256] = "";
    uint64_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA), threads = limit_of(RLIMIT_NPROC);
    uint64_t all = number_in("/proc/sys/kernel/threads-max"), numbers = number_in("/proc/sys/kernel/pid_max");
    if (of_threads && threads != 0)
        snprintf(text, sizeof text,
                 "; your limit of processes and threads (ulimit -u) is %llu: raise it, or use fewer threads",
                 (unsigned long long)threads);
    else if (of_threads)
        snprintf(text, sizeof text,
                 "; the host allows %llu threads and %llu numbers of processes (kernel.threads-max, "
                 "kernel.pid_max; a container may have fewer): raise that, or use fewer threads",
                 (unsigned long long)all, (unsigned long long)numbers);
    else if (space != 0 || data != 0)
        snprintf(text, sizeof text, "; your limit of %s is %llu MB: a simulated run needs more, so lift it",
                 space != 0 ? "address space (ulimit -v)" : "data (ulimit -d)",
                 (unsigned long long)((space != 0 ? space : data) >> 20));
    else
        snprintf(
            text, sizeof text,
            "; the host allows %llu maps of memory to a process (vm.max_map_count): raise that, or use fewer "
            "threads",
            (unsigned long long)number_in("/proc/sys/vm/max_map_count"));
    return text;
}

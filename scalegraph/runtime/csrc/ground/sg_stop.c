/* How a run is stopped, and the runtime's messages to the user. */
#include "sg_stop.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "sg_arch.h"
#include "sg_state.h"

uint64_t sg_host_ns(void)
{
    struct timespec now;
    sg_arch_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sg_say(const char *message)
{
    char line[1200];
    int size = snprintf(line, sizeof line, "scalegraph: %s\n", message);
    if (size > (int)sizeof line - 1)
        size = sizeof line - 1;
    sg_arch_syscall(SYS_write, 2, (long)line, size, 0);
}

void sg_warn(const char *remark)
{
    size_t used = strlen(sg->warnings), more = strlen(remark);
    if (strstr(sg->warnings, remark) != NULL || used + more + 3 > sizeof sg->warnings)
        return;
    if (used > 0)
        memcpy(sg->warnings + used, "; ", 3), used += 2;
    memcpy(sg->warnings + used, remark, more + 1);
}

/* Writes what the program left in its standard output buffer, if nobody is inside it. */
static void flush_output(void)
{
    if (_IO_ftrylockfile(stdout) == 0) {
        fflush(stdout);
        _IO_funlockfile(stdout);
    }
}

void sg_stop(enum sg_status status, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (sg != NULL && !sg->finished) {
        sg->finished = true;
        sg->exit_code = SG_EXIT_STATUS;
        sg->report(status, message, 0);
        flush_output();
    }
    sg_say(message);
    for (;;)
        sg_arch_syscall(SYS_exit_group, SG_EXIT_STATUS, 0, 0, 0);
}

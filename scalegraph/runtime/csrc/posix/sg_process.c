/* Calls that create or reach other processes. A simulated program is one process: a call that creates another
 * one ends the run with a message, and signals to others are not sent. A program outside a simulation, such
 * as a tool run by the build, creates processes as usual. */
#include <errno.h>
#include <stdio.h>

#include "sg_arch.h"
#include "sg_signal.h"

void sg_process_call(const char *name, const void *caller);
void sg_process_call(const char *name, const void *caller)
{
    if (sg->alone)
        return;
    sg_now->site = caller;
    sg_stop(SG_STATUS_UNSUPPORTED,
            "the program called %s at 0x%llx, which the simulator does not support: "
            "a simulated program is one process",
            name, (unsigned long long)(uintptr_t)caller);
}

/* Their arguments differ and may be many, so they are passed on unchanged. */
SG_ARCH_FORWARD(fork, sg_process_call)
SG_ARCH_FORWARD(vfork, sg_process_call)
SG_ARCH_FORWARD(execl, sg_process_call)
SG_ARCH_FORWARD(execle, sg_process_call)
SG_ARCH_FORWARD(execlp, sg_process_call)
SG_ARCH_FORWARD(execv, sg_process_call)
SG_ARCH_FORWARD(execve, sg_process_call)
SG_ARCH_FORWARD(execvp, sg_process_call)
SG_ARCH_FORWARD(execvpe, sg_process_call)
SG_ARCH_FORWARD(system, sg_process_call)
SG_ARCH_FORWARD(popen, sg_process_call)
SG_ARCH_FORWARD(posix_spawn, sg_process_call)
SG_ARCH_FORWARD(posix_spawnp, sg_process_call)

/* ---- signals: the process may signal itself ---- */

static bool is_itself(long process)
{
    return process == getpid() || process == 0 || process == -getpgrp(); /* a run is its own process group */
}

long sg_signal_call(long process, long number)
{
    if (sg->alone || number == 0)
        return sg_arch_syscall(SYS_kill, process, number, 0, 0);
    if (number < 0 || number > SIGRTMAX)
        return -EINVAL;
    if (is_itself(process)) {
        if (sg_now->coroutine != NULL)
            sg_signal_process((int)number, SI_USER, (union sigval){0});
        else
            sg_fault_raise((int)number);
        return 0;
    }
    char remark[200];
    snprintf(remark, sizeof remark,
             "the program sends signal %ld (%s) to %s at 0x%llx: it was not sent, a simulated program is one "
             "process",
             number, strsignal((int)number), process == getppid() ? "its parent process" : "other processes",
             (unsigned long long)(uintptr_t)sg_now->site);
    sg_warn(remark);
    return 0;
}

static int sent(long process, int number, const void *site)
{
    sg_now->site = site;
    long error = sg_signal_call(process, number);
    if (error == 0)
        return 0;
    errno = (int)-error;
    return -1;
}

/* Weak: a program may define functions with these names. */
#define API __attribute__((visibility("default"), used, weak))

API int kill(pid_t process, int number)
{
    return sent(process, number, SG_CALLER);
}

API int killpg(pid_t group, int number)
{
    return sent(group == 0 ? 0 : -(long)group, number, SG_CALLER);
}

API int sigqueue(pid_t process, int number, union sigval value)
{
    if (!sg->alone && number > 0 && number <= SIGRTMAX && is_itself(process) && sg_enter(SG_CALLER)) {
        sg_signal_process(number, SI_QUEUE, value);
        return 0;
    }
    return sent(process, number, SG_CALLER);
}

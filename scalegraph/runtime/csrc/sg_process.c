/* Calls that make other processes. A simulated program is one process and such a call ends the run with a
 * sentence; a program that runs by itself, as a build's own tools do, makes them as it always did. */
#include "sg_arch.h"
#include "sg_runtime.h"

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

/* Their arguments differ and may be many, so they are passed on as they came. */
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

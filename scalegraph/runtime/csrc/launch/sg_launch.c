/* Starts a program so that it dies with its parent, leaves no core file and has a fixed address layout:
 *     sg-launch PARENT-PID PROGRAM ARGV0 [ARG ...]
 * This is a separate program because only the child can request these, and a threaded parent must not run
 * its own code between fork and exec. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int count, char **argument)
{
    if (count < 4) {
        fprintf(stderr, "sg-launch: usage: sg-launch PARENT-PID PROGRAM ARGV0 [ARG ...]\n");
        return 127;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)strtol(argument[1], NULL, 10))
        return 127; /* the parent died before prctl took effect */
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    FILE *victim = fopen("/proc/self/oom_score_adj", "w"); /* OOM: kill this run, not the window */
    if (victim != NULL) {
        fputs("1000", victim);
        fclose(victim);
    }
    int now = personality(0xffffffff);
    if (now != -1)
        personality((unsigned long)now | ADDR_NO_RANDOMIZE); /* if this is forbidden, the runtime copes */
    execv(argument[2], argument + 3);
    fprintf(stderr, "%s: cannot be started: %s\n", argument[2], strerror(errno));
    return 127;
}

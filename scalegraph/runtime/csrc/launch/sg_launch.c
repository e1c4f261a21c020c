/* Starts a program so that it ends with its parent, leaves no core file and is at fixed addresses:
 *     sg-launch PARENT-PID PROGRAM ARGV0 [ARG ...]
 * A program of its own, because only the child can request these, and a threaded parent must not run
 * code of its own between fork and exec. */
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
        return 127; /* the parent died before we could ask */
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    FILE *victim = fopen("/proc/self/oom_score_adj", "w"); /* rather this run than the user's window */
    if (victim != NULL) {
        fputs("1000", victim);
        fclose(victim);
    }
    int now = personality(0xffffffff);
    if (now != -1)
        personality((unsigned long)now | ADDR_NO_RANDOMIZE); /* where it is forbidden, the runtime copes */
    execv(argument[2], argument + 3);
    fprintf(stderr, "%s: cannot be started: %s\n", argument[2], strerror(errno));
    return 127;
}

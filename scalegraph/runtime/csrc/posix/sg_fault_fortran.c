/* The Fortran runtime catches fatal signals to print addresses; in a run, we report source locations
 * instead. */
#include <signal.h>

#include "sg_runtime.h"

extern void real_set_options(int count, int *options) __asm__("__real__gfortran_set_options");
void __wrap__gfortran_set_options(int count, int *options);

SG_API void __wrap__gfortran_set_options(int count, int *options)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    enum { FATAL = sizeof fatal / sizeof fatal[0] };
    struct sigaction ours[FATAL];
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], NULL, &ours[i]);
    real_set_options(count, options);
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &ours[i], NULL);
}

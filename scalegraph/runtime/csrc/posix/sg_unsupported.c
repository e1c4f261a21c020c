/* Unsupported features end the run at once with a message: it must neither hang nor run wrongly. */
#include "sg_posix.h"

#define REFUSE(name, why)                                                                                    \
    long __wrap_##name(void);                                                                                \
    SG_API long __wrap_##name(void)                                                                          \
    {                                                                                                        \
        sg_now->site = SG_CALLER;                                                                            \
        sg_stop(SG_STATUS_UNSUPPORTED,                                                                       \
                "the program called " #name " at 0x%llx, which the simulator does not support: " why,        \
                (unsigned long long)(uintptr_t)SG_CALLER);                                                   \
    }

#define THREADS "threads come from pthreads, C11, C++ or OpenMP"
#define TIMERS  "a timer of the host would disturb simulated time"

REFUSE(clone, THREADS)
REFUSE(timer_create, TIMERS)
REFUSE(setitimer, TIMERS)

/* ---- what is refused only where it would matter ---- */

unsigned __wrap_alarm(unsigned seconds);
SG_API unsigned __wrap_alarm(unsigned seconds)
{
    sg_now->site = SG_CALLER;
    if (seconds != 0)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the program called alarm at 0x%llx, which the simulator does not support: " TIMERS,
                (unsigned long long)(uintptr_t)SG_CALLER);
    return 0;
}

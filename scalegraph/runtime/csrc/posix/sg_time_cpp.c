/* C++ clocks. The C++ library reads the system's clock for the program, so the call is intercepted here. In
 * its own file because only C++ programs link it. A time_point is one 64-bit number. */
#include "sg_runtime.h"

#define CLOCK(name)                                                                                          \
    extern int64_t real_##name(void) __asm__("__real__ZNSt6chrono3_V212" #name "3nowEv");                    \
    int64_t sg_##name(void) __asm__("__wrap__ZNSt6chrono3_V212" #name "3nowEv");                             \
    SG_API int64_t sg_##name(void)                                                                           \
    {                                                                                                        \
        sg_observe_reads_clock(SG_CALLER);                                                                   \
        return real_##name();                                                                                \
    }

CLOCK(steady_clock)
CLOCK(system_clock)

/* Fortran clocks, likewise; all arguments are passed by address. */
#include "sg_runtime.h"

#define CLOCK(name)                                                                                          \
    extern void real_##name(void *count, void *rate, void *most) __asm__("__real_" #name);                   \
    void __wrap_##name(void *count, void *rate, void *most);                                                 \
    SG_API void __wrap_##name(void *count, void *rate, void *most)                                           \
    {                                                                                                        \
        sg_observe_reads_clock(SG_CALLER);                                                                   \
        real_##name(count, rate, most);                                                                      \
    }

CLOCK(_gfortran_system_clock_4)
CLOCK(_gfortran_system_clock_8)
CLOCK(_gfortran_cpu_time_4)
CLOCK(_gfortran_cpu_time_8)

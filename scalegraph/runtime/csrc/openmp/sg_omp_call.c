/* Calls of the program's outlined functions. */
#include "sg_omp.h"

/* The size of the runtime's frames on a stack depends on its code and compiler. If it shifted the program's
 * frames, the cache lines and sets of the program's local variables would change, and with them the simulated
 * time. So the program's frames begin at a multiple of this distance. */
enum { DISTANCE = 512 };

__attribute__((noinline)) void sg_call_program(void (*function)(void *), void *data)
{
    uintptr_t here = (uintptr_t)__builtin_alloca(16);
    char *pad = __builtin_alloca(here % DISTANCE + 16);
    __asm__ volatile("" : : "r"(pad) : "memory");
    function(data);
    __asm__ volatile("" : : "r"(pad) : "memory"); /* prevents a tail call: the pad must stay */
}

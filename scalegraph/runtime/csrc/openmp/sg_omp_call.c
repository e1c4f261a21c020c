/* Calls of the program's outlined functions. */
#include "sg_omp.h"

/* How long the runtime's frames on a stack are changes with its code and its compiler. If the program's
 * frames moved with them, so would the lines and sets of caches that its local variables are in, and with
 * them every cycle. So its frames begin at a multiple of this distance. */
enum { DISTANCE = 512 };

__attribute__((noinline)) void sg_call_program(void (*function)(void *), void *data)
{
    uintptr_t here = (uintptr_t)__builtin_alloca(16);
    char *pad = __builtin_alloca(here % DISTANCE + 16);
    __asm__ volatile("" : : "r"(pad) : "memory");
    function(data);
    __asm__ volatile("" : : "r"(pad) : "memory"); /* no tail call: the pad must stay */
}

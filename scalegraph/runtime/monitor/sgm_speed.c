/* Current speed of the processor: a chain of dependent additions, each one cycle. Register to register: some
 * processors eliminate additions of constants from the chain. */
#include "sgm.h"

enum { ADDITIONS = 100, ROUNDS = 200, SERIES = 7 };

static uint64_t chain(uint64_t value)
{
    for (int round = 0; round < ROUNDS; round++)
#ifdef __x86_64__
        __asm__ volatile(".rept 100\n\tadd %1, %0\n\t.endr" : "+r"(value) : "r"(value));
#else
        __asm__ volatile(".rept 100\n\tadd %0, %0, %1\n\t.endr" : "+r"(value) : "r"(value));
#endif
    return value;
}

/* Processor cycles per tick of the time stamp: the maximum of several series. */
double sgm_cycles_per_tick(void)
{
    uint64_t least = UINT64_MAX;
    for (int series = 0; series < SERIES; series++) {
        uint64_t begin = sgm_ticks();
        chain(begin);
        uint64_t taken = sgm_ticks() - begin;
        least = taken < least ? taken : least;
    }
    return least > 0 ? (double)ADDITIONS * ROUNDS / (double)least : 0.0;
}

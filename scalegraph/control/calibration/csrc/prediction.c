/* Branch prediction: the cost of a misprediction, the longest random pattern that is still remembered when it
 * repeats, and across how many taken jumps the correlation of two branches is detected. */
#include "bench.h"

#include <stdio.h>

#define PATTERN (1u << 17) /* longer than a predictor remembers */

static uint8_t never[PATTERN], random_ways[PATTERN];

typedef struct pattern {
    const uint8_t *taken;
    uint32_t mask, at;
} pattern;

#define TEXT(x)  #x
#define COUNT(n) TEXT(n)
#if defined(__x86_64__)
#define JUMP "jmp 1f\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n1:\n\t"
#else
#define JUMP "b 1f\n\tnop\n\tnop\n\tnop\n1:\n\t"
#endif

#if defined(__x86_64__)
#define NOPS(bytes) ".rept " COUNT(bytes) "\n\tnop\n\t.endr"
#else
#define NOPS(bytes) ".rept " COUNT(bytes) "/4\n\tnop\n\t.endr"
#endif

/* A branch that follows a pattern, in the same loop for all patterns. Its cost depends on where its code lies
 * in the fetched lines: hence four copies. */
#define FOLLOW(place)                                                                                        \
    static NOINLINE __attribute__((aligned(64))) uint64_t follow_##place(uint64_t times, const pattern *p)   \
    {                                                                                                        \
        const uint8_t *taken = p->taken;                                                                     \
        uint32_t mask = p->mask, at = p->at;                                                                 \
        uint64_t ways = 0;                                                                                   \
        __asm__ volatile(NOPS(place));                                                                       \
        for (; times > 0; times--) {                                                                         \
            uint64_t step = taken[at & mask];                                                                \
            at++;                                                                                            \
            __asm__ volatile("" : "+r"(step));                                                               \
            if (step) {                                                                                      \
                __asm__ volatile("nop");                                                                     \
                ways++;                                                                                      \
            }                                                                                                \
        }                                                                                                    \
        return ways;                                                                                         \
    }

FOLLOW(4)
FOLLOW(20)
FOLLOW(36)
FOLLOW(52)

static void follow(uint64_t times, void *state)
{
    static uint64_t (*const place[])(uint64_t, const pattern *) = {follow_4, follow_20, follow_36, follow_52};
    pattern *p = state;
    uint64_t ways = 0, part = times / 4;
    for (int i = 0; i < 4; i++) {
        uint64_t most = i < 3 ? part : times - 3 * part;
        ways += place[i](most, p);
        p->at += (uint32_t)most;
    }
    __asm__ volatile("" ::"r"(ways));
}

/* Two branches that go the same way, with taken jumps between them. */
#define AGREE(number)                                                                                        \
    static NOINLINE void agree_##number(uint64_t times, void *state)                                         \
    {                                                                                                        \
        pattern *p = state;                                                                                  \
        uint32_t at = p->at;                                                                                 \
        for (; times > 0; times--) {                                                                         \
            uint64_t step = p->taken[at & p->mask];                                                          \
            at++;                                                                                            \
            __asm__ volatile("" : "+r"(step));                                                               \
            if (step)                                                                                        \
                __asm__ volatile("nop");                                                                     \
            __asm__ volatile(".rept " COUNT(number) "\n\t" JUMP ".endr" : "+r"(step));                       \
            if (step)                                                                                        \
                __asm__ volatile("nop\n\tnop");                                                              \
        }                                                                                                    \
        p->at = at;                                                                                          \
    }

#define DISTANCES(x) x(16) x(32) x(64) x(128) x(256)

DISTANCES(AGREE)

#define MEASURE(number)                                                                                      \
    bench_cycles("agree_never_" #number, agree_##number, &straight, 1);                                      \
    bench_cycles("agree_random_" #number, agree_##number, &whole, 1);

void bench_prediction(void)
{
    char name[64];
    uint64_t seed = 88172645463325252u;
    for (uint32_t i = 0; i < PATTERN; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        random_ways[i] = seed >> 33 & 1;
    }
    pattern straight = {never, PATTERN - 1, 0}, whole = {random_ways, PATTERN - 1, 0};
    bench_cycles("branch_never", follow, &straight, 1);
    bench_cycles("branch_random", follow, &whole, 1);
    for (uint32_t period = 64; period < PATTERN; period *= 2) {
        pattern again = {random_ways, period - 1, 0};
        follow(16 * (uint64_t)period, &again); /* learns it */
        snprintf(name, sizeof name, "branch_period_%u", period);
        bench_cycles(name, follow, &again, 1);
    }
    DISTANCES(MEASURE)
}

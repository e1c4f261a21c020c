/* How far a processor looks ahead: two loads that miss all caches, with instructions between them. As long as
 * both fit in the reorder buffer their misses overlap; beyond that the second waits for the first.
 * Instructions that need the first load's value wait in the scheduler, whose size shows in the same way. */
#include "bench.h"

#include <stdio.h>

typedef struct link {
    struct link *next;
    char rest[LINE - sizeof(struct link *)];
} link;

#define TEXT(x)  #x
#define COUNT(n) TEXT(n)

/* Four instructions that need nothing from the load, or need its value. Half of them write integer registers
 * and half vector registers, and none the flags: each of these has its own register file, smaller than the
 * reorder buffer (Zen 3: 192, 160 and 122 entries versus 256), which would be measured instead. */
#if defined(__x86_64__)
#define FREE_FOUR                                                                                            \
    "lea 1(%%r8), %%r8\n\tpaddq %%xmm12, %%xmm8\n\tlea 1(%%r9), %%r9\n\tpaddq %%xmm12, %%xmm9\n\t"
#define WAITING_FOUR "lea (%0, %%r8), %%r8\n\tmovq %0, %%xmm8\n\tlea (%0, %%r9), %%r9\n\tmovq %0, %%xmm9\n\t"
#define LOAD(at)     "mov (" at "), " at "\n\t"
#define USED         "r8", "r9", "xmm8", "xmm9"
#else
#define FREE_FOUR                                                                                            \
    "add x9, x9, #1\n\tadd v9.2d, v9.2d, v12.2d\n\tadd x10, x10, #1\n\tadd v10.2d, v10.2d, v12.2d\n\t"
#define WAITING_FOUR "orr x9, x9, %0\n\tfmov d9, %0\n\torr x10, x10, %0\n\tfmov d10, %0\n\t"
#define LOAD(at)     "ldr " at ", [" at "]\n\t"
#define USED         "x9", "x10", "v9", "v10"
#endif

#define AHEAD(kind, four, number)                                                                            \
    static NOINLINE void kind##_##number(uint64_t times, void *state)                                        \
    {                                                                                                        \
        link **at = state;                                                                                   \
        link *one = at[0], *two = at[1];                                                                     \
        for (; times > 0; times--)                                                                           \
            __asm__ volatile(LOAD("%0") ".rept " COUNT(number) " / 4\n\t" four ".endr\n\t" LOAD(             \
                                 "%1") ".rept " COUNT(number) " / 4\n\t" FREE_FOUR ".endr"                   \
                             : "+r"(one), "+r"(two)::USED);                                                  \
        at[0] = one;                                                                                         \
        at[1] = two;                                                                                         \
    }

#define SIZES(x, kind, four)                                                                                 \
    x(kind, four, 16) x(kind, four, 32) x(kind, four, 48) x(kind, four, 64) x(kind, four, 80)                \
        x(kind, four, 96) x(kind, four, 112) x(kind, four, 128) x(kind, four, 160) x(kind, four, 192)        \
            x(kind, four, 224) x(kind, four, 256) x(kind, four, 320) x(kind, four, 384) x(kind, four, 448)   \
                x(kind, four, 512) x(kind, four, 576) x(kind, four, 640) x(kind, four, 768)                  \
                    x(kind, four, 1024)

SIZES(AHEAD, window, FREE_FOUR)
SIZES(AHEAD, scheduler, WAITING_FOUR)

#define MEASURE(kind, four, number) bench_measure(#kind "_" #number, kind##_##number, at, 1);

/* Links the lines of `memory`, a power of two, into one cycle in an order that no prefetcher can follow: a
 * full-period linear congruential generator. */
static void thread_lines(link *memory, size_t lines)
{
    for (size_t i = 0, at = 0; i < lines; i++) {
        size_t next = (at * 1664525u + 1013904223u) & (lines - 1);
        memory[at].next = &memory[next];
        at = next;
    }
}

void bench_window(void)
{
    size_t lines = 1;
    while (2 * lines * sizeof(link) <= bench.large)
        lines *= 2;
    link *memory = bench_map(lines * sizeof(link), 1);
    thread_lines(memory, lines);
    link *at[2] = {&memory[0], &memory[lines / 2]};
    SIZES(MEASURE, window, FREE_FOUR)
    SIZES(MEASURE, scheduler, WAITING_FOUR)
}

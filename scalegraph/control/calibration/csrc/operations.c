/* Operations: each class once with eight independent operations, for the throughput, and once in a dependent
 * chain, for the latency. */
#include "bench.h"

#define KEEP(a)       __asm__ volatile("" : "+r"(a))
#define KEEP_FLOAT(a) __asm__ volatile("" : FLOAT_REGISTER(a))

#define EIGHT(step) step(a0) step(a1) step(a2) step(a3) step(a4) step(a5) step(a6) step(a7)
#define CHAIN(step) step(a0) step(a0) step(a0) step(a0) step(a0) step(a0) step(a0) step(a0)
#define UNROLLED    32 /* operations per loop round */

/* Defines name_free and name_chain; `start` and `c` are unknown to the compiler. */
#define LOOPS(name, type, step, attribute)                                                                   \
    attribute static NOINLINE void name##_free(uint64_t times, void *state)                                  \
    {                                                                                                        \
        const type start = ((const type *)state)[0], c = ((const type *)state)[1];                           \
        type a0 = start, a1 = start, a2 = start, a3 = start, a4 = start, a5 = start, a6 = start, a7 = start; \
        for (; times > 0; times--) {                                                                         \
            EIGHT(step) EIGHT(step) EIGHT(step) EIGHT(step)                                                  \
        }                                                                                                    \
        (void)c;                                                                                             \
    }                                                                                                        \
    attribute static NOINLINE void name##_chain(uint64_t times, void *state)                                 \
    {                                                                                                        \
        const type start = ((const type *)state)[0], c = ((const type *)state)[1];                           \
        type a0 = start;                                                                                     \
        for (; times > 0; times--) {                                                                         \
            CHAIN(step) CHAIN(step) CHAIN(step) CHAIN(step)                                                  \
        }                                                                                                    \
        (void)c;                                                                                             \
    }

#define NOTHING
#define ADD_STEP(a)                                                                                          \
    a += c;                                                                                                  \
    KEEP(a);
#define MUL_STEP(a)                                                                                          \
    a *= c;                                                                                                  \
    KEEP(a);
#define DIV_STEP(a)                                                                                          \
    a = c / a;                                                                                               \
    KEEP(a);
#define FP_ADD_STEP(a)                                                                                       \
    a += c;                                                                                                  \
    KEEP_FLOAT(a);
#define FP_MUL_STEP(a)                                                                                       \
    a *= c;                                                                                                  \
    KEEP_FLOAT(a);
#define FP_FMA_STEP(a)                                                                                       \
    a = __builtin_fma(a, c, c);                                                                              \
    KEEP_FLOAT(a);
#define FP_DIV_STEP(a)                                                                                       \
    a = c / a;                                                                                               \
    KEEP_FLOAT(a);
#define FP_SQRT_STEP(a)                                                                                      \
    a = __builtin_sqrt(a);                                                                                   \
    KEEP_FLOAT(a);
#define CONVERT_STEP(a)                                                                                      \
    {                                                                                                        \
        int64_t whole = (int64_t)a;                                                                          \
        KEEP(whole);                                                                                         \
        a = (double)whole;                                                                                   \
        KEEP_FLOAT(a);                                                                                       \
    }

LOOPS(int_add, uint64_t, ADD_STEP, NOTHING)
LOOPS(int_mul, uint64_t, MUL_STEP, NOTHING)
LOOPS(int_div, uint32_t, DIV_STEP, NOTHING)
LOOPS(fp_add, double, FP_ADD_STEP, NOTHING)
LOOPS(fp_mul, double, FP_MUL_STEP, NOTHING)
LOOPS(fp_div, double, FP_DIV_STEP, NOTHING)
LOOPS(fp_sqrt, double, FP_SQRT_STEP, NOTHING)
LOOPS(convert, double, CONVERT_STEP, NOTHING)
#define ADD_MUL_STEP(a) FP_ADD_STEP(a) FP_MUL_STEP(a)
LOOPS(add_multiply, double, ADD_MUL_STEP, __attribute__((unused)))
#if defined(__x86_64__)
LOOPS(fp_fma, double, FP_FMA_STEP, __attribute__((target("fma"))))
#define HAS_FMA __builtin_cpu_supports("fma")
#else
LOOPS(fp_fma, double, FP_FMA_STEP, NOTHING)
#define HAS_FMA 1
#endif

/* ---- references that hit the first cache level ---- */

#define WORDS(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

static NOINLINE void load_free(uint64_t times, void *state)
{
    const uint64_t *word = state;
    for (; times > 0; times--) {
#define LOAD_STEP(i) __asm__ volatile("" ::"r"(*(const volatile uint64_t *)&word[i]));
        WORDS(LOAD_STEP) WORDS(LOAD_STEP) WORDS(LOAD_STEP) WORDS(LOAD_STEP)
    }
}

static NOINLINE void load_chain(uint64_t times, void *state)
{
    void *a0 = state;
    for (; times > 0; times--) {
#define NEXT_STEP(a)                                                                                         \
    a = *(void **)a;                                                                                         \
    KEEP(a);
        CHAIN(NEXT_STEP) CHAIN(NEXT_STEP) CHAIN(NEXT_STEP) CHAIN(NEXT_STEP)
    }
}

static NOINLINE void store_free(uint64_t times, void *state)
{
    volatile uint64_t *word = state;
    for (; times > 0; times--) {
#define STORE_STEP(i) word[i] = times;
        WORDS(STORE_STEP) WORDS(STORE_STEP) WORDS(STORE_STEP) WORDS(STORE_STEP)
    }
}

/* A store, and a load that needs its value. */
static NOINLINE void store_chain(uint64_t times, void *state)
{
    volatile uint64_t *word = state;
    uint64_t a0 = times;
    for (; times > 0; times--) {
#define FORWARD_STEP(a)                                                                                      \
    *word = a;                                                                                               \
    a = *word;                                                                                               \
    KEEP(a);
        CHAIN(FORWARD_STEP) CHAIN(FORWARD_STEP) CHAIN(FORWARD_STEP) CHAIN(FORWARD_STEP)
    }
}

/* The same with each store to another place: a[i + 1] needs a[i]. */
#define FORWARD(name, type)                                                                                  \
    static NOINLINE void name(uint64_t times, void *state)                                                   \
    {                                                                                                        \
        for (; times > 0; times--) {                                                                         \
            volatile type *a = state;                                                                        \
            PASS(a) PASS(a) PASS(a) PASS(a) PASS(a) PASS(a) PASS(a) PASS(a) * (volatile type *)state = a[0]; \
        }                                                                                                    \
    }
#define PASS(a)                                                                                              \
    a[1] = a[0];                                                                                             \
    a++;                                                                                                     \
    KEEP(a);

FORWARD(forward_chain, uint64_t)
FORWARD(forward_fp_chain, double)

/* ---- control ---- */

static NOINLINE void branch_not_taken(uint64_t times, void *state)
{
    int64_t a0 = *(const int64_t *)state;
    for (; times > 0; times--) {
#define SKIP_STEP(a)                                                                                         \
    KEEP(a);                                                                                                 \
    if (__builtin_expect(a < 0, 0))                                                                          \
        __asm__ volatile("nop");
        CHAIN(SKIP_STEP) CHAIN(SKIP_STEP) CHAIN(SKIP_STEP) CHAIN(SKIP_STEP)
    }
}

/* Adjacent jumps would measure the host's jump tables; a loop's own jump is what programs execute. */
static NOINLINE void branch_taken(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--)
        KEEP(times);
}

#if defined(__x86_64__)
/* Conditional moves and branches mixed: do they share units? */
static NOINLINE void select_mixed(uint64_t times, void *state)
{
    const int64_t start = *(const int64_t *)state;
    int64_t a0 = start, a1 = start, a2 = start, a3 = start;
    for (; times > 0; times--) {
#define SELECT_STEP(a) __asm__ volatile("cmovs %1, %0" : "+r"(a) : "r"(start) : "cc");
#define SELECT_EIGHT                                                                                         \
    SELECT_STEP(a0)                                                                                          \
    SKIP_STEP(a1) SELECT_STEP(a2) SKIP_STEP(a3) SELECT_STEP(a1) SKIP_STEP(a0) SELECT_STEP(a3) SKIP_STEP(a2)
        SELECT_EIGHT SELECT_EIGHT SELECT_EIGHT SELECT_EIGHT
    }
}

/* A floating-point comparison mixed with two branches: how much of the branch units does it use? */
static NOINLINE void compare_mixed(uint64_t times, void *state)
{
    int64_t a0 = *(const int64_t *)state;
    for (; times > 0; times--) {
#define COMPARE_STEP(a)                                                                                      \
    __asm__ volatile("comisd %%xmm0, %%xmm0" ::: "cc");                                                      \
    SKIP_STEP(a) SKIP_STEP(a)
        CHAIN(COMPARE_STEP) CHAIN(COMPARE_STEP) CHAIN(COMPARE_STEP) CHAIN(COMPARE_STEP)
    }
}
#endif

static NOINLINE uint64_t callee(uint64_t value)
{
    KEEP(value);
    return value;
}

static NOINLINE void call_and_return(uint64_t times, void *state)
{
    uint64_t a0 = *(const uint64_t *)state;
    for (; times > 0; times--) {
#define CALL_STEP(a) a = callee(a);
        CHAIN(CALL_STEP) CHAIN(CALL_STEP) CHAIN(CALL_STEP) CHAIN(CALL_STEP)
    }
}

/* A shared-library function that does next to nothing, called as programs do: through the linkage table, and
 * far away. The name is unknown to the compiler, which would otherwise compute the value itself. */
extern long library_labs(long value) __asm__("labs");

static NOINLINE void library_call(uint64_t times, void *state)
{
    long a0 = *(const long *)state;
    for (; times > 0; times--) {
#define LIBRARY_STEP(a) a = library_labs(a);
        CHAIN(LIBRARY_STEP) CHAIN(LIBRARY_STEP) CHAIN(LIBRARY_STEP) CHAIN(LIBRARY_STEP)
    }
}

#if defined(__x86_64__)
/* Reads the floating-point control and status register, as mathematical functions do, each time after as many
 * instructions without effect as in `no_operation`. */
static NOINLINE void status_read(uint64_t times, void *state)
{
    uint32_t *word = state;
    for (; times > 0; times--)
        __asm__ volatile("stmxcsr %0\n\t.rept 32\n\tnop\n\t.endr" : "=m"(*word));
}
#endif

static NOINLINE void no_operation(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--)
        __asm__ volatile(
            "nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
            "nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
            "nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop");
}

#if defined(__x86_64__)
/* Clearing a register needs no unit either, but is issued singly: some processors issue two instructions
 * without effect as one. A round is long, and its instructions are not all of the shortest, as a line of code
 * with 32 of them, or its end at each jump, would be measured in place of the issue. */
static NOINLINE void clear_register(uint64_t times, void *state)
{
    (void)state;
    for (; times > 0; times--)
        __asm__ volatile(".rept 32\n\txor %%eax, %%eax\n\txor %%r8d, %%r8d\n\txor %%ecx, %%ecx\n\t"
                         "xor %%r9d, %%r9d\n\txor %%edx, %%edx\n\txor %%r10d, %%r10d\n\txor %%esi, %%esi\n\t"
                         "xor %%r11d, %%r11d\n\t.endr" ::
                             : "eax", "ecx", "edx", "esi", "r8", "r9", "r10", "r11", "cc");
}

/* Calls of a function and its return, which is in the next line of code or two lines further. */
#define CALLS(name, lines)                                                                                   \
    static NOINLINE void name(uint64_t times, void *state)                                                   \
    {                                                                                                        \
        (void)state;                                                                                         \
        for (; times > 0; times--)                                                                           \
            __asm__ volatile("jmp 2f\n\t.p2align 6\n1:\n\t.rept " #lines                                     \
                             "\n\tnop\n\t.p2align 6\n\t.endr\n\tret\n\t.p2align 6\n2:\n\t"                   \
                             ".rept 32\n\tcall 1b\n\t.p2align 6\n\t.endr" ::                                 \
                                 : "memory");                                                                \
    }
CALLS(call_to_line, 0)
CALLS(call_over_lines, 2)

/* Chains that do not wait for one another: 40 dependent multiplications, each with another operation that
 * waits for it, too. Where one chain ends, the next is under way as far as the scheduler holds it. */
static NOINLINE void chains(uint64_t times, void *state)
{
    const double *real = state;
    for (; times > 0; times--)
        __asm__ volatile(
            ".rept 4\n\tmovapd %0, %%xmm2\n\t"
            ".rept 20\n\tmulsd %1, %%xmm2\n\tmovapd %%xmm2, %%xmm3\n\taddsd %1, %%xmm3\n\t"
            "mulsd %1, %%xmm2\n\tmovapd %%xmm2, %%xmm4\n\tmulsd %1, %%xmm4\n\t.endr\n\t.endr" ::"x"(real[0]),
            "x"(real[1])
            : "xmm2", "xmm3", "xmm4");
}
#endif

static void measure_branches(void)
{
    uint64_t one[2] = {1, 1};
    bench_cycles("branch_not_taken", branch_not_taken, one, UNROLLED);
    bench_cycles("branch_taken", branch_taken, NULL, 1);
#if defined(__x86_64__)
    bench_cycles("select_mixed", select_mixed, one, UNROLLED);
    bench_cycles("compare_mixed", compare_mixed, one, UNROLLED);
#endif
    bench_cycles("call_and_return", call_and_return, one, UNROLLED);
    bench_cycles("library_call", library_call, one, UNROLLED);
#if defined(__x86_64__)
    uint32_t word;
    bench_cycles("status_read", status_read, &word, 1);
#endif
}

/* Additions and multiplications mixed: do they have separate units? There are enough streams that latencies
 * of up to four cycles do not limit two multiplications and two additions per cycle. */
static NOINLINE void fp_mixed_free(uint64_t times, void *state)
{
    const double start = ((const double *)state)[0], c = ((const double *)state)[1];
    double a0 = start, a1 = start, a2 = start, a3 = start;
    double m0 = start, m1 = start, m2 = start, m3 = start, m4 = start, m5 = start, m6 = start, m7 = start;
    for (; times > 0; times--) {
#define MIXED_EIGHT(x, y, z, w)                                                                              \
    FP_ADD_STEP(a0)                                                                                          \
    FP_MUL_STEP(x)                                                                                           \
    FP_ADD_STEP(a1) FP_MUL_STEP(y) FP_ADD_STEP(a2) FP_MUL_STEP(z) FP_ADD_STEP(a3) FP_MUL_STEP(w)
        MIXED_EIGHT(m0, m1, m2, m3)
        MIXED_EIGHT(m4, m5, m6, m7)
        MIXED_EIGHT(m0, m1, m2, m3)
        MIXED_EIGHT(m4, m5, m6, m7)
    }
}

/* The shortest time of one addition of `body`, in ns; takes a few tens of microseconds. */
static double least_addition(bench_body *body)
{
    enum { ROUNDS = 250, TRIES = 8 };
    uint64_t whole[2] = {3, 5};
    double least = 1e9;
    for (int i = 0; i < TRIES; i++) {
        double taken = bench_time(body, whole, ROUNDS) / (ROUNDS * UNROLLED);
        least = taken < least ? taken : least;
    }
    return least;
}

double bench_clock(void)
{
    return least_addition(int_add_chain);
}

double bench_additions(void)
{
    return least_addition(int_add_free);
}

void bench_pace(void)
{
    bench_begin("clock", "ns");
    bench_sample(bench_clock());
    bench_end();
    bench_begin("int_add_free", "ns");
    bench_sample(bench_additions());
    bench_end();
}

#define BOTH(name, state, operations)                                                                        \
    bench_cycles(#name "_free", name##_free, state, operations);                                             \
    bench_cycles(#name "_chain", name##_chain, state, operations)

void bench_operations(void)
{
    uint64_t whole[2] = {3, 5};
    uint32_t small[2] = {1234, 1234567890};
    double real[2] = {1.3, 1.000000001}, ratio[2] = {1.3, 1.7};
    void *self = &self;
    uint64_t words[16] __attribute__((aligned(64))) = {0};
    /* The host may still be raising its clock. */
    for (uint64_t end = bench_now() + (uint64_t)(100 * bench.sample_ns); bench_now() < end;)
        int_add_chain(1000, whole);
    bench_cycles("clock", int_add_chain, whole, UNROLLED);
    bench_cycles("no_operation", no_operation, NULL, UNROLLED);
#if defined(__x86_64__)
    bench_cycles("clear_register", clear_register, NULL, 256);
    bench_cycles("call_to_line", call_to_line, NULL, 32);
    bench_cycles("call_over_lines", call_over_lines, NULL, 32);
    bench_cycles("chains", chains, real, 4);
#endif
    BOTH(int_add, whole, UNROLLED);
    BOTH(int_mul, whole, UNROLLED);
    BOTH(int_div, small, UNROLLED);
    bench_cycles("load_free", load_free, words, UNROLLED);
    bench_cycles("load_chain", load_chain, &self, UNROLLED);
    bench_cycles("store_free", store_free, words, UNROLLED);
    bench_cycles("store_chain", store_chain, words, UNROLLED);
    bench_cycles("forward_chain", forward_chain, words, 9);
    bench_cycles("forward_fp_chain", forward_fp_chain, words, 9);
    measure_branches();
    bench_cycles("fp_mixed_free", fp_mixed_free, real, UNROLLED);
    BOTH(fp_add, real, UNROLLED);
    BOTH(fp_mul, real, UNROLLED);
    bench_cycles("add_multiply_chain", add_multiply_chain, real, UNROLLED);
    if (HAS_FMA) {
        BOTH(fp_fma, real, UNROLLED);
    }
    BOTH(fp_div, ratio, UNROLLED);
    BOTH(fp_sqrt, real, UNROLLED);
    BOTH(convert, ratio, 2 * UNROLLED);
}

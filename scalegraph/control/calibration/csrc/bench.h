/* Shared by the parts of the micro-benchmark: samples, and the little that depends on the architecture.
 *
 * A measurement prints one line, `name unit sample sample ...`; the reader computes median and spread.
 * Samples are short, so that most of them fall between two interruptions by the host. Lines for quantities
 * that scale with the processor's clock end with `@ns`: the time of a dependent addition at that moment. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline, noclone))

#define MOST_TEAM 1024

/* Command line options. */
typedef struct bench_options {
    uint32_t samples;  /* per measurement */
    double sample_ns;  /* approximate duration of one sample */
    int first, second; /* host processors; second is -1 if there is only one */
    int far;           /* a processor of another socket, -1: none */
    int beside;        /* one in the same socket with a different local memory, -1: none */
    size_t large;      /* bytes of the largest working set */
    size_t near;       /* working sets up to this size stay in caches that scale with the processor's clock */
    size_t sizes[64];  /* working sets for the latencies, in bytes */
    uint32_t sizes_count;
    int pace;            /* measure only the processor's current speed, in a millisecond */
    int team[MOST_TEAM]; /* measure only what depends on the number of cores, with a thread on each of these
                            processors */
    uint32_t team_count;
    int pair; /* measure only the transfer of a line between the first and second processor */
} bench_options;

extern bench_options bench;

/* Does its work `times` times. */
typedef void bench_body(uint64_t times, void *state);

uint64_t bench_now(void);
/* Time of `times` executions of `body`, in ns. */
double bench_time(bench_body *body, void *state, uint64_t times);
/* Prints samples of the time of one operation, in ns; `body` does `operations` of them per execution. The
 * second one is for what scales with the processor's clock; it waits while another program uses the core. */
void bench_measure(const char *name, bench_body *body, void *state, double operations);
void bench_cycles(const char *name, bench_body *body, void *state, double operations);
/* The same by hand, for what cannot be repeated at will. */
void bench_begin(const char *name, const char *unit);
void bench_sample(double value);
void bench_end(void);
/* Current time of a dependent addition, in ns: one processor cycle. */
double bench_clock(void);
/* Current time of one of many independent additions, in ns. */
double bench_additions(void);
/* Prints both: the second is longer while another program uses the other hardware thread of the core. */
void bench_pace(void);
/* As bench_end; `before` is the result of bench_clock before the samples. */
void bench_end_at(double before);
/* Pins the calling thread; with an unknown processor the measurement is just less precise. */
void bench_pin(int processor);
/* Zeroed memory in large pages if the host has any; exits if there is no memory. */
void *bench_map(size_t bytes, int large_pages);

void bench_operations(void);
void bench_prediction(void);
void bench_window(void);
void bench_memory(void);
void bench_system(void);
void bench_threads(void);
void bench_openmp(void);
void bench_many(void);
void bench_pair(void);

#if defined(__x86_64__)
#define FLOAT_REGISTER "+x"
static inline void flush_line(const void *at)
{
    __builtin_ia32_clflush(at);
}
static inline void flush_done(void)
{
    __builtin_ia32_mfence();
}
static inline void spin(void)
{
    __builtin_ia32_pause();
}
#elif defined(__aarch64__)
#define FLOAT_REGISTER "+w"
static inline void flush_line(const void *at)
{
    __asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
}
static inline void flush_done(void)
{
    __asm__ volatile("dsb sy" ::: "memory");
}
static inline void spin(void)
{
    __asm__ volatile("yield");
}
#else
#error "the micro-benchmark knows x86-64 and aarch64"
#endif

#define LINE 64 /* distance between places of a working set; the host's line, or half of it */

#endif

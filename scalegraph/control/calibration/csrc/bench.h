/* What the parts of the micro-benchmark share: samples, and the few things that depend on the architecture.
 *
 * A measurement prints one line, `name unit sample sample ...`; the median and the spread are taken by
 * whoever reads it. Samples are short, so that most of them fall between two interruptions by the host. The
 * line of what follows the processor's clock ends with `@ns`: what a dependent addition took just then. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline, noclone))

#define MOST_TEAM 1024

/* What the command line says. */
typedef struct bench_options {
    uint32_t samples;  /* of each measurement */
    double sample_ns;  /* what one of them takes, about */
    int first, second; /* host processors; second is -1 where there is one only */
    int far;           /* a processor of another socket, -1: none */
    int beside;        /* one with other memory near it in the same socket, -1: none */
    size_t large;      /* bytes of the largest working set */
    size_t near;       /* working sets up to this size stay in caches that follow the processor's clock */
    size_t sizes[64];  /* working sets for the latencies, in bytes */
    uint32_t sizes_count;
    int pace;            /* only what the processor does at this moment, in a millisecond */
    int team[MOST_TEAM]; /* only what depends on the number of cores, with a thread on each of these
                            processors */
    uint32_t team_count;
    int pair; /* only what a line takes between the first and the second processor */
} bench_options;

extern bench_options bench;

/* Does its work `times` times. */
typedef void bench_body(uint64_t times, void *state);

uint64_t bench_now(void);
/* What `times` times of `body` take, in ns. */
double bench_time(bench_body *body, void *state, uint64_t times);
/* Prints samples of the time of one operation, in ns; one time of `body` does `operations` of them. The
 * second is for what follows the processor's clock; it waits while another program uses the core. */
void bench_measure(const char *name, bench_body *body, void *state, double operations);
void bench_cycles(const char *name, bench_body *body, void *state, double operations);
/* The same by hand, for what cannot be repeated at will. */
void bench_begin(const char *name, const char *unit);
void bench_sample(double value);
void bench_end(void);
/* What a dependent addition takes now, in ns: a cycle of the processor. */
double bench_clock(void);
/* What one of many independent additions takes now, in ns. */
double bench_additions(void);
/* Prints both: the second is longer while another program has the other half of the core. */
void bench_pace(void);
/* As bench_end; `before` is what bench_clock said before the samples. */
void bench_end_at(double before);
/* Binds the calling thread; an unknown processor is no fault, the measurement is less sharp then. */
void bench_pin(int processor);
/* Zeroed memory in large pages where the host gives some; ends the program when there is none. */
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

#define LINE 64 /* bytes between two places of a working set; the host's line, or half of it */

#endif

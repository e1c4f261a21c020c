/* Reads a clock around code without branches, in several ways; prints each difference in ns, that of the
 * processor's counter in cycles, and how often a reading was earlier than the one before it. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

static double last;
static int back;

static double seen(double now)
{
    back += now < last;
    return last = now;
}

static double monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static __attribute__((noinline)) double wrapped(void)
{
    return monotonic();
}

static __attribute__((noinline)) double wrapped_twice(void)
{
    double now = wrapped();
    return seen(now);
}

#define TEN(x) x x x x x x x x x x
/* 200 divisions, each of which waits for the one before. */
#define HERE __asm__ volatile("" : "+x"(x)); /* the compiler does not move code across this */
#define WORK HERE TEN(TEN(x = 1.0 / x; x = 3.0 / x;)) HERE

#define MEASURE(name, clock)                                                                                 \
    static __attribute__((noinline)) double name(double x, double *result)                                   \
    {                                                                                                        \
        double a = clock;                                                                                    \
        WORK double b = clock;                                                                               \
        *result += x;                                                                                        \
        return b - a;                                                                                        \
    }

MEASURE(of_omp, 1e9 * omp_get_wtime())
MEASURE(of_clock, monotonic())
MEASURE(of_wrapper, wrapped())
MEASURE(of_two, wrapped_twice())
#ifdef __x86_64__
MEASURE(of_counter, (double)__rdtsc())
#else
MEASURE(of_counter, 0.0)
#endif

static __attribute__((noinline)) double of_day(double x, double *result)
{
    struct timeval a, b;
    gettimeofday(&a, NULL);
    WORK WORK WORK WORK WORK gettimeofday(&b, NULL);
    *result += x;
    return 1e9 * (double)(b.tv_sec - a.tv_sec) + 1e3 * (double)(b.tv_usec - a.tv_usec);
}

static __attribute__((noinline)) double of_library(double x, double *result)
{
    double a = monotonic();
    HERE x = exp(x);
    x = sin(x);
    x = exp(x);
    x = sin(x);
    x = exp(x);
    HERE double b = monotonic();
    *result += x;
    return b - a;
}

static __attribute__((noinline)) double of_nothing(double x, double *result)
{
    double a = monotonic();
    double b = monotonic();
    WORK *result += x;
    return b - a;
}

int main(void)
{
    double result = 0.0, x = 1.5;
    for (int i = 0; i < 2; i++) {
        double omp = of_omp(x, &result), clock = of_clock(x, &result), wrapper = of_wrapper(x, &result);
        double two = of_two(x, &result), day = of_day(x, &result), library = of_library(x, &result);
        double nothing = of_nothing(x, &result), counter = of_counter(x, &result);
        if (i > 0)
            printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %d\n", omp, clock, wrapper, two, day, library,
                   nothing, counter, back);
    }
    return result == 0.5;
}

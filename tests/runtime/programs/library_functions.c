/* Time of a call of library functions by the program's own clock, in nanoseconds, one line each. Arguments: number
 * of calls, and of repetitions (the fastest counts). */
#define _GNU_SOURCE
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXTS = 256, SORTED = 4096, BYTES = 1 << 20 };

static char texts[TEXTS][24], integers[TEXTS][8], out[256], from[BYTES], to[BYTES];
static char *words[SORTED];
static int numbers[SORTED];
static volatile double some = 0.7;
static volatile uint64_t divisor = 12345678901u;
static double sum;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Different data in each repetition, so that no processor learns the branches of a sort. */
static void prepare(int time)
{
    for (int i = 0; i < SORTED; i++) {
        numbers[i] = (int)((unsigned)(i + SORTED * time) * 2654435761u % 1000003u);
        words[i] = texts[((unsigned)(i + SORTED * time) * 2654435761u % 1000003u) % TEXTS];
    }
}

/* The fastest of `times` repetitions of `count` calls. */
#define MEASURE(name, count, call)                                                                                     \
    do {                                                                                                               \
        double least = 1e99;                                                                                           \
        for (int time = 0; time < times; time++) {                                                                     \
            prepare(time);                                                                                                 \
            double begin = now();                                                                                      \
            for (long i = 0; i < (count); i++) {                                                                       \
                call;                                                                                                  \
            }                                                                                                          \
            double taken = (now() - begin) / (double)(count);                                                          \
            least = taken < least ? taken : least;                                                                     \
        }                                                                                                              \
        printf("%s %.3f\n", name, least);                                                                              \
    } while (0)

#define KEEP(place) __asm__ volatile("" : : "r"(place) : "memory")

static void numbers_and_texts(long n, int times)
{
    double real;
    int whole;
    MEASURE("strtod", n, sum += strtod(texts[i % TEXTS], NULL));
    MEASURE("atoi", n, sum += atoi(integers[i % TEXTS]));
    MEASURE("strtol", n, sum += (double)strtol(integers[i % TEXTS], NULL, 10));
    MEASURE("snprintf_d", n, sum += snprintf(out, sizeof out, "%d", (int)(i * 37 % 5000)));
    MEASURE("snprintf_f", n, sum += snprintf(out, sizeof out, "%f", 1.2345 * (double)i));
    MEASURE("snprintf_s", n, sum += snprintf(out, sizeof out, "%s", texts[i % TEXTS]));
    MEASURE("sscanf_d", n, sum += sscanf(integers[i % TEXTS], "%d", &whole) + whole);
    MEASURE("sscanf_f", n, sum += sscanf(texts[i % TEXTS], "%lf", &real) + real);
    MEASURE("strlen", n, sum += (double)strlen(texts[i % TEXTS]));
    MEASURE("strcmp", n, sum += strcmp(texts[i % TEXTS], texts[i * 7 % TEXTS]));
    MEASURE("strcpy", n, (void)strcpy(out, texts[i % TEXTS]); KEEP(out));
    MEASURE("strstr", n, sum += strstr(texts[i % TEXTS], "99") != NULL);
}

static void others(long n, int times)
{
    unsigned seed = 1;
    double complex z = 0.5 + 0.3 * I, q = 0.9 + 0.2 * I;
    unsigned __int128 wide = 7;
    MEASURE("malloc_free", n, void *volatile p = malloc(40); free(p));
    MEASURE("rand", n, sum += rand());
    MEASURE("rand_r", n, sum += rand_r(&seed));
    MEASURE("drand48", n, sum += drand48());
    MEASURE("clock_gettime", n, sum += now());
    MEASURE("complex_times", n, z = z * q + some);
    MEASURE("complex_by", n, z = z / q + some);
    MEASURE("by_128_bits", n, wide = wide / divisor + ((unsigned __int128)i << 70));
    MEASURE("cexp", n, sum += creal(cexp(q * some)));
    MEASURE("csqrt", n, sum += creal(csqrt(q * some)));
    MEASURE("cabs", n, sum += cabs(q * some));
    sum += creal(z) + (double)(uint64_t)wide;
    MEASURE("exp", n, sum += exp(1e-3 * (double)(i % 1000) + 0.1));
    MEASURE("sin", n, sum += sin(1e-3 * (double)(i % 1000) + 0.1));
    MEASURE("pow", n, sum += pow(1e-3 * (double)(i % 1000) + 0.1, 1.3));
    MEASURE("hypot", n, sum += hypot(1e-3 * (double)(i % 1000) + 0.1, some));
}

static void memory(int times)
{
    volatile size_t size; /* otherwise the compiler replaces calls with constant sizes by instructions */
    size = 64;
    MEASURE("memcpy_64", 200, memcpy(to, from, size); KEEP(to));
    size = 4096;
    MEASURE("memcpy_4096", 200, memcpy(to, from, size); KEEP(to));
    size = 65536;
    MEASURE("memcpy_65536", 20, memcpy(to, from, size); KEEP(to));
    size = 4096;
    MEASURE("memset_4096", 200, memset(to, (int)i, size); KEEP(to));
    size = BYTES;
    MEASURE("memcpy_1048576", 3, memcpy(to, from, size); KEEP(to));
    MEASURE("sort_numbers", 1, qsort(numbers, SORTED, sizeof *numbers, by_number));
    MEASURE("sort_texts", 1, qsort(words, SORTED, sizeof *words, by_text));
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000;
    int times = argc > 2 ? atoi(argv[2]) : 3;
    for (int i = 0; i < TEXTS; i++) {
        snprintf(texts[i], sizeof texts[i], "%.10g", 1.234567890123 * (i + 1) * (i % 7 + 0.01));
        snprintf(integers[i], sizeof integers[i], "%d", i * 37 % 5000);
    }
    numbers_and_texts(n, times);
    others(n, times);
    memory(times);
    return sum == 0.5;
}

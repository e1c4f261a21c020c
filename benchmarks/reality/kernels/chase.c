/* Latency of dependent loads: prints "KIB;ns per load" for each size.
 *   chase LINE WINDOW SIZE..    LINE: bytes of a line; WINDOW: KiB in which the order is random; SIZE: KiB
 * Each line is visited once, window by window: a window of few pages excludes address translation; 0 means a single
 * window as large as the data. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LEAST_STEPS 40000L
#define MOST_STEPS  400000L

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Links the lines of each window in random order, the last to the next window's first. */
static void link_lines(char *data, long *order, long lines, long window, long line)
{
    for (long i = 0; i < lines; i++)
        order[i] = i;
    for (long first = 0; first < lines; first += window) {
        long n = lines - first < window ? lines - first : window;
        for (long i = n - 1; i > 0; i--) {
            long j = (long)(draw() % (uint64_t)(i + 1)), kept = order[first + i];
            order[first + i] = order[first + j];
            order[first + j] = kept;
        }
    }
    for (long i = 0; i < lines; i++)
        *(void **)(data + order[i] * line) = data + order[(i + 1) % lines] * line;
}

static void *walk(void *at, long steps)
{
    for (long i = 0; i < steps; i += 8) {
        at = *(void **)at;
        at = *(void **)at;
        at = *(void **)at;
        at = *(void **)at;
        at = *(void **)at;
        at = *(void **)at;
        at = *(void **)at;
        at = *(void **)at;
    }
    return at;
}

int main(int count, char **argument)
{
    long line = count > 3 ? atol(argument[1]) : 64, window_kib = count > 3 ? atol(argument[2]) : 0;
    void *last = NULL;
    for (int i = 3; i < count; i++) {
        long kib = atol(argument[i]), lines = kib * 1024 / line;
        long window = window_kib > 0 ? window_kib * 1024 / line : lines;
        char *data = aligned_alloc(4096, (size_t)(kib * 1024 + 4095) / 4096 * 4096);
        long *order = malloc((size_t)lines * sizeof *order);
        long steps = 4 * lines < LEAST_STEPS ? LEAST_STEPS : 4 * lines < MOST_STEPS ? 4 * lines / 8 * 8 : MOST_STEPS;
        link_lines(data, order, lines, window, line);
        void *at = walk(data, lines / 8 * 8 + 8); /* warm-up: brings the lines into the nearest cache that holds them */
        double start = now();
        last = walk(at, steps);
        printf("%ld;%.4f\n", kib, (now() - start) / (double)steps);
        free(order);
        free(data);
    }
    return last == (void *)1;
}

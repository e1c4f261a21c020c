/* The hooks of an instrumented program: counts how often each block ran and writes `address count` lines. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define BASE 0x400000ul
#define SIZE (1ul << 20)

static unsigned counts[SIZE];

void __sanitizer_cov_trace_pc(void)
{
    unsigned long at = (unsigned long)__builtin_return_address(0) - BASE;
    if (at < SIZE)
        counts[at]++;
}

__attribute__((destructor)) static void report(void)
{
    FILE *out = fopen(getenv("COUNTS"), "w");
    for (unsigned long at = 0; at < SIZE; at++)
        if (counts[at])
            fprintf(out, "%lu %u\n", at + BASE, counts[at]);
    fclose(out);
}

void __tsan_init(void) {}
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}
void __tsan_read_range(void *p, size_t n) { (void)p, (void)n; }
void __tsan_write_range(void *p, size_t n) { (void)p, (void)n; }
void __scalegraph_enter(unsigned id) { (void)id; }
void __scalegraph_leave(unsigned id) { (void)id; }

#define ACCESS(n) \
    void __tsan_read##n(void *p) { (void)p; } \
    void __tsan_write##n(void *p) { (void)p; } \
    void __tsan_unaligned_read##n(void *p) { (void)p; } \
    void __tsan_unaligned_write##n(void *p) { (void)p; }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

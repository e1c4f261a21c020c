/* Drives the memory system alone: reads commands, answers each with one line.
 *
 *   access P r|w|x ADDRESS NOW   -> every category and counter that is not zero, and `cycles`
 *   hit P r|w ADDRESS            -> hit=0|1, by the filter
 *   check                        -> ok, or the broken invariant
 *   fuzz SEED COUNT LINES SPREAD -> random accesses by all processors, checked after each 1,000
 *   delayed SEED COUNT LINES SPREAD -> the same, with time between an access and its turn
 *   calendar SEED COUNT          -> ok, or where a calendar differs from a table of busy times
 *   intervals SEED COUNT         -> ok, or where a calendar's intervals differ from a list that is searched
 * whole statistics                   -> every resource that was used: name
 * kind=units/transactions/busy/waiting;
 * ... resident                     -> mib=.. of host memory in use walk P COUNT STRIDE          ->
 * nanoseconds of one access (for the eye, never asserted)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sg_calendar.h"
#include "sg_config.h"
#include "sg_mem.h"
#include "sg_start.h"

static const char *const category_names[] = SG_CATEGORY_NAMES;
static const char *const counter_names[] = SG_COUNTER_NAMES;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void print(const sg_outcome *out)
{
    printf("cycles=%" PRIu64, out->cycles);
    for (int i = 0; i < SG_CATEGORY_COUNT; i++)
        if (out->stall[i])
            printf(" %s=%" PRIu64, category_names[i], out->stall[i]);
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        if (out->count[i])
            printf(" %s=%u", counter_names[i], out->count[i]);
    putchar('\n');
}

static enum sg_access kind_of(char letter)
{
    return letter == 'r' ? SG_READ : letter == 'w' ? SG_WRITE : SG_RMW;
}

/* One access as the runtime makes it; returns its cycles, checks that they are accounted for. */
static uint64_t step(sg_mem *mem, uint32_t p, enum sg_access kind, uint64_t address, uint64_t now,
                     sg_outcome *sum)
{
    if (sg_mem_hit(sg_mem_filter(mem, p), address, 1, kind))
        return 0;
    sg_outcome one = {0};
    sg_mem_access(mem, p, address, kind, now, &one);
    uint64_t total = 0;
    for (int i = 0; i < SG_CATEGORY_COUNT; i++) {
        total += one.stall[i];
        sum->stall[i] += one.stall[i];
    }
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        sum->count[i] += one.count[i];
    sum->cycles += one.cycles;
    if (total != one.cycles) {
        printf("cycles %" PRIu64 " differ from the categories %" PRIu64 "\n", one.cycles, total);
        exit(1);
    }
    return total;
}

static int fuzz(sg_mem *mem, uint32_t processors, uint64_t seed, uint64_t count, uint64_t lines,
                uint64_t spread)
{
    char error[512];
    sg_outcome sum = {0};
    uint64_t *clock = calloc(processors, sizeof *clock), state = seed | 1;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t p = 0;
        for (uint32_t q = 1; q < processors; q++)
            if (clock[q] < clock[p])
                p = q;
        uint64_t random = next_random(&state);
        uint64_t address = 0x1000000 + (random >> 8) % lines * spread;
        clock[p] += 1 + step(mem, p,
                             (random & 7) < 5   ? SG_READ
                             : (random & 7) < 7 ? SG_WRITE
                                                : SG_RMW,
                             address, clock[p], &sum);
        if (i % 1000 == 999 && sg_mem_check(mem, error, sizeof error) != 0) {
            printf("after %" PRIu64 ": %s\n", i, error);
            free(clock);
            return 1;
        }
    }
    free(clock);
    print(&sum);
    return 0;
}

/* The same in the runtime's way: private caches are tried at once; what they cannot serve waits until its
 * processor is the earliest again; meanwhile the others may change its caches. */
static int delayed(sg_mem *mem, uint32_t processors, uint64_t seed, uint64_t count, uint64_t lines,
                   uint64_t spread)
{
    char error[512];
    sg_outcome sum = {0};
    struct waiting {
        uint64_t clock, address;
        enum sg_access kind;
    } *of = calloc(processors, sizeof *of);
    uint64_t state = seed | 1;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t p = 0;
        for (uint32_t q = 1; q < processors; q++)
            if (of[q].clock < of[p].clock)
                p = q;
        uint64_t before = sum.cycles, random = next_random(&state);
        if (of[p].address != 0)
            sg_mem_access(mem, p, of[p].address, of[p].kind, of[p].clock, &sum);
        of[p].address = 0x1000000 + (random >> 8) % lines * spread;
        of[p].kind = kind_of("rrrrrwwx"[random & 7]);
        if (sg_mem_hit(sg_mem_filter(mem, p), of[p].address, 1, of[p].kind) ||
            sg_mem_try_private(mem, p, of[p].address, of[p].kind, &sum))
            of[p].address = 0;
        of[p].clock += 1 + sum.cycles - before;
        if (i % 1000 == 999 && sg_mem_check(mem, error, sizeof error) != 0) {
            printf("after %" PRIu64 ": %s\n", i, error);
            free(of);
            return 1;
        }
    }
    free(of);
    print(&sum);
    return 0;
}

/* Reserves at random and compares with a table that has one mark for each unit of time. */
static void calendar(uint64_t seed, uint64_t count)
{
    static unsigned char busy[100000];
    sg_calendar c = {0};
    uint64_t state = seed | 1, base = 0;
    memset(busy, 0, sizeof busy);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t random = next_random(&state), from = base + random % 60, length = 1 + (random >> 32) % 5;
        uint64_t wanted = from, got = sg_calendar_reserve(&c, from, length);
        for (uint64_t k = 0; k < length; k++)
            if (busy[wanted + k]) {
                wanted += k + 1;
                k = UINT64_MAX;
            }
        if (got != wanted) {
            printf("reservation %" PRIu64 ": got %" PRIu64 ", expected %" PRIu64 "\n", i, got, wanted);
            return;
        }
        memset(busy + got, 1, length);
        base += (random >> 16) % 8; /* time goes on a little faster than the resource fills */
    }
    puts("ok");
}

/* The simplest implementation of a calendar as described in sg_calendar.h. */
typedef struct model {
    uint32_t count;
    sg_interval busy[SG_CALENDAR_SIZE + 1];
} model;

static void drop(model *m, uint32_t first, uint32_t count)
{
    m->count -= count;
    memmove(&m->busy[first], &m->busy[first + count], (m->count - first) * sizeof *m->busy);
}

static uint64_t model_reserve(model *m, uint64_t from, uint64_t length)
{
    uint32_t i = 0;
    while (i < m->count && m->busy[i].end <= from)
        i++;
    for (; i < m->count && m->busy[i].start < from + length; i++)
        from = m->busy[i].end;
    int joins = (i > 0 && m->busy[i - 1].end == from) || (i < m->count && m->busy[i].start == from + length);
    if (!joins && m->count == SG_CALENDAR_SIZE) {
        drop(m, 0, SG_CALENDAR_SIZE / 2);
        if (i < SG_CALENDAR_SIZE / 2)
            return from;
        i -= SG_CALENDAR_SIZE / 2;
    }
    memmove(&m->busy[i + 1], &m->busy[i], (m->count++ - i) * sizeof *m->busy);
    m->busy[i] = (sg_interval){from, from + length};
    for (uint32_t k = m->count - 1; k > 0; k--)
        if (m->busy[k - 1].end == m->busy[k].start) {
            m->busy[k - 1].end = m->busy[k].end;
            drop(m, k, 1);
        }
    return from;
}

/* Reserves at random, so that calendars fill and forget. */
static void intervals(uint64_t seed, uint64_t count)
{
    sg_calendar c = {0};
    model m = {0};
    uint64_t state = seed | 1, base = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t random = next_random(&state), from = base + random % 400, length = 1 + (random >> 32) % 9;
        int same = sg_calendar_reserve(&c, from, length) == model_reserve(&m, from, length);
        for (uint32_t k = 0; same && k < m.count; k++)
            same = c.count == m.count && memcmp(sg_calendar_interval(&c, k), &m.busy[k], sizeof *m.busy) == 0;
        if (!same) {
            printf("reservation %" PRIu64 " differs\n", i);
            return;
        }
        base += (random >> 16) % 20;
    }
    puts("ok");
}

static void tell(void *context, const sg_usage *u)
{
    (void)context;
    char name[64];
    sg_usage_name(u, name, sizeof name);
    if (u->transactions)
        printf("%s %s=%u/%" PRIu64 "/%" PRIu64 "/%" PRIu64 ";", name, u->kind, u->units, u->transactions,
               u->busy, u->waiting);
}

static void walk(sg_mem *mem, uint32_t p, uint64_t count, uint64_t stride)
{
    sg_outcome sum = {0};
    struct timespec a, b;
    struct rusage usage;
    uint64_t now = 0;
    for (int round = 0; round < 3; round++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t address = 0x1000000 + i * stride, before = sum.cycles;
            if (sg_mem_hit(sg_mem_filter(mem, p), address, 1, SG_READ))
                continue;
            if (!sg_mem_try_private(mem, p, address, SG_READ, &sum))
                sg_mem_access(mem, p, address, SG_READ, now, &sum);
            now += sum.cycles - before;
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        printf("%.1f ns ", ns / (double)count);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld MiB ", usage.ru_maxrss / 1024);
    print(&sum);
}

/* Peak memory of this program alone; getrusage would include that of the process that started it. */
static long resident_mib(void)
{
    char text[128];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(text, sizeof text, status) != NULL)
        if (sscanf(text, "VmHWM: %ld", &kib) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kib < 0 ? -1 : kib / 1024;
}

int main(int argc, char **argv)
{
    static sg_config config;
    setvbuf(stdout, NULL, _IOLBF, 0);
    char error[2 * SG_MAX_PATH + 256], line[256];
    if (argc != 2 || sg_config_read(argv[1], &config, error, sizeof error) != 0) {
        puts(error);
        return 2;
    }
    sg_mem *mem = sg_mem_create(&config, error, sizeof error);
    if (!mem) {
        puts(error);
        return 2;
    }
    puts("ready");
    while (fgets(line, sizeof line, stdin)) {
        char letter = 'r';
        unsigned p = 0;
        uint64_t a = 0, b = 0, c = 0, d = 0;
        if (sscanf(line, "access %u %c %" SCNi64 " %" SCNu64, &p, &letter, (int64_t *)&a, &b) == 4) {
            sg_outcome out = {0};
            step(mem, p, kind_of(letter), a, b, &out);
            print(&out);
        } else if (sscanf(line, "hit %u %c %" SCNi64, &p, &letter, (int64_t *)&a) == 3) {
            printf("hit=%d\n", sg_mem_hit(sg_mem_filter(mem, p), a, 1, kind_of(letter)));
        } else if (sscanf(line, "fuzz %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &a, &b, &c, &d) == 4) {
            if (fuzz(mem, config.processors, a, b, c, d) != 0)
                return 1;
        } else if (sscanf(line, "delayed %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &a, &b, &c, &d) ==
                   4) {
            if (delayed(mem, config.processors, a, b, c, d) != 0)
                return 1;
        } else if (sscanf(line, "walk %u %" SCNu64 " %" SCNu64, &p, &a, &b) == 3) {
            walk(mem, p, a, b);
        } else if (sscanf(line, "calendar %" SCNu64 " %" SCNu64, &a, &b) == 2) {
            calendar(a, b);
        } else if (sscanf(line, "intervals %" SCNu64 " %" SCNu64, &a, &b) == 2) {
            intervals(a, b);
        } else if (strncmp(line, "statistics", 10) == 0) {
            sg_mem_statistics(mem, tell, NULL);
            putchar('\n');
        } else if (strncmp(line, "resident", 8) == 0) {
            printf("mib=%ld\n", resident_mib());
        } else if (strncmp(line, "check", 5) == 0) {
            puts(sg_mem_check(mem, error, sizeof error) == 0 ? "ok" : error);
        } else {
            puts("unknown command");
            return 2;
        }
    }
    sg_mem_destroy(mem);
    return 0;
}

/* A schedule of worksharing loops: who executes which iterations, and when that is decided.
 *
 * Each schedule is one file. The same file runs natively on the computer and in the simulator, where each use
 * of the memory below is a reference on the simulated machine, at its cost there. A schedule of your own ends
 * with SCHEDULE(...) and is passed as `--schedule FILE.c,parameter=value`.
 *
 * Iterations are numbered 0 .. iterations-1, whatever the type and direction of the loop. The team shares an
 * area of memory; each member also has its own area, on cache lines of its own. Both are zero before the
 * first execution of the loop, and are kept for later executions by the same number of members (counted in
 * `executions`), so that a schedule can learn. */
#ifndef SCALEGRAPH_SCHEDULE_H
#define SCALEGRAPH_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_ABI        1
#define SCHEDULE_PARAMETERS 8
#define SCHEDULE_WORDS      6 /* per member, free of charge: its registers */

/* value: the default, a product of numbers and powers of N (iterations) and P (members), such as N/P^2. */
typedef struct schedule_parameter {
    const char *name, *value;
    double least, most;
    const char *help;
} schedule_parameter;

/* Iterations first, first + step, .. (count of them) that the member executes next. `single`: they are handed
 * out one by one, and `done` is called after each. The rest is for reports. */
typedef struct schedule_chunk {
    uint64_t first, count, step;
    uint32_t owner; /* member they belonged to */
    bool single;
    int32_t state;    /* of the member's load: -1 light, 0 normal, 1 heavy */
    uint64_t control; /* chunk-size control k; 0: none */
} schedule_chunk;

/* A member during one execution of the loop; words and reals start at 0. */
typedef struct schedule_member {
    uint32_t number;
    int64_t word[SCHEDULE_WORDS];
    double real[SCHEDULE_WORDS];
} schedule_member;

struct schedule_loop;

/* Operations on the memory, charged to the calling member. */
typedef struct schedule_host {
    int64_t (*read)(struct schedule_loop *loop, const int64_t *at);
    void (*write)(struct schedule_loop *loop, int64_t *at, int64_t value);
    int64_t (*add)(struct schedule_loop *loop, int64_t *at, int64_t value); /* returns the previous value */
    /* *at becomes function(*at, argument), atomically; returns the previous value */
    int64_t (*apply)(struct schedule_loop *loop, int64_t *at, int64_t (*function)(int64_t, const void *),
                     const void *argument);
    void (*lock)(struct schedule_loop *loop, int64_t *at); /* *at is used as a lock only */
    void (*unlock)(struct schedule_loop *loop, int64_t *at);
    void (*work)(struct schedule_loop *loop, uint64_t instructions); /* beyond the usual cost of a decision */
    uint64_t (*clock)(struct schedule_loop *loop);                   /* ticks from an arbitrary origin */
} schedule_host;

typedef struct schedule_loop {
    uint64_t iterations;
    uint32_t members;
    uint64_t chunk;                        /* chunk size given by the loop or the user; 0: none */
    double parameter[SCHEDULE_PARAMETERS]; /* in order of declaration */
    uint64_t executions;                   /* number of earlier executions of this loop */
    int64_t *shared;
    int64_t *area;       /* member 0's area */
    uint32_t area_words; /* distance between members' areas */
    uint32_t line_words; /* words per cache line */
    const schedule_host *host;
} schedule_loop;

typedef struct schedule {
    const char *name;                     /* as written by users */
    const char *family;                   /* for lists: "OpenMP", "central queue", "affinity", .. */
    const char *title;                    /* one line */
    const char *reference;                /* publication */
    const schedule_parameter *parameters; /* ends with an entry without a name; NULL: none */
    /* words in the shared area and in each member's; NULL: none */
    uint32_t (*shared_words)(const schedule_loop *loop);
    uint32_t (*member_words)(const schedule_loop *loop);
    void (*begin)(schedule_loop *loop); /* called by the first member to arrive; or NULL */
    void (*enter)(schedule_loop *loop, schedule_member *member); /* called by each member; or NULL */
    /* Gets the next iterations, never an empty chunk; false: none left for this member. */
    bool (*next)(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk);
    /* `count` iterations of the chunk took `ticks`; or NULL */
    void (*done)(schedule_loop *loop, schedule_member *member, const schedule_chunk *chunk, uint64_t count,
                 uint64_t ticks);
    void (*end)(schedule_loop *loop); /* called by the last member when nothing is left; or NULL */
} schedule;

/* Ends a schedule of your own: SCHEDULE(.name = "mine", .title = "..", .next = next, ..) */
#define SCHEDULE(...)                                                                                        \
    const int scalegraph_schedule_abi = SCHEDULE_ABI;                                                        \
    const schedule scalegraph_schedule = {__VA_ARGS__}

/* ---- shorthands ---- */

static inline int64_t *schedule_area(const schedule_loop *loop, uint32_t member)
{
    return loop->area + (uint64_t)member * loop->area_words;
}

static inline int64_t schedule_read(schedule_loop *loop, const int64_t *at)
{
    return loop->host->read(loop, at);
}

static inline void schedule_write(schedule_loop *loop, int64_t *at, int64_t value)
{
    loop->host->write(loop, at, value);
}

static inline int64_t schedule_add(schedule_loop *loop, int64_t *at, int64_t value)
{
    return loop->host->add(loop, at, value);
}

static inline void schedule_lock(schedule_loop *loop, int64_t *at)
{
    loop->host->lock(loop, at);
}

static inline void schedule_unlock(schedule_loop *loop, int64_t *at)
{
    loop->host->unlock(loop, at);
}

static inline uint64_t schedule_ceil(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static inline uint64_t schedule_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* For schedule_take: advances a counter, but never beyond the number of iterations. */
static inline int64_t schedule_advance(int64_t position, const void *argument)
{
    const uint64_t *limit = (const uint64_t *)argument;
    return position + (int64_t)schedule_least(limit[0], limit[1] - (uint64_t)position);
}

/* Takes the next `size` iterations from a shared counter at `at`. */
static inline bool schedule_take(schedule_loop *loop, int64_t *at, uint64_t size, schedule_chunk *chunk)
{
    const uint64_t limit[2] = {size, loop->iterations};
    uint64_t first = (uint64_t)loop->host->apply(loop, at, schedule_advance, limit);
    *chunk = (schedule_chunk){.first = first,
                              .count = schedule_least(size, loop->iterations - first),
                              .step = 1,
                              .owner = UINT32_MAX};
    return chunk->count > 0;
}

/* Reals in memory are stored as their bits. */
static inline int64_t schedule_bits(double value)
{
    int64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double schedule_real(int64_t bits)
{
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

#endif

/* A schedule of worksharing loops: who executes which iterations, and when that is decided.
 *
 * One file is one schedule. The same file runs in the simulator, where each use of the memory below is a
 * reference of the simulated machine with the cost that it has there, and natively on the computer itself.
 * A file of one's own ends with SCHEDULE(...) and goes to `--schedule FILE.c,parameter=value`.
 *
 * Iterations are numbered 0 .. iterations-1, whatever type and direction the loop has. The members of the
 * team share an area of memory; each member has an area of its own in it, on lines that no other one has.
 * Both are zero before the loop is executed for the first time, and the same memory serves the next
 * executions of the same loop by as many members (`executions` counts them), so that a schedule may learn. */
#ifndef SCALEGRAPH_SCHEDULE_H
#define SCALEGRAPH_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_ABI        1
#define SCHEDULE_PARAMETERS 8
#define SCHEDULE_WORDS      6 /* of a member that cost no reference: its registers */

/* value: what the parameter is unless the user says otherwise: a product of numbers, N (iterations) and P
 * (members) with powers, as N/P^2. */
typedef struct schedule_parameter {
    const char *name, *value;
    double least, most;
    const char *help;
} schedule_parameter;

/* Iterations first, first + step, .. (count of them), which the member executes next. `single`: they are
 * handed out one by one, and `done` is called after each. The rest is for reports. */
typedef struct schedule_chunk {
    uint64_t first, count, step;
    uint32_t owner; /* member whose they were */
    bool single;
    int32_t state;    /* of the member's load: -1 light, 0 normal, 1 heavy */
    uint64_t control; /* chunk-size control k; 0: there is none */
} schedule_chunk;

/* A member in one execution of the loop; words and reals are 0 at its beginning. */
typedef struct schedule_member {
    uint32_t number;
    int64_t word[SCHEDULE_WORDS];
    double real[SCHEDULE_WORDS];
} schedule_member;

struct schedule_loop;

/* What the memory's owner serves. All are made by the member that calls. */
typedef struct schedule_host {
    int64_t (*read)(struct schedule_loop *loop, const int64_t *at);
    void (*write)(struct schedule_loop *loop, int64_t *at, int64_t value);
    int64_t (*add)(struct schedule_loop *loop, int64_t *at, int64_t value); /* returns the value before */
    /* *at becomes function(*at, argument), in one step; returns the value before */
    int64_t (*apply)(struct schedule_loop *loop, int64_t *at, int64_t (*function)(int64_t, const void *),
                     const void *argument);
    void (*lock)(struct schedule_loop *loop, int64_t *at); /* *at is the lock and nothing else */
    void (*unlock)(struct schedule_loop *loop, int64_t *at);
    void (*work)(struct schedule_loop *loop, uint64_t instructions); /* beyond what a decision costs anyway */
    uint64_t (*clock)(struct schedule_loop *loop);                   /* ticks since any time */
} schedule_host;

typedef struct schedule_loop {
    uint64_t iterations;
    uint32_t members;
    uint64_t chunk;                        /* chunk size that loop or user gives; 0: none */
    double parameter[SCHEDULE_PARAMETERS]; /* in the order in which they are declared */
    uint64_t executions;                   /* of this loop before this one */
    int64_t *shared;
    int64_t *area;       /* of member 0 */
    uint32_t area_words; /* from one member's area to the next one's */
    uint32_t line_words; /* numbers in one line of memory */
    const schedule_host *host;
} schedule_loop;

typedef struct schedule {
    const char *name;                     /* as a user writes it */
    const char *family;                   /* for lists: "OpenMP", "central queue", "affinity", .. */
    const char *title;                    /* one line */
    const char *reference;                /* where it is published */
    const schedule_parameter *parameters; /* ended by one without a name; NULL: none */
    /* numbers in the shared area and in each member's; NULL: none */
    uint32_t (*shared_words)(const schedule_loop *loop);
    uint32_t (*member_words)(const schedule_loop *loop);
    void (*begin)(schedule_loop *loop);                          /* the first member to come; or NULL */
    void (*enter)(schedule_loop *loop, schedule_member *member); /* each member; or NULL */
    /* The next iterations; false: there are none for this member any more. Never an empty chunk. */
    bool (*next)(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk);
    /* `count` iterations of the chunk are done, in `ticks`; or NULL */
    void (*done)(schedule_loop *loop, schedule_member *member, const schedule_chunk *chunk, uint64_t count,
                 uint64_t ticks);
    void (*end)(schedule_loop *loop); /* the last member, when nothing is left; or NULL */
} schedule;

/* What a file of one's own ends with: SCHEDULE(.name = "mine", .title = "..", .next = next, ..) */
#define SCHEDULE(...)                                                                                        \
    const int scalegraph_schedule_abi = SCHEDULE_ABI;                                                        \
    const schedule scalegraph_schedule = {__VA_ARGS__}

/* ---- shorter ways to write it ---- */

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

/* For schedule_take: a counter that never passes the number of iterations. */
static inline int64_t schedule_advance(int64_t position, const void *argument)
{
    const uint64_t *limit = (const uint64_t *)argument;
    return position + (int64_t)schedule_least(limit[0], limit[1] - (uint64_t)position);
}

/* Takes the next `size` iterations that a shared counter at `at` has not given out yet. */
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

/* Real numbers in memory: their bits. */
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

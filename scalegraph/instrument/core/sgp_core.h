/* Shared parts of the pipeline model: sgp_core.c computes the times of steps, sgp_known.c tracks values. */
#ifndef SGP_CORE_H
#define SGP_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EPSILON   1e-9
#define REGISTERS 1024
#define CLASSES   32
#define ORIGINS   4   /* loads that a value is known to depend on, the latest ones */
#define MERGED    160 /* more than an instruction can depend on before the latest are chosen */

enum {
    LOADS = 1,
    STORES = 2,
    SELECTS = 4,
    COMPARES = 8,
    TAKEN = 16,
    IS_VECTOR = 32,
    HAS_PLACE = 64,
    COPIES = 128,
    FAR = 256,   /* a jump into a library */
    STATUS = 512 /* reads the status of floating-point operations */
};

/* What pipeline.py writes for each step, before the numbers of its registers, operations and hooks. */
typedef struct head {
    double slots;
    int64_t flags, line;
    int64_t base, index, scale, offset;
    int64_t copy_to, copy_from, copy_more;
    int64_t reads, writes, clobbers, works, sites; /* counts of the numbers that follow */
} head;

/* The processor, as given by pipeline.py. */
typedef struct sgp_processor {
    double slot, load, mixed, selecting, comparing, taken, far, status, line, add_on, forward, forward_fp;
    double costs[CLASSES], latencies[CLASSES];
    int64_t window, scheduler, fp_scheduler;
    int64_t load_class, store_class, branch_class, call_class, divide_class, root_class; /* of operations */
    int64_t add_class;
    int64_t mixed_classes, fp_classes; /* bit sets */
} sgp_processor;

typedef struct step {
    const head *of;
    const int64_t *reads, *writes, *clobbers, *works, *sites;
} step;

/* A unit that does one cycle's work per cycle, at any free time. */
typedef struct unit {
    double *used; /* by cycle */
    int64_t room;
    int64_t full; /* before this cycle it is fully used */
} unit;

typedef struct origin {
    int64_t site;
    double cycles;
} origin;

typedef struct origins {
    int32_t count;
    origin at[2 * ORIGINS];
} origins;

/* What several values together depend on. */
typedef struct merge {
    int count;
    origin at[MERGED];
} merge;

/* A place in memory as the model sees it: the numbers of two unknown values, a scale and an offset. */
typedef struct key {
    int64_t base, index, scale, offset;
} key;

typedef struct stored {
    key at;
    double time;
    bool is_used, has_origins;
    origins from;
} stored;

typedef struct found {
    int64_t site;
    bool has_address, recurs;
    origins address;
    double cycles;
} found;

typedef struct value {
    int64_t number, more; /* of an unknown value, and a constant added to it */
} value;

/* Start times of the operations in a scheduler, as a heap. */
typedef struct queue {
    double *at;
    int64_t count, room;
} queue;

typedef struct core {
    const sgp_processor *p;
    unit units[CLASSES], both;
    double ready[REGISTERS];
    bool added[REGISTERS]; /* by an addition, so that another addition may begin sooner */
    value values[REGISTERS];
    int64_t arguments[REGISTERS]; /* register values on entry to the function; 0: not known yet */
    bool known[REGISTERS], written[REGISTERS];
    origins from[REGISTERS];
    stored *memory;
    uint64_t memory_room, memory_count;
    found *sites;
    int64_t sites_count, sites_room;
    bool follows_loads; /* records which instructions depend on which load */
    int64_t unknown, line;
    double issued, group, follows, retired, done;
    double predicted; /* when the jump predictor, which runs ahead of the fetch, knows the path */
    bool jumped;
    double *under_way; /* retirement times of those in the window */
    int64_t first, in_window;
    queue waiting, fp_waiting;
    double fp_entered; /* when the last operation came into the scheduler of floating-point ones */
    bool lacks_memory;
} core;

static inline double larger(double a, double b)
{
    return b > a ? b : a;
}

/* ---- sgp_known.c ---- */

/* Makes room for `count` items in an array; new room is zeroed. False if the host is out of memory, which the
 * core records. */
#define HOLD(c, array, room, count)                                                                          \
    ((count) <= (room) || sgp_hold(c, (void **)&(array), &(room), count, sizeof *(array)))
bool sgp_hold(core *c, void **array, int64_t *room, int64_t count, size_t size);
/* Which unknown value a register holds, and a constant added to it. */
value sgp_value(core *c, int64_t name);
key sgp_place(core *c, const head *h);
/* What is known of a place that was stored to; NULL: nothing. */
stored *sgp_stored(const core *c, key k);
stored *sgp_store(core *c, key k);
/* What the values of several registers together depend on. */
void sgp_merge(const core *c, const int64_t *names, int64_t count, merge *m);
/* Records which earlier loads the step depends on, and what then depends on the step. */
void sgp_follow(core *c, const step *s, const key *place);

#endif

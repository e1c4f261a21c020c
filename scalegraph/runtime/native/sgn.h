/* Loop schedules on the real computer: interposed before libgomp, from the same files as in the simulator. */
#ifndef SGN_H
#define SGN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "scalegraph_schedule.h"
#include "sg_schedules.h"

enum { SGN_LINE_WORDS = 16 }; /* 128 bytes: two lines, which processors fetch together */
enum { SGN_SPINS = 64 };      /* before a waiting thread yields */

/* ---- sgn_host.c ---- */

extern const schedule_host sgn_host;
void sgn_acquire(int64_t *lock);
void sgn_release(int64_t *lock);
/* Ticks since an arbitrary time. */
uint64_t sgn_ticks(void);

/* ---- sgn_memory.c: what a schedule keeps between executions of a loop ---- */

typedef struct sgn_memory {
    struct sgn_memory *next;
    const void *site;
    const schedule *schedule;
    uint32_t members, shared_words, area_words;
    uint64_t iterations, executions; /* of the previous execution */
    int64_t *number;                 /* the shared ones, then each member's */
    _Atomic uint64_t *seen;          /* bit set of iterations handed out by a user's own schedule */
    uint64_t seen_words;
} sgn_memory;

/* The memory in which `loop`'s schedule learns; sets shared, area and executions of the loop. */
sgn_memory *sgn_memory_take(schedule_loop *loop, const schedule *schedule, const void *site);
/* Returns it for the next execution; `whole`: this one was not cancelled. */
void sgn_memory_give(sgn_memory *memory, bool whole);
/* Records the iterations of a chunk; ends the program if one was handed out before. */
void sgn_memory_see(sgn_memory *memory, const schedule_chunk *chunk);

/* ---- sgn_loop.c ---- */

/* A loop as the compiler passes it; unsigned arithmetic, `step` may hold a negative number's bits. */
typedef struct sgn_loop {
    const sg_chosen *chosen;
    uint64_t start, end, step, total, chunk;
    const void *site;
    bool ordered;
} sgn_loop;

typedef struct sgn_record sgn_record;

typedef struct sgn_team {
    int64_t lock;
    sgn_record *records; /* loops with a member in them */
} sgn_team;

typedef struct sgn_member {
    sgn_team *team;
    uint32_t number, members;
    uint64_t loops;     /* loops it has begun */
    sgn_record *record; /* its current loop; NULL: none, or one served by libgomp */
    schedule_member self;
    schedule_chunk chunk; /* the last one taken */
    uint64_t position, left, running, since, given;
    bool finished;
} sgn_member;

/* The running thread in its team; NULL: the team was started without our knowledge. */
sgn_member *sgn_self(void);
/* The running thread if it is in a loop that we serve, else NULL. */
sgn_member *sgn_in_loop(void);
/* Makes `member` the current one; returns the previous one, to be restored with sgn_become. */
sgn_member *sgn_become(sgn_member *member);
/* The member begins its next loop. */
void sgn_begin(sgn_member *m, const sgn_loop *loop);
/* The next iterations as values of the loop variable; false: none are left for this member. */
bool sgn_next(sgn_member *m, uint64_t *from, uint64_t *to);
/* Waits until all iterations before the member's are done; the loop is ordered. */
void sgn_wait_turn(const sgn_member *m);
/* The member leaves its loop, perhaps before its end. */
void sgn_leave(sgn_member *m);
/* All members have left the team. */
void sgn_disband(sgn_team *team);

/* ---- sgn_wanted.c ---- */

/* The user's choice for the loop at `site`; `runtime`: the loop says schedule(runtime). NULL: none. */
const sg_chosen *sgn_wanted(const void *site, bool runtime);

/* ---- sgn_team.c ---- */

/* Runs `function` in a team whose members all start in `loop` (NULL: in none). */
void sgn_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags,
                  const sgn_loop *loop);
/* The same for a loop served by libgomp; `parallel` is its function. */
void sgn_parallel_real(void (*parallel)(void (*)(void *), void *, unsigned, long, long, long, long, unsigned),
                       void (*function)(void *), void *data, unsigned threads, long start, long end,
                       long step, long chunk, unsigned flags);
void sgn_parallel_real_runtime(void (*parallel)(void (*)(void *), void *, unsigned, long, long, long,
                                                unsigned),
                               void (*function)(void *), void *data, unsigned threads, long start, long end,
                               long step, unsigned flags);

#endif

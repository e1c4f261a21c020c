/* Schedules of loops on this computer: served in front of libgomp, from the same files as in the simulator.
 */
#ifndef SGN_H
#define SGN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "scalegraph_schedule.h"
#include "sg_schedules.h"

enum { SGN_LINE_WORDS = 16 }; /* 128 bytes: two lines that processors fetch together */
enum { SGN_SPINS = 64 };      /* before a waiting thread lets others run */

/* ---- sgn_host.c ---- */

extern const schedule_host sgn_host;
void sgn_acquire(int64_t *lock);
void sgn_release(int64_t *lock);
/* Ticks since any time. */
uint64_t sgn_ticks(void);

/* ---- sgn_memory.c: what a schedule keeps from one execution of a loop to the next ---- */

typedef struct sgn_memory {
    struct sgn_memory *next;
    const void *site;
    const schedule *schedule;
    uint32_t members, shared_words, area_words;
    uint64_t iterations, executions; /* of the execution before */
    int64_t *number;                 /* the shared ones, then those of each member */
    _Atomic uint64_t *seen;          /* bit set of the iterations that a schedule of the user's own gave */
    uint64_t seen_words;
} sgn_memory;

/* Memory for `loop`, whose schedule learns in it; sets shared, area and executions of the loop. */
sgn_memory *sgn_memory_take(schedule_loop *loop, const schedule *schedule, const void *site);
/* For the next execution; `whole`: this one was not cancelled. */
void sgn_memory_give(sgn_memory *memory, bool whole);
/* Notes the iterations of a chunk; ends the program if one of them was given before. */
void sgn_memory_see(sgn_memory *memory, const schedule_chunk *chunk);

/* ---- sgn_loop.c ---- */

/* A loop as the compiler hands it over; unsigned arithmetic, `step` may be a negative number's bits. */
typedef struct sgn_loop {
    const sg_chosen *chosen;
    uint64_t start, end, step, total, chunk;
    const void *site;
    bool ordered;
} sgn_loop;

typedef struct sgn_record sgn_record;

typedef struct sgn_team {
    int64_t lock;
    sgn_record *records; /* loops in which somebody is */
} sgn_team;

typedef struct sgn_member {
    sgn_team *team;
    uint32_t number, members;
    uint64_t loops;     /* that it has begun */
    sgn_record *record; /* the loop in which it is; NULL: none, or one that libgomp serves */
    schedule_member self;
    schedule_chunk chunk; /* taken last */
    uint64_t position, left, running, since, given;
    bool finished;
} sgn_member;

/* The running thread in its team; NULL: somebody started the team whom we do not see. */
sgn_member *sgn_self(void);
/* The running thread if it is in a loop that we serve, else NULL. */
sgn_member *sgn_in_loop(void);
/* Enters `member` in the place of what is returned, for sgn_become to have it back. */
sgn_member *sgn_become(sgn_member *member);
/* The member begins its next loop. */
void sgn_begin(sgn_member *m, const sgn_loop *loop);
/* The next iterations as values of the loop variable; false: there are none for this member any more. */
bool sgn_next(sgn_member *m, uint64_t *from, uint64_t *to);
/* Waits until all iterations before those that the member has are done; the loop is ordered. */
void sgn_wait_turn(const sgn_member *m);
/* The member leaves its loop, maybe before its end. */
void sgn_leave(sgn_member *m);
/* All members have left the team. */
void sgn_disband(sgn_team *team);

/* ---- sgn_wanted.c ---- */

/* What the user wants for the loop at `site`; `runtime`: the loop says schedule(runtime). NULL: nothing. */
const sg_chosen *sgn_wanted(const void *site, bool runtime);

/* ---- sgn_team.c ---- */

/* Runs `function` in a team, each member of which is in `loop` already (NULL: in none). */
void sgn_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags,
                  const sgn_loop *loop);
/* The same in a loop that libgomp serves; `parallel` is its function. */
void sgn_parallel_real(void (*parallel)(void (*)(void *), void *, unsigned, long, long, long, long, unsigned),
                       void (*function)(void *), void *data, unsigned threads, long start, long end,
                       long step, long chunk, unsigned flags);
void sgn_parallel_real_runtime(void (*parallel)(void (*)(void *), void *, unsigned, long, long, long,
                                                unsigned),
                               void (*function)(void *), void *data, unsigned threads, long start, long end,
                               long step, unsigned flags);

#endif

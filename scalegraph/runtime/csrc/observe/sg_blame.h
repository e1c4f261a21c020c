/* What processors wait for: each cycle of waiting is kept where it was spent (sg_cost.c) and, where its cause
 * is known, a second time where it was caused. docs/SIMULATOR.md, "Blame", says what is charged to what.
 *
 * Serial code: while one processor alone has a thread, all others wait for what it does. Such a stretch
 * begins when the last of the others has come to rest and ends when one of them gets a thread again, or when
 * the lone one comes to a barrier or forks. During it executions of blocks are counted under other numbers,
 * sites and regions in other tables; the hooks do not know. In the end the waiting is distributed over what
 * the tables say.
 *
 * Forks and locks: a thread carries how long its path was held up by them (the path of who let it go on
 * last). Those who wait at a barrier for the last one to come wait for what its path has more of than theirs.
 *
 * Nothing here changes a clock or the order of the processors. */
#ifndef SG_BLAME_H
#define SG_BLAME_H

#include "sg_runtime.h"

void sg_blame_open(void);

/* ---- sg_sched.c ---- */

/* `p` alone has a thread: a stretch begins, at once or, with sg->lone_due set, at the clock sg->rest_since.
 */
void sg_blame_lone(sg_processor *p);
/* Another processor has had a thread since `when`, or the lone one has none any more. */
void sg_blame_end(uint64_t when);
/* `p` was charged `cycles` in `leaf`, waiting; `t` ended that, or the end of the program did (NULL). */
void sg_blame_wait(const sg_processor *p, const sg_thread *t, enum sg_leaf leaf, uint64_t cycles);
/* `p` has no thread from now on. */
void sg_blame_rests(sg_processor *p);

/* ---- sg_cost.c ---- */

/* The lone processor goes on in another region. */
void sg_blame_region(const sg_processor *p);
/* `executions` of block `number` by lone processors. */
void sg_blame_executions(uint32_t number, uint64_t executions);
/* Puts the tables together; may be called again when more has happened. */
void sg_blame_settle(void);

/* ---- barriers, forks, locks: for the running thread ---- */

/* It begins or ends what is no code of the program: passing a barrier, starting a team. */
void sg_blame_runtime(bool inside);
/* It lets `t` go on, which waits at a barrier: the `last` one to come, or one of those before. `complete`:
 * when all had come, where the rest is to be charged to the end of a parallel region; else SG_NEVER. */
void sg_blame_release(sg_thread *t, bool last, uint64_t complete);
/* Starts `t` as member of a team of the parallel region `region` at `site`; it has been doing so since
 * `from`. `waits`: t has nothing else to do. */
void sg_blame_start(sg_thread *t, uint64_t from, bool waits);
/* It has started all members. */
void sg_blame_started(uint64_t from);
/* It got a lock that it has wanted since `from`. */
void sg_blame_locked(uint64_t from);

/* ---- sg_result.c ---- */

/* Adds to `fault`, if it is empty, a sentence when what was caused is not what was waited. */
void sg_blame_check(char *fault, size_t size);
uint64_t sg_blame_put(struct sg_writer *w);
uint64_t sg_blamed_site_put(struct sg_writer *w);

#endif

/* Barriers and locks, in simulated memory (sg_sync.c, sg_lock.c). */
#ifndef SG_SYNC_H
#define SG_SYNC_H

#include "sg_sched.h"

typedef struct sg_barrier sg_barrier;
typedef struct sg_lock sg_lock;

/* How observers know the locks of critical and atomic sections without a variable. */
#define SG_LOCK_CRITICAL 1u
#define SG_LOCK_ATOMIC   2u

sg_barrier *sg_barrier_new(uint32_t members);
/* The barrier is the program's variable at `object`. */
void sg_barrier_name(sg_barrier *barrier, uint64_t object);
/* `member` is the caller's number in 0..members-1; costs go to `category`, waiting to idle_barrier. */
void sg_barrier_wait(sg_barrier *barrier, uint32_t member, enum sg_category category);
/* The same for members that are any threads; returns the number that this one got by coming so early. */
uint32_t sg_barrier_come(sg_barrier *barrier, enum sg_category category);

/* What the threads at a barrier do for the barrier's user. */
typedef struct sg_barrier_duty {
    void (*help)(void);   /* of a thread that was borrowed, before it waits again */
    void (*drain)(void);  /* of the last one to arrive, before it releases the others */
    bool (*tasks)(void);  /* is it for tasks that one waits there? */
    bool (*wanted)(void); /* are there tasks that one sees while one waits? */
} sg_barrier_duty;

void sg_barrier_employ(sg_barrier *barrier, const sg_barrier_duty *duty);
/* Does a phase of the program begin when all have come? */
void sg_barrier_bound(sg_barrier *barrier, bool bounds);
/* Takes a waiting thread out of the barrier, to be woken by the caller; NULL: none waits. */
sg_thread *sg_barrier_borrow(sg_barrier *barrier);
/* Whoever is at the barrier or comes to it passes, until it is mended when nobody is there any more. */
void sg_barrier_break(sg_barrier *barrier);
void sg_barrier_mend(sg_barrier *barrier);

sg_lock *sg_lock_new(uint64_t object);
/* The lock that belongs to the program's variable at `object`, made on first use. */
sg_lock *sg_lock_at(const void *object);
void sg_lock_forget(const void *object);
/* Test and set, whatever the machine's kind of lock; costs go to `category`, waiting to `wait`. */
void sg_lock_spin(sg_lock *lock, enum sg_category category, enum sg_category wait);
void sg_lock_unspin(sg_lock *lock, enum sg_category category);
/* For the running thread. */
void sg_lock_acquire(sg_lock *lock);
/* The same, at most until the clock `deadline`; false: it was in vain. */
bool sg_lock_acquire_until(sg_lock *lock, uint64_t deadline);
bool sg_lock_try(sg_lock *lock);
void sg_lock_release(sg_lock *lock);
/* Who comes after a holder that ends shall know. */
void sg_lock_make_robust(sg_lock *lock);
/* A robust lock that thread `id`, which ends, has still; not reported twice. NULL: there is none (any more).
 */
sg_lock *sg_lock_bequeathed(int32_t id, uint64_t *object);
/* Number of the thread that has it, or -1. */
int32_t sg_lock_holder(const sg_lock *lock);

/* Length of a line that no two variables of the simulated runtime share. */
uint64_t sg_line_bytes(void);
/* Addresses for the simulated runtime's own variables, whole lines, zero host memory; `own` says whose. */
uint64_t sg_variables_of(uint64_t lines, enum sg_own own);
static inline uint64_t sg_variables(uint64_t lines)
{
    return sg_variables_of(lines, SG_OWN_VARIOUS);
}

#endif

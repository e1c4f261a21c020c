/* Barriers and locks, in simulated memory (sg_sync.c, sg_lock.c). */
#ifndef SG_SYNC_H
#define SG_SYNC_H

#include "sg_runtime.h"

typedef struct sg_barrier sg_barrier;
typedef struct sg_lock sg_lock;

/* Names for observers of the locks of critical and atomic sections, which have no variable. */
#define SG_LOCK_CRITICAL 1u
#define SG_LOCK_ATOMIC   2u

sg_barrier *sg_barrier_new(uint32_t members);
/* The barrier belongs to the program's variable at `object`. */
void sg_barrier_name(sg_barrier *barrier, uint64_t object);
/* `member` is the caller's number, 0 to members - 1; costs go to `category`, waiting to idle_barrier. */
void sg_barrier_wait(sg_barrier *barrier, uint32_t member, enum sg_category category);
/* The same for arbitrary threads as members; returns this one's order of arrival. */
uint32_t sg_barrier_come(sg_barrier *barrier, enum sg_category category);

/* What threads at a barrier do for the barrier's user. */
typedef struct sg_barrier_duty {
    void (*help)(void);   /* of a borrowed thread, before it waits again */
    void (*drain)(void);  /* of the last one to arrive, before it releases the others */
    bool (*tasks)(void);  /* do they wait there for tasks? */
    bool (*wanted)(void); /* are there tasks that a waiting thread sees? */
} sg_barrier_duty;

void sg_barrier_employ(sg_barrier *barrier, const sg_barrier_duty *duty);
/* Does a phase of the program begin when all have arrived? */
void sg_barrier_bound(sg_barrier *barrier, bool bounds);
/* Removes a waiting thread from the barrier, for the caller to wake; NULL: none waits. */
sg_thread *sg_barrier_borrow(sg_barrier *barrier);
/* Whoever is at the barrier or reaches it passes, until it is empty and thereby restored. */
void sg_barrier_break(sg_barrier *barrier);
void sg_barrier_mend(sg_barrier *barrier);

sg_lock *sg_lock_new(uint64_t object);
/* Its name for observers, in place of its address: SG_LOCK_*. */
void sg_lock_name(sg_lock *lock, uint64_t name);
/* The lock of the program's variable at `object`, created on first use. */
sg_lock *sg_lock_at(const void *object);
void sg_lock_forget(const void *object);
/* Test and set, whatever kind of lock the machine has; costs go to `category`, waiting to `wait`. */
void sg_lock_spin(sg_lock *lock, enum sg_category category, enum sg_category wait);
void sg_lock_unspin(sg_lock *lock, enum sg_category category);
/* For the running thread. */
void sg_lock_acquire(sg_lock *lock);
/* The same, at most until the clock reaches `deadline`; false: timed out. */
bool sg_lock_acquire_until(sg_lock *lock, uint64_t deadline);
bool sg_lock_try(sg_lock *lock);
void sg_lock_release(sg_lock *lock);
/* If a holder ends, the next one is to be told. */
void sg_lock_make_robust(sg_lock *lock);
/* A robust lock still held by the ending thread `id`; each is reported once. NULL: none (left). */
sg_lock *sg_lock_bequeathed(int32_t id, uint64_t *object);
/* Number of its holder, or -1. */
int32_t sg_lock_holder(const sg_lock *lock);

#endif

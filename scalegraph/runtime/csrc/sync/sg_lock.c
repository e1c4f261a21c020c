/* Locks of the simulated runtime, built like its barriers (sg_sync.c) from accesses to simulated memory. */
#include "sg_sync.h"
#include "sg_table.h"

struct sg_lock {
    uint64_t object;  /* the program's variable, for reports */
    uint64_t name;    /* for what-if */
    uint64_t address; /* of the lock word */
    uint64_t serving; /* ticket lock: address of the second word */
    int32_t holder;   /* thread; -1: free */
    int32_t promised; /* test and set: the thread that must get it next, -1: any */
    uint32_t since;   /* that thread's ticket */
    uint32_t next_ticket, now_serving;
    uint32_t last;   /* queue lock: the last thread in the queue */
    bool robust;     /* of a robust mutex: its next holder learns that this one has ended */
    uint64_t traced; /* acquisitions recorded in a trace */
    sg_queue waiting;
    sg_queue timed; /* those with a timeout; they try again after every release */
};

sg_lock *sg_lock_new(uint64_t object)
{
    sg_lock *lock = sg_new(sizeof *lock);
    lock->object = object;
    lock->holder = -1;
    lock->promised = -1;
    lock->address = object != 0 ? object : sg_variables_of(1, SG_OWN_LOCK);
    lock->serving = sg_variables_of(1, SG_OWN_LOCK);
    lock->name = lock->address;
    return lock;
}

void sg_lock_name(sg_lock *lock, uint64_t name)
{
    lock->name = name;
}

sg_lock *sg_lock_at(const void *object)
{
    uint64_t key = (uint64_t)(uintptr_t)object;
    sg_table_entry *entry = sg_table_make(&sg->locks, key, 256);
    if (entry->pointer == NULL)
        entry->pointer = sg_lock_new(key);
    return entry->pointer;
}

static inline void report_step(sg_lock *lock, enum sg_lock_step step)
{
    if (SG_LIKELY(sg_observed.lock_step == NULL))
        return;
    lock->traced += step == SG_LOCK_STEP_ACQUIRED;
    sg_observe_lock_step(lock->object ? lock->object : lock->address, lock->traced, step);
}

/* The variable at `object` was destroyed or is about to be initialised: forgets any lock state. */
void sg_lock_forget(const void *object)
{
    sg_lock *lock = sg_lock_at(object);
    if (lock->waiting.head == NULL) {
        report_step(lock, SG_LOCK_STEP_RELEASED);
        lock->holder = -1;
        lock->promised = -1;
        lock->robust = false;
        lock->now_serving = lock->next_ticket;
    }
}

void sg_lock_make_robust(sg_lock *lock)
{
    lock->robust = true;
}

sg_lock *sg_lock_bequeathed(int32_t id, uint64_t *object)
{
    for (uint32_t i = 0; i < sg->locks.size; i++) {
        sg_lock *lock = sg->locks.entry[i].pointer;
        if (lock != NULL && lock->robust && lock->holder == id) {
            lock->robust = false;
            *object = sg->locks.entry[i].key;
            return lock;
        }
    }
    return NULL;
}

int32_t sg_lock_holder(const sg_lock *lock)
{
    return lock->holder;
}

static void wait_for(sg_lock *lock, enum sg_category wait)
{
    sg_queue_add(&lock->waiting, sg_self());
    sg_suspend(wait, lock->object ? lock->object : lock->address, lock->holder);
}

enum { PATIENCE = 8 }; /* times that a thread finds a released lock taken again */

static bool may_take(sg_lock *lock, uint32_t ticket, uint32_t *passed_over)
{
    int32_t me = (int32_t)sg_self()->id;
    if (*passed_over > PATIENCE && (lock->promised < 0 || (int32_t)(ticket - lock->since) < 0)) {
        lock->promised = me;
        lock->since = ticket;
    }
    ++*passed_over;
    return lock->holder < 0 && (lock->promised < 0 || lock->promised == me);
}

/* Whoever releases the lock has its line, and so takes it again before the others have seen it free. On a
 * real machine chance sooner or later ends that. The simulator is deterministic, so a program whose
 * processors poll under a lock would never reach the one that has work for them. So nobody is passed over for
 * ever: the thread that came first gets it next. */
void sg_lock_spin(sg_lock *lock, enum sg_category category, enum sg_category wait)
{
    uint32_t passed_over = 0, ticket = lock->next_ticket++;
    for (;;) {
        sg_touch(sg_now, lock->address, SG_RMW, category);
        if (may_take(lock, ticket, &passed_over))
            break;
        for (;;) {
            sg_touch(sg_now, lock->address, SG_READ, category);
            if (may_take(lock, ticket, &passed_over))
                break;
            wait_for(lock, wait);
        }
    }
    if (lock->promised == (int32_t)sg_self()->id)
        lock->promised = -1;
    lock->holder = (int32_t)sg_self()->id;
}

void sg_lock_unspin(sg_lock *lock, enum sg_category category)
{
    sg_touch(sg_now, lock->address, SG_WRITE, category);
    lock->holder = -1;
    sg_wake_all(&lock->waiting, sg_now->clock);
}

static void acquire_ticket(sg_lock *lock)
{
    sg_touch(sg_now, lock->address, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    uint32_t ticket = lock->next_ticket++;
    for (;;) {
        sg_touch(sg_now, lock->serving, SG_READ, SG_CATEGORY_PRIM_LOCK);
        if (lock->now_serving == ticket)
            break;
        wait_for(lock, SG_CATEGORY_IDLE_LOCK);
    }
    lock->holder = (int32_t)sg_self()->id;
}

static void acquire_queue(sg_lock *lock)
{
    sg_processor *p = sg_now;
    sg_thread *t = p->thread;
    sg_touch(p, lock->address, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    if (lock->holder < 0) {
        lock->holder = (int32_t)t->id;
        lock->last = t->id;
        return;
    }
    uint32_t before = lock->last;
    lock->last = t->id;
    t->ticket = lock->next_ticket++;
    sg_queue_add(&lock->waiting, t);
    sg_touch(p, sg->thread[before]->variable, SG_WRITE, SG_CATEGORY_PRIM_LOCK);
    sg_touch(p, t->variable, SG_READ, SG_CATEGORY_PRIM_LOCK);
    if (!t->granted)
        sg_suspend(SG_CATEGORY_IDLE_LOCK, lock->object ? lock->object : lock->address, lock->holder);
    sg_touch(sg_now, t->variable, SG_READ, SG_CATEGORY_PRIM_LOCK);
}

static void begin_operation(const sg_lock *lock)
{
    if (SG_UNLIKELY(sg_observed.lock_operation != NULL))
        sg_observe_lock_operation(lock->name, true);
}

/* `change`: 1 if the lock was acquired, 0 if not. */
static void end_operation(sg_lock *lock, int change)
{
    if (change > 0)
        report_step(lock, SG_LOCK_STEP_ACQUIRED);
    if (SG_LIKELY(sg_observed.lock_operation == NULL))
        return;
    sg_observe_lock_operation(lock->name, false);
    if (change > 0)
        sg_observe_lock_held(lock->name, true);
}

void sg_lock_acquire(sg_lock *lock)
{
    uint64_t from = sg_now->clock;
    begin_operation(lock);
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    sg_count(sg_now, SG_COUNTER_LOCKS, 1);
    switch (sg->config.lock) {
    case SG_LOCK_TICKET:
        acquire_ticket(lock);
        break;
    case SG_LOCK_QUEUE:
        acquire_queue(lock);
        break;
    default:
        sg_lock_spin(lock, SG_CATEGORY_PRIM_LOCK, SG_CATEGORY_IDLE_LOCK);
    }
    sg_observe_lock_taken(from);
    end_operation(lock, 1);
    sg_synchronise();
}

static bool try_lock(sg_lock *lock)
{
    sg_processor *p = sg_now;
    sg_charge_site(p, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    sg_touch(p, lock->address, SG_RMW, SG_CATEGORY_PRIM_LOCK);
    if (lock->holder >= 0 || lock->waiting.head != NULL)
        return false;
    if (sg->config.lock == SG_LOCK_TICKET) {
        if (lock->next_ticket != lock->now_serving)
            return false;
        lock->next_ticket++;
    }
    lock->holder = (int32_t)p->thread->id;
    lock->last = p->thread->id;
    sg_count(p, SG_COUNTER_LOCKS, 1);
    return true;
}

bool sg_lock_try(sg_lock *lock)
{
    uint64_t from = sg_now->clock;
    begin_operation(lock);
    bool taken = try_lock(lock);
    if (taken)
        sg_observe_lock_taken(from);
    end_operation(lock, taken);
    sg_synchronise();
    return taken;
}

bool sg_lock_acquire_until(sg_lock *lock, uint64_t deadline)
{
    while (!sg_lock_try(lock)) {
        if (sg_now->clock >= deadline)
            return false;
        sg_queue_add(&lock->timed, sg_self());
        if (!sg_suspend_until(SG_CATEGORY_IDLE_LOCK, lock->object ? lock->object : lock->address,
                              lock->holder, deadline))
            return false;
    }
    return true;
}

/* Hands the queue lock to the thread that has waited longest. */
static void release_queue(sg_lock *lock)
{
    sg_processor *p = sg_now;
    if (lock->waiting.head == NULL) {
        sg_touch(p, lock->address, SG_RMW, SG_CATEGORY_PRIM_LOCK);
        if (lock->waiting.head == NULL) {
            lock->holder = -1;
            return;
        }
    }
    sg_thread *next = lock->waiting.head;
    sg_touch(p, next->variable, SG_WRITE, SG_CATEGORY_PRIM_LOCK);
    sg_queue_take(&lock->waiting);
    lock->holder = (int32_t)next->id;
    next->granted = true;
    for (sg_thread *q = lock->waiting.head; q != NULL; q = q->next_waiting)
        q->wait_holder = (int32_t)next->id;
    if (next->state == SG_BLOCKED)
        sg_wake(next, p->clock);
}

void sg_lock_release(sg_lock *lock)
{
    sg_processor *p = sg_now;
    if (SG_UNLIKELY(sg_observed.lock_held != NULL))
        sg_observe_lock_held(lock->name, false);
    begin_operation(lock);
    sg_charge_site(p, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    report_step(lock, SG_LOCK_STEP_RELEASED); /* the next holder gets it later */
    switch (sg->config.lock) {
    case SG_LOCK_TICKET:
        sg_touch(p, lock->serving, SG_WRITE, SG_CATEGORY_PRIM_LOCK);
        lock->now_serving++;
        lock->holder = -1;
        sg_wake_all(&lock->waiting, p->clock);
        break;
    case SG_LOCK_QUEUE:
        release_queue(lock);
        break;
    default:
        sg_lock_unspin(lock, SG_CATEGORY_PRIM_LOCK);
    }
    sg_wake_all(&lock->timed, p->clock);
    end_operation(lock, 0);
}

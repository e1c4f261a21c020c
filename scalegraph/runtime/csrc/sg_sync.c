/* Barriers and locks of the simulated runtime.
 *
 * They are made of reads, writes and read-modify-writes on addresses of simulated memory, so that hot
 * spots, invalidations and network traffic cost what the machine makes them cost. Between sg_touch and
 * the change of the variable it stands for nobody else runs: the two are one atomic step. */
#include "sg_omp.h"
#include "sg_whatif.h"
#include "sg_variable.h"

uint64_t sg_variables_of(uint64_t lines, enum sg_own own)
{
    uint64_t address = SG_VARIABLE_BASE + sg->next_variable, bytes = lines * sg_line_bytes();
    sg->next_variable += bytes;
    sg_variable_own(address, bytes, own);
    return address;
}

uint64_t sg_line_bytes(void)
{
    return sg->line_bytes > sg->config.coherence_line_bytes ? sg->line_bytes
                                                            : sg->config.coherence_line_bytes;
}

/* ---- barriers ---- */

typedef struct node {
    uint32_t expected, arrived;
    uint64_t generation;
    uint64_t counter, flag; /* addresses of two lines */
    uint64_t object;        /* what waiting threads say that they wait for */
    sg_queue waiting;
    struct node *parent;
    sg_lock *lock; /* a simple barrier's, of the counter */
} node;

struct sg_barrier {
    uint32_t members;
    uint32_t radix;
    uint32_t nodes_count;
    uint32_t waiting; /* threads in the nodes' queues */
    bool broken;
    const sg_barrier_duty *duty;
    uint64_t hardware_last; /* latest arrival */
    node *nodes;            /* the leaves of the tree first; a central barrier is one node */
    uint64_t come;          /* arrivals so far, of members without numbers */
};

sg_barrier *sg_barrier_new(uint32_t members)
{
    sg_barrier *barrier = sg_new(sizeof *barrier);
    uint32_t radix = members;
    if (sg->config.barrier == SG_BARRIER_TREE && sg->config.barrier_radix >= 2)
        radix = sg->config.barrier_radix;
    barrier->members = members;
    barrier->radix = radix;
    uint32_t total = 0;
    for (uint32_t width = members;; width = (width + radix - 1) / radix) {
        total += (width + radix - 1) / radix;
        if (width <= radix)
            break;
    }
    barrier->nodes = sg_new(total * sizeof(node));
    barrier->nodes_count = total;
    uint32_t first = 0, width = members;
    for (;;) {
        uint32_t here = (width + radix - 1) / radix;
        for (uint32_t i = 0; i < here; i++) {
            node *n = &barrier->nodes[first + i];
            n->expected = i + 1 < here || width % radix == 0 ? radix : width % radix;
            n->counter = sg_variables_of(2, SG_OWN_BARRIER);
            n->flag = n->counter + sg_line_bytes();
            n->lock = sg->config.barrier == SG_BARRIER_SIMPLE ? sg_lock_new(0) : NULL;
            n->object = n->counter;
            n->parent = here > 1 ? &barrier->nodes[first + here + i / radix] : NULL;
        }
        if (here == 1)
            return barrier;
        first += here;
        width = here;
    }
}

void sg_barrier_name(sg_barrier *barrier, uint64_t object)
{
    node *n = barrier->nodes;
    if (n->parent == NULL)
        n->counter = object; /* the one counter is in the variable */
    for (n->object = object; n->parent != NULL; n->object = object)
        n++;
}

void sg_barrier_employ(sg_barrier *barrier, const sg_barrier_duty *duty)
{
    barrier->duty = duty;
}

sg_thread *sg_barrier_borrow(sg_barrier *barrier)
{
    for (uint32_t i = 0; i < barrier->nodes_count && barrier->waiting > 0; i++)
        if (barrier->nodes[i].waiting.head != NULL) {
            barrier->waiting--;
            return sg_queue_take(&barrier->nodes[i].waiting);
        }
    return NULL;
}

static void release(sg_barrier *barrier, node *n)
{
    for (sg_thread *t; (t = sg_queue_take(&n->waiting)) != NULL; barrier->waiting--)
        sg_wake(t, sg_now->clock);
}

void sg_barrier_break(sg_barrier *barrier)
{
    barrier->broken = true;
    for (uint32_t i = 0; i < barrier->nodes_count; i++)
        release(barrier, &barrier->nodes[i]);
}

void sg_barrier_mend(sg_barrier *barrier)
{
    barrier->broken = false;
    barrier->hardware_last = 0;
    for (uint32_t i = 0; i < barrier->nodes_count; i++)
        barrier->nodes[i].arrived = 0;
}

/* Waits at `n` until it is released; helps meanwhile when asked to. */
static void wait_at(sg_barrier *barrier, node *n, uint64_t generation)
{
    const sg_barrier_duty *duty = barrier->duty;
    while (n->generation <= generation && !barrier->broken) {
        sg_queue_add(&n->waiting, sg_self());
        barrier->waiting++;
        sg_suspend(duty != NULL && duty->tasks() ? SG_LEAF_IDLE_TASK : SG_LEAF_IDLE_BARRIER, n->object, -1);
        if (duty != NULL && n->generation <= generation && !barrier->broken) {
            duty->help();
            if (barrier->hardware_last < sg_now->clock && n->generation <= generation)
                barrier->hardware_last = sg_now->clock;
        }
    }
}

/* As a round: the one that the node is in. Whoever comes in no fixed order may come to a node that has yet to
 * release the round before. */
#define NEXT UINT64_MAX

/* Arrives at `n`; the last one to arrive goes on to the parent and comes back to release the others. */
static void climb(sg_barrier *barrier, node *n, uint64_t round, enum sg_leaf leaf)
{
    uint64_t generation = round == NEXT ? n->generation : round;
    sg_touch(sg_now, n->counter, SG_RMW, leaf);
    if (SG_UNLIKELY(barrier->broken))
        return;
    if (++n->arrived == n->expected) {
        n->arrived = 0;
        if (n->parent != NULL)
            climb(barrier, n->parent, round, leaf);
        else if (barrier->duty != NULL)
            barrier->duty->drain();
        sg_touch(sg_now, n->flag, SG_WRITE, leaf);
        n->generation++;
        release(barrier, n);
        return;
    }
    sg_touch(sg_now, n->flag, SG_READ, leaf); /* spins on its own copy from here on */
    wait_at(barrier, n, generation);
    sg_touch(sg_now, n->flag, SG_READ, leaf);
}

static void acquire_test_and_set(sg_lock *lock, enum sg_leaf leaf, enum sg_leaf wait);
static void release_test_and_set(sg_lock *lock, enum sg_leaf leaf);

/* A counter under a lock, and all who wait watch the counter: every arrival takes their copies away and they
 * fetch it again, so one barrier invalidates about half as many copies as there are pairs of processors. */
static void watch_counter(node *n, enum sg_leaf leaf)
{
    uint64_t generation = n->generation;
    acquire_test_and_set(n->lock, leaf, SG_LEAF_IDLE_BARRIER);
    sg_touch(sg_now, n->counter, SG_READ, leaf);
    sg_touch(sg_now, n->counter, SG_WRITE, leaf);
    bool last = ++n->arrived == n->expected;
    if (last) {
        n->arrived = 0;
        n->generation++;
    }
    sg_wake_all(&n->waiting, sg_now->clock);
    release_test_and_set(n->lock, leaf);
    while (!last) {
        sg_touch(sg_now, n->counter, SG_READ, leaf);
        if (n->generation != generation)
            return;
        sg_queue_add(&n->waiting, sg_self());
        sg_suspend(SG_LEAF_IDLE_BARRIER, n->object, -1);
    }
}

static void hardware(sg_barrier *barrier, uint64_t round)
{
    node *n = barrier->nodes;
    sg_turn(sg_now);
    if (SG_UNLIKELY(barrier->broken))
        return;
    if (barrier->hardware_last < sg_now->clock)
        barrier->hardware_last = sg_now->clock;
    if (++n->arrived < n->expected) {
        wait_at(barrier, n, round == NEXT ? n->generation : round);
        return;
    }
    n->arrived = 0;
    if (barrier->duty != NULL)
        barrier->duty->drain();
    sg_processor *p = sg_now;
    uint64_t last = barrier->hardware_last;
    barrier->hardware_last = 0;
    if (last > p->clock)
        sg_charge_site(p, SG_LEAF_IDLE_BARRIER, last - p->clock);
    sg_charge_site(p, SG_LEAF_PRIM_BARRIER, sg->config.barrier_hardware_cycles);
    n->generation++;
    release(barrier, n);
}

static void arrive(sg_barrier *barrier, uint32_t member, uint64_t round, enum sg_leaf leaf)
{
    sg_charge_site(sg_now, leaf, sg->config.barrier_cycles);
    sg_count(sg_now, SG_COUNTER_BARRIERS, 1);
    if (barrier->members <= 1)
        return;
    if (sg->config.barrier == SG_BARRIER_HARDWARE)
        hardware(barrier, round);
    else if (sg->config.barrier == SG_BARRIER_SIMPLE)
        watch_counter(barrier->nodes, leaf);
    else
        climb(barrier, &barrier->nodes[member / barrier->radix], round, leaf);
}

void sg_barrier_wait(sg_barrier *barrier, uint32_t member, enum sg_leaf leaf)
{
    arrive(barrier, member, NEXT, leaf);
}

uint32_t sg_barrier_come(sg_barrier *barrier, enum sg_leaf leaf)
{
    uint64_t number = barrier->come++;
    uint32_t member = (uint32_t)(number % barrier->members);
    arrive(barrier, member, number / barrier->members, leaf);
    return member;
}

/* ---- locks ---- */

struct sg_lock {
    uint64_t object;  /* the program's variable, for reports */
    uint64_t address; /* of the lock word */
    uint64_t serving; /* ticket lock: address of the second word */
    int32_t holder;   /* thread; -1: free */
    int32_t promised; /* test and set: the thread that must get it next, -1: any */
    uint32_t since;   /* ticket of that one */
    uint32_t next_ticket, now_serving;
    uint32_t last; /* queue lock: thread at the end of the queue */
    sg_queue waiting;
    sg_queue timed; /* those that will not wait for ever; they try again after every release */
};

/* Locks by the address of the program's variable: open addressing. */
typedef struct sg_locks {
    uint64_t *key;
    sg_lock **lock;
    uint32_t size, used;
} sg_locks;

sg_lock *sg_lock_new(uint64_t object)
{
    sg_lock *lock = sg_new(sizeof *lock);
    lock->object = object;
    lock->holder = -1;
    lock->promised = -1;
    lock->address = object != 0 ? object : sg_variables_of(1, SG_OWN_LOCK);
    lock->serving = sg_variables_of(1, SG_OWN_LOCK);
    return lock;
}

static uint32_t slot_of(const sg_locks *locks, uint64_t key)
{
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & (locks->size - 1);
    while (locks->key[at] != 0 && locks->key[at] != key)
        at = (at + 1) & (locks->size - 1);
    return at;
}

static void grow(sg_locks *locks)
{
    sg_locks old = *locks;
    locks->size = old.size ? 2 * old.size : 256;
    locks->key = sg_new(locks->size * sizeof(uint64_t));
    locks->lock = sg_new(locks->size * sizeof(sg_lock *));
    for (uint32_t i = 0; i < old.size; i++)
        if (old.key[i] != 0) {
            uint32_t at = slot_of(locks, old.key[i]);
            locks->key[at] = old.key[i];
            locks->lock[at] = old.lock[i];
        }
}

sg_lock *sg_lock_at(const void *object)
{
    if (sg->locks == NULL)
        sg->locks = sg_new(sizeof *sg->locks);
    sg_locks *locks = sg->locks;
    if (2 * locks->used >= locks->size)
        grow(locks);
    uint64_t key = (uint64_t)(uintptr_t)object;
    uint32_t at = slot_of(locks, key);
    if (locks->key[at] == 0) {
        locks->key[at] = key;
        locks->lock[at] = sg_lock_new(key);
        locks->used++;
    }
    return locks->lock[at];
}

/* The variable at `object` was destroyed or is about to be initialised: whatever held it is gone. */
void sg_lock_forget(const void *object)
{
    sg_lock *lock = sg_lock_at(object);
    if (lock->waiting.head == NULL) {
        lock->holder = -1;
        lock->promised = -1;
        lock->now_serving = lock->next_ticket;
    }
}

void sg_lock_each_held(int32_t id, void (*use)(uint64_t object, sg_lock *lock, void *data), void *data)
{
    sg_locks *locks = sg->locks;
    for (uint32_t i = 0; locks != NULL && i < locks->size; i++)
        if (locks->key[i] != 0 && locks->lock[i]->holder == id)
            use(locks->key[i], locks->lock[i], data);
}

int32_t sg_lock_holder(const sg_lock *lock)
{
    return lock->holder;
}

static void wait_for(sg_lock *lock, enum sg_leaf wait)
{
    sg_queue_add(&lock->waiting, sg_self());
    sg_suspend(wait, lock->object ? lock->object : lock->address, lock->holder);
}

enum { PATIENCE = 8 }; /* times a thread finds a lock taken again that was released meanwhile */

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

/* Whoever released the lock has its line and so takes it again before the others have seen it free. On a real
 * machine chance ends that sooner or later; here nothing is left to chance, and a program whose processors
 * poll under a lock would never see the one that has work for them. So nobody is passed over for ever: the
 * one that came first is next. */
static void acquire_test_and_set(sg_lock *lock, enum sg_leaf leaf, enum sg_leaf wait)
{
    uint32_t passed_over = 0, ticket = lock->next_ticket++;
    for (;;) {
        sg_touch(sg_now, lock->address, SG_RMW, leaf);
        if (may_take(lock, ticket, &passed_over))
            break;
        for (;;) {
            sg_touch(sg_now, lock->address, SG_READ, leaf);
            if (may_take(lock, ticket, &passed_over))
                break;
            wait_for(lock, wait);
        }
    }
    if (lock->promised == (int32_t)sg_self()->id)
        lock->promised = -1;
    lock->holder = (int32_t)sg_self()->id;
}

static void release_test_and_set(sg_lock *lock, enum sg_leaf leaf)
{
    sg_touch(sg_now, lock->address, SG_WRITE, leaf);
    lock->holder = -1;
    sg_wake_all(&lock->waiting, sg_now->clock);
}

static void acquire_ticket(sg_lock *lock)
{
    sg_touch(sg_now, lock->address, SG_RMW, SG_LEAF_PRIM_LOCK);
    uint32_t ticket = lock->next_ticket++;
    for (;;) {
        sg_touch(sg_now, lock->serving, SG_READ, SG_LEAF_PRIM_LOCK);
        if (lock->now_serving == ticket)
            break;
        wait_for(lock, SG_LEAF_IDLE_LOCK);
    }
    lock->holder = (int32_t)sg_self()->id;
}

static void acquire_queue(sg_lock *lock)
{
    sg_processor *p = sg_now;
    sg_thread *t = p->thread;
    sg_touch(p, lock->address, SG_RMW, SG_LEAF_PRIM_LOCK);
    if (lock->holder < 0) {
        lock->holder = (int32_t)t->id;
        lock->last = t->id;
        return;
    }
    uint32_t before = lock->last;
    lock->last = t->id;
    t->granted = false;
    t->ticket = lock->next_ticket++;
    sg_queue_add(&lock->waiting, t);
    sg_touch(p, sg->thread[before]->variable, SG_WRITE, SG_LEAF_PRIM_LOCK);
    sg_touch(p, t->variable, SG_READ, SG_LEAF_PRIM_LOCK);
    if (!t->granted)
        sg_suspend(SG_LEAF_IDLE_LOCK, lock->object ? lock->object : lock->address, lock->holder);
    sg_touch(sg_now, t->variable, SG_READ, SG_LEAF_PRIM_LOCK);
}

static uint64_t whatif_name(const sg_lock *lock)
{
    if (lock->object != 0)
        return lock->object;
    return lock == sg->omp->critical ? SG_LOCK_CRITICAL : SG_LOCK_ATOMIC;
}

static void begin_operation(const sg_lock *lock)
{
    if (SG_UNLIKELY(sg->whatif != NULL))
        sg_whatif_operation(whatif_name(lock), true);
}

/* `change`: 1 when the lock was acquired, 0 when not. */
static void end_operation(const sg_lock *lock, int change)
{
    if (SG_LIKELY(sg->whatif == NULL))
        return;
    sg_whatif_operation(whatif_name(lock), false);
    if (change > 0)
        sg_whatif_holds(whatif_name(lock), true);
}

void sg_lock_acquire(sg_lock *lock)
{
    begin_operation(lock);
    sg_charge_site(sg_now, SG_LEAF_PRIM_LOCK, sg->config.lock_cycles);
    sg_count(sg_now, SG_COUNTER_LOCKS, 1);
    switch (sg->config.lock) {
    case SG_LOCK_TICKET:
        acquire_ticket(lock);
        break;
    case SG_LOCK_QUEUE:
        acquire_queue(lock);
        break;
    default:
        acquire_test_and_set(lock, SG_LEAF_PRIM_LOCK, SG_LEAF_IDLE_LOCK);
    }
    end_operation(lock, 1);
}

static bool try_lock(sg_lock *lock)
{
    sg_processor *p = sg_now;
    sg_charge_site(p, SG_LEAF_PRIM_LOCK, sg->config.lock_cycles);
    sg_touch(p, lock->address, SG_RMW, SG_LEAF_PRIM_LOCK);
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
    begin_operation(lock);
    bool taken = try_lock(lock);
    end_operation(lock, taken);
    return taken;
}

bool sg_lock_acquire_until(sg_lock *lock, uint64_t deadline)
{
    while (!sg_lock_try(lock)) {
        if (sg_now->clock >= deadline)
            return false;
        sg_queue_add(&lock->timed, sg_self());
        if (!sg_suspend_until(SG_LEAF_IDLE_LOCK, lock->object ? lock->object : lock->address, lock->holder,
                              deadline))
            return false;
    }
    return true;
}

/* Hands the queue lock to the thread that has waited longest. */
static void release_queue(sg_lock *lock)
{
    sg_processor *p = sg_now;
    if (lock->waiting.head == NULL) {
        sg_touch(p, lock->address, SG_RMW, SG_LEAF_PRIM_LOCK);
        if (lock->waiting.head == NULL) {
            lock->holder = -1;
            return;
        }
    }
    sg_thread *next = lock->waiting.head;
    sg_touch(p, next->variable, SG_WRITE, SG_LEAF_PRIM_LOCK);
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
    if (SG_UNLIKELY(sg->whatif != NULL))
        sg_whatif_holds(whatif_name(lock), false);
    begin_operation(lock);
    sg_charge_site(p, SG_LEAF_PRIM_LOCK, sg->config.lock_cycles);
    switch (sg->config.lock) {
    case SG_LOCK_TICKET:
        sg_touch(p, lock->serving, SG_WRITE, SG_LEAF_PRIM_LOCK);
        lock->now_serving++;
        lock->holder = -1;
        sg_wake_all(&lock->waiting, p->clock);
        break;
    case SG_LOCK_QUEUE:
        release_queue(lock);
        break;
    default:
        release_test_and_set(lock, SG_LEAF_PRIM_LOCK);
    }
    sg_wake_all(&lock->timed, p->clock);
    end_operation(lock, 0);
}

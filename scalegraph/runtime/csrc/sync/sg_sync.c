/* Barriers of the simulated runtime.
 *
 * Barriers and locks (sg_lock.c) consist of reads, writes and read-modify-writes at addresses in simulated
 * memory, so hot spots, invalidations and network traffic cost what they would on the machine. Nobody else
 * runs between sg_touch and the change of the variable it stands for: the two are one atomic step. */
#include "sg_sync.h"

/* ---- barriers ---- */

typedef struct node {
    uint32_t expected, arrived;
    uint64_t generation;    /* rounds released so far */
    uint64_t complete;      /* rounds in which all have arrived */
    uint64_t counter, flag; /* addresses of two lines */
    uint64_t object;        /* what its waiting threads report as their object */
    sg_queue waiting;
    struct node *parent;
    sg_lock *lock; /* of a simple barrier: protects the counter */
} node;

struct sg_barrier {
    uint32_t members;
    uint32_t radix;
    uint32_t nodes_count;
    uint32_t waiting; /* threads in the nodes' queues */
    bool broken;
    const sg_barrier_duty *duty;
    uint64_t hardware_last; /* latest arrival */
    uint32_t hardware_by;   /* by this processor */
    node *nodes;            /* leaves of the tree first; a central barrier has one node */
    uint64_t come;          /* arrivals so far of members without numbers */
    uint32_t here;          /* members that have arrived in this round */
    uint64_t latest;        /* clock of the last arrival */
    enum sg_category kind;  /* of the barrier that the first of them reached */
    bool bounds;            /* whether it delimits phases of the program */
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
        n->counter = object; /* the only counter is in the variable */
    for (n->object = object; n->parent != NULL; n->object = object)
        n++;
}

void sg_barrier_employ(sg_barrier *barrier, const sg_barrier_duty *duty)
{
    barrier->duty = duty;
}

void sg_barrier_bound(sg_barrier *barrier, bool bounds)
{
    barrier->bounds = bounds;
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

/* `last`: all have arrived. */
static void release(sg_barrier *barrier, node *n, bool last)
{
    uint64_t complete = barrier->kind == SG_CATEGORY_PRIM_FORK_JOIN ? barrier->latest : SG_NEVER;
    for (sg_thread *t; (t = sg_queue_take(&n->waiting)) != NULL; barrier->waiting--) {
        sg_observed.releases(t, last, complete);
        sg_wake(t, sg_now->clock);
    }
}

/* The tasks run at the barrier are the program's code. */
static void do_duty(void (*what)(void))
{
    sg_observed.runtime(false);
    what();
    sg_observed.runtime(true);
}

void sg_barrier_break(sg_barrier *barrier)
{
    barrier->broken = true;
    for (uint32_t i = 0; i < barrier->nodes_count; i++)
        release(barrier, &barrier->nodes[i], false);
}

void sg_barrier_mend(sg_barrier *barrier)
{
    barrier->broken = false;
    barrier->here = 0;
    barrier->hardware_last = 0;
    for (uint32_t i = 0; i < barrier->nodes_count; i++)
        barrier->nodes[i].arrived = 0;
}

static void note_arrival(sg_barrier *barrier)
{
    if (barrier->hardware_last < sg_now->clock) {
        barrier->hardware_last = sg_now->clock;
        barrier->hardware_by = sg_now->id;
    }
}

/* Waits at `n` until it is released; helps meanwhile when asked to. */
static void wait_at(sg_barrier *barrier, node *n, uint64_t generation)
{
    const sg_barrier_duty *duty = barrier->duty;
    while (n->generation <= generation && !barrier->broken) {
        if (duty == NULL || !duty->wanted()) {
            sg_queue_add(&n->waiting, sg_self());
            barrier->waiting++;
            sg_suspend(duty != NULL && duty->tasks() ? SG_CATEGORY_IDLE_TASK : SG_CATEGORY_IDLE_BARRIER,
                       n->object, -1);
        }
        if (duty != NULL && n->generation <= generation && !barrier->broken) {
            do_duty(duty->help);
            if (n->generation <= generation)
                note_arrival(barrier);
        }
    }
}

/* As a round: the node's current one. A member without a fixed order may reach a node that has yet to release
 * the previous round. */
#define NEXT UINT64_MAX

/* Arrives at `n`; the last one to arrive continues to the parent and then comes back to release the
 * others. */
static void climb(sg_barrier *barrier, node *n, uint64_t round, enum sg_category category)
{
    uint64_t generation = round == NEXT ? n->generation : round;
    sg_touch(sg_now, n->counter, SG_RMW, category);
    if (SG_UNLIKELY(barrier->broken))
        return;
    if (++n->arrived == n->expected) {
        uint64_t complete = n->complete++;
        n->arrived = 0;
        if (n->parent != NULL)
            climb(barrier, n->parent, round == NEXT ? NEXT : complete, category);
        else if (barrier->duty != NULL)
            do_duty(barrier->duty->drain);
        sg_touch(sg_now, n->flag, SG_WRITE, category);
        n->generation++;
        release(barrier, n, true);
        if (n->parent == NULL)
            sg_charge_site(sg_now, category, sg->release_cycles);
        if (round != NEXT) /* it may have completed a round before its own */
            wait_at(barrier, n, round);
        return;
    }
    sg_touch(sg_now, n->flag, SG_READ, category); /* from here on it spins on its own copy */
    wait_at(barrier, n, generation);
    sg_touch(sg_now, n->flag, SG_READ, category);
}

/* A counter under a lock that all waiting threads watch: every arrival invalidates their copies and they
 * fetch it again, so one barrier invalidates about half as many copies as there are pairs of processors. */
static void watch_counter(sg_barrier *barrier, uint64_t round, enum sg_category category)
{
    node *n = barrier->nodes;
    const sg_barrier_duty *duty = barrier->duty;
    sg_lock_spin(n->lock, category, SG_CATEGORY_IDLE_BARRIER);
    sg_touch(sg_now, n->counter, SG_READ, category);
    sg_touch(sg_now, n->counter, SG_WRITE, category);
    uint64_t generation = round == NEXT ? n->generation : round;
    bool last = !barrier->broken && ++n->arrived == n->expected, tasks = duty != NULL && duty->tasks();
    if (last) {
        n->arrived = 0;
        if (duty != NULL && !tasks)
            do_duty(duty->drain);
        n->generation += !tasks;
    }
    release(barrier, n, last && !tasks);
    sg_lock_unspin(n->lock, category);
    while (!last || (round != NEXT && n->generation <= round)) {
        sg_touch(sg_now, n->counter, SG_READ, category);
        if (n->generation > generation || barrier->broken)
            return;
        if (duty == NULL || !duty->wanted()) {
            sg_queue_add(&n->waiting, sg_self());
            barrier->waiting++;
            sg_suspend(tasks ? SG_CATEGORY_IDLE_TASK : SG_CATEGORY_IDLE_BARRIER, n->object, -1);
        }
        if (duty != NULL && n->generation <= generation && !barrier->broken)
            do_duty(duty->help);
        tasks = duty != NULL && duty->tasks();
    }
    if (tasks) { /* the others run tasks too, and then find the counter changed again */
        do_duty(duty->drain);
        sg_touch(sg_now, n->counter, SG_WRITE, category);
        n->generation++;
        release(barrier, n, true);
    }
}

static void hardware(sg_barrier *barrier, uint64_t round)
{
    node *n = barrier->nodes;
    sg_turn(sg_now);
    if (SG_UNLIKELY(barrier->broken))
        return;
    note_arrival(barrier);
    if (++n->arrived < n->expected) {
        wait_at(barrier, n, round == NEXT ? n->generation : round);
        return;
    }
    n->arrived = 0;
    if (barrier->duty != NULL)
        do_duty(barrier->duty->drain);
    sg_processor *p = sg_now;
    uint64_t last = barrier->hardware_last;
    barrier->hardware_last = 0;
    if (last > p->clock) {
        sg_observe_waits();
        sg_charge_site(p, SG_CATEGORY_IDLE_BARRIER, last - p->clock);
        sg_observe_barrier_waited(n->object, barrier->hardware_by, last);
    }
    sg_charge_site(p, SG_CATEGORY_PRIM_BARRIER, sg->config.barrier_hardware_cycles);
    n->generation++;
    release(barrier, n, true);
    if (round != NEXT)
        wait_at(barrier, n, round);
}

/* Members that meet at different barriers of the program (one at an explicit barrier, another at the end of
 * the region) never meet: the later ones wait for ever. */
static void meet(sg_barrier *barrier, enum sg_category category)
{
    if (barrier->broken)
        return;
    if (barrier->here == 0)
        barrier->kind = category;
    while (barrier->kind != category)
        sg_suspend(SG_CATEGORY_IDLE_BARRIER, barrier->nodes[0].object, -1);
    if (++barrier->here == barrier->members)
        barrier->here = 0;
}

/* All have arrived. */
static void begin_phase(enum sg_category category)
{
    bool joins = category == SG_CATEGORY_PRIM_FORK_JOIN;
    sg_observe_phase(sg_phase_place(sg_now->site, joins ? SG_PHASE_JOIN : SG_PHASE_BARRIER));
}

static void arrive(sg_barrier *barrier, uint32_t member, uint64_t round, enum sg_category category)
{
    sg_observe_marks(SG_MARK_BARRIER, barrier->nodes[0].object);
    sg_charge_site(sg_now, category, sg->config.barrier_cycles);
    sg_count(sg_now, SG_COUNTER_BARRIERS, 1);
    if (barrier->members <= 1) {
        if (barrier->bounds)
            begin_phase(category);
        return;
    }
    sg_observe_runtime(true);
    if (sg_now->clock > barrier->latest)
        barrier->latest = sg_now->clock;
    meet(barrier, category);
    if (barrier->here == 0 && barrier->bounds)
        begin_phase(category);
    if (sg->config.barrier == SG_BARRIER_HARDWARE)
        hardware(barrier, round);
    else if (sg->config.barrier == SG_BARRIER_SIMPLE)
        watch_counter(barrier, round, category);
    else
        climb(barrier, &barrier->nodes[member / barrier->radix], round, category);
    sg_observe_runtime(false);
}

void sg_barrier_wait(sg_barrier *barrier, uint32_t member, enum sg_category category)
{
    arrive(barrier, member, NEXT, category);
    sg_synchronise();
}

uint32_t sg_barrier_come(sg_barrier *barrier, enum sg_category category)
{
    uint64_t number = barrier->come++;
    uint32_t member = (uint32_t)(number % barrier->members);
    arrive(barrier, member, number / barrier->members, category);
    sg_synchronise();
    return member;
}

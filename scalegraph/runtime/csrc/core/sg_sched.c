/* Which simulated processor runs, which thread runs on it, and on whose stack and thread pointer. */
#define SG_ARCH_DEFINE
#include "sg_arch.h"

#include "sg_deferred.h"
#include "sg_expect.h"
#include "sg_inline.h"
#include "sg_interrupt.h"
#include "sg_limit.h"
#include "sg_tick.h"

static void make_ready(sg_thread *t, uint64_t when);

/* Wakes every thread whose time has come. A message's effects were observed when its arrival became known. */
static void fire_timer(uint64_t now)
{
    sg_run_queue_set_timer(UINT64_MAX);
    sg->timer = UINT64_MAX;
    for (sg_thread *t; (t = sg->timed) != NULL && t->deadline <= now;) {
        t->timed_out = true;
        sg_queue_remove(t);
        if (t->by_message)
            make_ready(t, t->deadline);
        else
            sg_wake(t, t->deadline);
    }
    arm_timer();
}

/* ---- which thread a processor runs ---- */

void sg_refresh_limit(sg_processor *p)
{
    if (SG_UNLIKELY(sg->running == 1))
        sg_observe_lone_begins(p);
    if (SG_LIKELY(sg->attention == 0))
        p->limit = limit_of(p);
    else
        set_attentive_limit(p);
}

/* `p` reached the limit at which it becomes the only processor. True: no other reason to yield. */
static __attribute__((noinline)) bool becomes_lone(sg_processor *p)
{
    if (p->clock < sg->rest_since || p->clock >= SG_TRAP)
        return false;
    sg_refresh_limit(p);
    return p->clock <= limit_of(p) && !sg->stop_signal;
}

static inline void charge_waiting(sg_processor *p, const sg_thread *t, enum sg_category category,
                                  uint64_t cycles)
{
    sg_charge(p, category, cycles);
    if (category != SG_CATEGORY_IDLE_NOT_STARTED && category != SG_CATEGORY_IDLE_SERIAL)
        sg_site_of(p->site)->cycles[SG_GROUP_IDLE] += cycles;
    sg_observe_waited(p, t, category, cycles);
}

/* The same for a thread that first waited for another rank and then for a message in flight. */
static __attribute__((noinline)) void charge_message(sg_processor *p, const sg_thread *t)
{
    uint64_t met = t->met < p->clock ? p->clock : t->met > t->ready_at ? t->ready_at : t->met;
    uint64_t way = t->ready_at - met, jam = t->jam < way ? t->jam : way;
    if (met > p->clock)
        charge_waiting(p, t, t->wait_category, met - p->clock);
    if (way > jam)
        charge_waiting(p, t, SG_CATEGORY_IDLE_TRANSFER, way - jam);
    if (jam > 0)
        charge_waiting(p, t, SG_CATEGORY_IDLE_NETWORK, jam);
}

/* The processor had no thread until `t` became ready. */
static inline void charge_idle(sg_processor *p, const sg_thread *t)
{
    enum sg_category category = t->wait_category;
    if (SG_UNLIKELY(t->by_message)) {
        charge_message(p, t);
        return;
    }
    if (!p->worked)
        category = SG_CATEGORY_IDLE_NOT_STARTED;
    else if (category == SG_CATEGORY_IDLE_NOT_STARTED)
        category = SG_CATEGORY_IDLE_SERIAL;
    charge_waiting(p, t, category, t->ready_at - p->clock);
}

/* Makes `t` the thread of the idle `p`. */
static void install(sg_processor *p, sg_thread *t)
{
    if (SG_UNLIKELY(sg->lone != NULL))
        sg_observe_lone_ends(t->ready_at);
    sg->lone_due = false;
    sg->running++;
    sg_observe_installs(p, t);
    p->thread = t;
    p->site = t->site;
    p->thread_pointer = t->thread_pointer;
    if (SG_UNLIKELY(p->account != t->account))
        sg_account_set(p, sg_account_of(p, sg_region(t)));
    p->coroutine->stack_pointer = t->stack_pointer;
    p->coroutine->thread = t;
    sg->idle[p->id / 64] &= ~(1ull << p->id % 64);
    t->processor = p;
    t->state = SG_RUNNING;
    sg_observe_installed(p);
    if (t->ready_at > p->clock)
        charge_idle(p, t);
    if (SG_UNLIKELY(sg->next_tick != NULL))
        sg_tick_miss(p);
    sg_observe_runs(p, t);
    if (SG_UNLIKELY(p->last != t)) {
        if (p->last != NULL)
            sg_charge(p, SG_CATEGORY_PRIM_THREAD, sg->config.switch_cycles);
        p->last = t;
    }
    p->worked = true;
    p->slice_end = p->clock + sg->config.slice_cycles;
    t->since = p->clock;
    sg_await_turn(p);
}

static void enqueue(sg_processor *p, sg_thread *t)
{
    t->processor = p;
    t->state = SG_READY;
    t->next_ready = NULL;
    if (p->ready.head == NULL)
        p->ready.head = t;
    else
        p->ready.tail->next_ready = t;
    p->ready.tail = t;
    p->waiting++;
    sg->waiting++;
}

/* `t` no longer waits for its processor. */
static void dequeue(sg_thread *t)
{
    sg_processor *p = t->processor;
    sg_thread *before = NULL;
    if (p->ready.head != t)
        for (before = p->ready.head; before->next_ready != t;)
            before = before->next_ready;
    if (before == NULL)
        p->ready.head = t->next_ready;
    else
        before->next_ready = t->next_ready;
    if (p->ready.tail == t)
        p->ready.tail = before;
    p->waiting--;
    sg->waiting--;
}

/* The next thread for `p`: from its own queue, or else the first that may leave the longest other queue. */
static sg_thread *choose(sg_processor *p)
{
    sg_thread *chosen = p->ready.head;
    uint32_t longest = 0;
    if (SG_LIKELY(sg->waiting == 0))
        return NULL;
    for (uint32_t i = 0; i < sg->processors && p->ready.head == NULL; i++) {
        const sg_processor *q = &sg->processor[i];
        sg_thread *t = q->waiting > longest ? q->ready.head : NULL;
        while (t != NULL && !sg_thread_fits(t, p->id))
            t = t->next_ready;
        if (t != NULL) {
            chosen = t;
            longest = q->waiting;
        }
    }
    if (chosen != NULL)
        dequeue(chosen);
    return chosen;
}

/* Where to run `t`, which becomes ready. */
static sg_processor *place_for(const sg_thread *t)
{
    sg_processor *last = t->processor, *best = NULL;
    if (last != NULL && sg->own_processors > 1 && !sg_thread_fits(t, last->id))
        last = NULL; /* if there is only one place, it is the last one */
    if (last != NULL && last->thread == NULL)
        return last;
    for (uint32_t i = 0; 64 * i < sg->processors; i++) {
        uint64_t set = sg->idle[i] & (t->places != NULL ? t->places[i] : ~0ull);
        if (set != 0)
            return &sg->processor[64 * i + (uint32_t)__builtin_ctzll(set)];
    }
    for (uint32_t i = 0; i < sg->processors && last == NULL; i++)
        if (sg_thread_fits(t, i) && (best == NULL || sg->processor[i].waiting < best->waiting))
            best = &sg->processor[i];
    return last != NULL ? last : best;
}

/* ---- switching ---- */

/* Continues with the thread of `to`; saves the running thread's stack pointer in `from`. */
static void resume(void **from, sg_processor *to)
{
    if (SG_UNLIKELY(sg->grouped))
        sg_run_queue_prefer(to->id / sg->own_processors);
    sg_branch_wake();
    const sg_coroutine *next = expect_next();
    sg_refresh_limit(to);
    if (to->coroutine->pending.address != 0) /* done here, on this warm stack */
        sg_perform(to);
    expect_shared(next);
    if (SG_UNLIKELY(sg->ranks != 0) && (sg->rank != to->thread->rank || sg->mapped != to->thread->rank))
        sg->turn_to(to->thread->rank, to->thread->away);
    sg_now = to;
    to->turn_due = 0;
    sg_arch_set_thread_pointer(to->thread_pointer, sg->fast_thread_pointer);
    sg_arch_switch(from, to->coroutine->stack_pointer);
}

/* Takes the earliest processor out of the queue. */
static sg_processor *take_next(void)
{
    for (;;) {
        uint64_t id = sg_run_queue_next();
        if (SG_UNLIKELY(id == UINT64_MAX)) {
            if ((sg->nobody_runs == NULL || !sg->nobody_runs()) &&
                (sg->wait_for_files == NULL || !sg->wait_for_files()))
                sg->deadlock();
            continue;
        }
        if (SG_LIKELY(id != SG_TIMER)) {
            if (SG_UNLIKELY(sg->deferred != 0) && sg_deferred_perform((uint32_t)id))
                continue;
            sg_run_queue_remove((uint32_t)id);
            return &sg->processor[id];
        }
        fire_timer(sg_first_key() >> SG_KEY_BITS);
    }
}

/* `t` has left its processor: continues with the earliest one. Returns when `t` runs again. */
static void depart(sg_thread *t)
{
    sg_processor *next = take_next();
    sg_branch_wake();
    if (next->thread == t) { /* it has been woken meanwhile and is the earliest */
        sg_now = next;
        sg_refresh_limit(next);
        return;
    }
    /* It may be back on a processor, which has to wait. */
    resume(t->state == SG_RUNNING ? &t->processor->coroutine->stack_pointer : &t->stack_pointer, next);
}

void sg_turn_slow(sg_processor *p)
{
    uint32_t top = (uint32_t)(sg_first_key() & SG_KEY_MASK);
    sg_processor *next = &sg->processor[top];
    p->coroutine->account = p->account;
    if (SG_LIKELY(top != SG_TIMER && !sg->grouped && sg->deferred == 0)) {
        sg_run_queue_replace(top, p->id, sg_turn_key(p));
    } else {
        sg_await_turn(p);
        next = take_next();
    }
    if (SG_LIKELY(next != p)) {
        resume(&p->coroutine->stack_pointer, next); /* returns when p is the earliest */
        return;
    }
    p->turn_due = 0;
    sg_refresh_limit(p);
    if (p->coroutine->pending.address != 0)
        sg_perform(p);
}

/* Takes the running thread off its processor. */
static sg_thread *leave(sg_processor *p)
{
    sg_thread *t = p->thread;
    if (SG_UNLIKELY(sg->lone != NULL))
        sg_observe_lone_ends(p->clock);
    sg->lone_due = false;
    sg->running--;
    if (t->id != 0)
        sg->threads_ran += p->clock - t->since;
    t->site = p->site;
    t->account = p->account;
    t->ready_at = p->clock;
    p->thread = NULL;
    return t;
}

/* Runs the next thread of p's queue; the running one goes to its end. */
static void rotate(sg_processor *p)
{
    sg_thread *t = leave(p);
    sg_observe_preempted(t, p);
    enqueue(p, t);
    install(p, choose(p));
    depart(t);
}

/* The running thread has left `p`, temporarily or for good. */
static void run_another(sg_processor *p, sg_thread *t)
{
    sg_thread *next = choose(p);
    if (next != NULL) {
        install(p, next);
    } else {
        sg->idle[p->id / 64] |= 1ull << p->id % 64;
        sg_observe_rests(p);
    }
    depart(t);
}

/* The running thread must leave `p` for a processor it may use. */
static void move(sg_processor *p)
{
    sg_thread *t = leave(p);
    t->state = SG_BLOCKED;
    t->wait_category = SG_CATEGORY_IDLE_SERIAL;
    sg_wake(t, p->clock);
    run_another(p, t);
}

static inline bool has_other(const sg_processor *p)
{
    return SG_UNLIKELY(p->ready.head != NULL) && p->ready.head->ready_at <= p->clock;
}

/* An observer brought `p` here; it would not yield otherwise. */
static inline bool stays(sg_processor *p)
{
    return sg_observed.stays != NULL && sg_observed.stays(p);
}

static void give_way(sg_processor *p)
{
    if (SG_UNLIKELY(p->clock >= SG_TRAP)) {
        sg_branch_enter(p, p->site);
        if (sg->attention != 0 ? stays(p) : p->clock <= p->limit)
            return;
    }
    if (SG_UNLIKELY(sg->stop_signal))
        sg->timeout();
    if (SG_UNLIKELY(sg->next_tick != NULL))
        sg_tick_handle(p);
    if (SG_UNLIKELY(!sg_thread_fits(p->thread, p->id))) {
        move(p);
        return;
    }
    if (has_other(p) && p->clock >= p->slice_end) {
        rotate(p);
        return;
    }
    sg_turn(p);
    sg_refresh_limit(p);
}

void sg_give_way(sg_processor *p, const void *site)
{
    p->site = site;
    give_way(p);
    if (SG_UNLIKELY(sg->signals_due != 0) && sg_self()->queue == NULL)
        sg->deliver_signals();
}

void sg_yield(sg_processor *p, const void *site)
{
    if (SG_UNLIKELY(sg->learn != NULL) && sg_branch_meets(p, site))
        return;
    if (SG_UNLIKELY(sg->attention != 0) && stays(p))
        return;
    if (SG_LIKELY(!sg->lone_due) || !becomes_lone(p))
        sg_give_way(p, site);
}

void sg_pass(const void *site)
{
    sg_processor *p = sg_now;
    if (has_other(p))
        p->slice_end = p->clock;
    sg_give_way(p, site);
}

/* The running thread waits, as recorded in it. */
static void rest(sg_thread *t)
{
    sg_processor *p = sg_now;
    leave(p);
    sg->lock_waiters += t->wait_category == SG_CATEGORY_IDLE_LOCK;
    t->late[SG_BLAME_FORK_JOIN] = t->late[SG_BLAME_LOCK] = 0;
    t->complete = SG_NEVER;
    t->state = SG_BLOCKED;
    if (SG_UNLIKELY(sg->stop_signal))
        sg->timeout();
    run_another(p, t);
}

void sg_suspend(enum sg_category category, uint64_t object, int32_t holder)
{
    sg_settle();
    sg_thread *t = sg_self();
    if (SG_UNLIKELY(t->interrupted))
        sg_stop(
            SG_STATUS_UNSUPPORTED,
            "a signal handler waits at 0x%llx while its thread waits, which the simulator does not support",
            (unsigned long long)(uintptr_t)sg_now->site);
    t->wait_category = category;
    t->wait_object = object;
    t->wait_holder = holder;
    if (SG_UNLIKELY(t->signalled) && may_interrupt(t)) {
        note_interruption(t);
        if (!waits_on(t))
            return;
    }
    do
        rest(t);
    while (SG_UNLIKELY(t->interrupted) && waits_on(t));
}

void sg_interrupt(sg_thread *t)
{
    if (t->state != SG_BLOCKED || t->interrupted || !may_interrupt(t))
        return;
    note_interruption(t);
    make_ready(t, sg_now->clock);
}

bool sg_suspend_until(enum sg_category category, uint64_t object, int32_t holder, uint64_t deadline)
{
    sg_settle();
    sg_thread *t = sg_self();
    t->timed_out = false;
    if (deadline < sg_now->clock)
        deadline = sg_now->clock; /* long past; it must not wake on another processor before now */
    if (deadline < NEVER)
        start_timing(t, deadline);
    sg_suspend(category, object, holder);
    return !t->timed_out;
}

void sg_thread_end(void)
{
    sg_settle();
    sg_processor *p = sg_now;
    sg_thread *t = leave(p);
    sg_observe_thread_ends(t);
    t->state = SG_ENDED;
    run_another(p, t);
    __builtin_unreachable();
}

void sg_wake(sg_thread *t, uint64_t when)
{
    if (SG_UNLIKELY(t->interrupted)) {
        t->woken = true;
        return;
    }
    if (SG_UNLIKELY(t->state != SG_BLOCKED || t->queue != NULL))
        sg_stop(SG_STATUS_INTERNAL, "thread %u is woken, but it %s", t->id,
                t->queue != NULL ? "stands in a queue" : "does not sleep");
    sg_observe_wakes(t, when);
    make_ready(t, when);
}

static void make_ready(sg_thread *t, uint64_t when)
{
    sg_processor *p = place_for(t);
    if (t->timed)
        stop_timing(t);
    sg->lock_waiters -= t->wait_category == SG_CATEGORY_IDLE_LOCK;
    t->synced = sg->writes_seen;
    t->ready_at = when;
    if (p->thread == NULL)
        install(p, t);
    else
        enqueue(p, t);
    sg_refresh_limit(sg_now);
}

void sg_wake_by(sg_thread *t, uint64_t when)
{
    if (t->timed && t->deadline <= when)
        return;
    if (t->timed)
        stop_timing(t);
    sg_observe_wakes(t, when);
    start_timing(t, when);
    sg_refresh_limit(sg_now);
}

sg_processor *sg_sched_first(sg_thread *t)
{
    install(&sg->processor[0], t);
    return take_next();
}

void sg_sched_resume_first(sg_processor *p)
{
    resume(&sg->host_stack, p);
    __builtin_unreachable();
}

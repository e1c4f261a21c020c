/* What happens on each processor, as records of a file; for those runs that ask for it (trace.file).
 *
 * Time that a processor has spent is told in stretches: a cut tells by leaf what its account was charged
 * since the cut before. A cut comes where the account changes (region, thread), where waiting begins and
 * ends, where the processor lets another one go on, and after trace.interval cycles. What is to be told lies
 * within a window of time, from the first cut of a processor in it to the first one behind it; only waiting
 * is cut at the window's ends to the cycle.
 *
 * Nothing here changes what the run does: no clock, no account, no address and no order of the processors
 * depends on it. */
#include <stdio.h>
#include <stdlib.h>

#include "sg_omp.h"
#include "sg_array.h"
#include "sg_observers.h"
#include "sg_trace_file.h"
#include "sg_trace_share.h"

enum { MAX_REGIONS = 64, MOST_RECORDS = 2 * SG_REGION_DEPTH + 64, END_RECORDS = 32 };

/* A processor. */
typedef struct lane {
    const sg_account *account;               /* of the stretch that has not been told */
    uint64_t from;                           /* its beginning */
    uint64_t limit;                          /* the processor's limit without a trace */
    uint64_t due;                            /* time of the next cut */
    bool on;                                 /* within the window */
    uint64_t counted;                        /* time up to which it was told what was counted */
    uint64_t ops, flops, references, misses; /* since then */
    uint32_t depth;
    uint32_t *regions; /* that the processor is in, the outermost first */
    sg_told **told;    /* by region */
    uint32_t told_size;
} lane;

/* A lock that a thread has, and the processor that the trace says has it; -1: none does now. */
typedef struct held {
    uint64_t lock, order;
    uint32_t thread;
    int32_t processor;
} held;

/* Who let a thread go on. */
typedef struct waker {
    int32_t processor;
    uint64_t released;
} waker;

struct sg_trace {
    uint32_t what;
    uint64_t interval, since, until; /* the window: since <= time < until */
    lane *lane;
    waker *waker; /* by thread */
    bool *inside; /* likewise: is it in one of the regions? */
    uint32_t inside_count;
    uint32_t region[MAX_REGIONS];
    uint32_t regions; /* 0: all time is told */
    held *held;
    uint32_t held_count, held_room;
    uint64_t tasks;
    uint64_t begin, end; /* of what was told */
    uint64_t inexact;
    uint32_t most_regions; /* one more than the greatest number of a region that was told */
    uint64_t end_room;     /* bytes that the end of the trace may need */
};

static struct sg_trace *trace = NULL; /* NULL: none, or none any more */

static bool tells(enum sg_traced what)
{
    return (trace->what & what) != 0;
}

static void put(const sg_processor *p, enum sg_trace_event event, unsigned what, uint32_t region,
                uint64_t time, uint64_t first, uint64_t second)
{
    sg_trace_record record = {(uint8_t)event, (uint8_t)what, (uint16_t)p->id, region, time, first, second};
    if (time < trace->begin)
        trace->begin = time;
    if (time > trace->end)
        trace->end = time;
    if (event != SG_EVENT_WAKER && region >= trace->most_regions)
        trace->most_regions = region + 1;
    sg_trace_put(&record);
}

/* ---- the end ---- */

static void close_trace(enum sg_trace_state state)
{
    sg_trace_header known = {
        .begin = trace->begin < trace->end ? trace->begin : trace->end,
        .end = trace->end,
        .inexact = trace->inexact,
        .asked_regions = trace->regions,
        .regions = trace->most_regions,
    };
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        known.fractions |= sg->blocks[i].parts % SG_PARTS != 0;
    sg_trace_file_close(state, &known);
    for (uint32_t i = 0; i < sg->processors; i++)
        sg->processor[i].limit = trace->lane[i].limit;
    trace = NULL;
    sg->tracing = 0;
    sg->regions_watched--;
    sg_observer_withdraw(&sg_observer_trace);
}

static void cut(sg_processor *p);
static void turn_off(sg_processor *p, uint64_t time);

/* The trace ends here, though the run goes on. */
static void end_early(void)
{
    trace->end_room = 0;
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        cut(p);
        if (trace->lane[i].on)
            turn_off(p, p->clock);
    }
    close_trace(SG_TRACE_STATE_FULL);
    char text[200];
    snprintf(text, sizeof text, "the trace has reached its limit of %llu bytes and ends at cycle %llu",
             (unsigned long long)sg->config.trace_limit, (unsigned long long)trace->end);
    sg_warn(text);
}

/* Is there a trace with room for what any one event tells? */
static bool ready(void)
{
    if (SG_UNLIKELY(sg_trace_file_failed())) {
        close_trace(SG_TRACE_STATE_FAILED);
        return false;
    }
    if (SG_UNLIKELY(sg->config.trace_limit != 0) && trace->end_room != 0 &&
        sg_trace_file_bytes() + trace->end_room > sg->config.trace_limit) {
        end_early();
        return false;
    }
    return true;
}

/* ---- the window ---- */

static void add_counts(const sg_processor *p, const sg_share *share)
{
    lane *l = &trace->lane[p->id];
    l->ops += share->ops;
    l->flops += share->flops;
    l->references += share->references;
    l->misses += share->misses;
}

/* Tells what was counted up to `time`; while a processor waits that is nothing, so that what it does before
 * and afterwards is told apart from it. */
static void put_counts(const sg_processor *p, uint64_t time)
{
    lane *l = &trace->lane[p->id];
    bool any = (l->ops | l->flops | l->references | l->misses) != 0;
    if ((any || l->counted < time) && tells(SG_TRACED_COUNTERS)) {
        put(p, SG_EVENT_COUNTS, 0, 0, time, l->ops, l->flops);
        put(p, SG_EVENT_COUNTS, 1, 0, time, l->references, l->misses);
    }
    l->counted = time;
    l->ops = l->flops = l->references = l->misses = 0;
}

static void turn_on(sg_processor *p, uint64_t time)
{
    lane *l = &trace->lane[p->id];
    l->on = true;
    l->counted = time;
    l->ops = l->flops = l->references = l->misses = 0;
    for (uint32_t i = 0; i < l->depth && tells(SG_TRACED_REGIONS); i++)
        put(p, SG_EVENT_CALL, 1, l->regions[i], time, 0, 0);
}

static void turn_off(sg_processor *p, uint64_t time)
{
    lane *l = &trace->lane[p->id];
    put_counts(p, time);
    for (uint32_t i = l->depth; i > 0 && tells(SG_TRACED_REGIONS); i--)
        put(p, SG_EVENT_CALL, 2, l->regions[i - 1], time, 0, 0);
    l->on = false;
}

static bool in_window(uint64_t time)
{
    return time >= trace->since && time < trace->until;
}

/* The processor enters or leaves the window if it is time. */
static void turn(sg_processor *p)
{
    lane *l = &trace->lane[p->id];
    bool wanted = in_window(p->clock);
    if (l->on && !wanted)
        turn_off(p, p->clock);
    else if (!l->on && wanted)
        turn_on(p, p->clock);
}

static void set_due(lane *l)
{
    l->due = l->on ? trace->until : l->from < trace->since ? trace->since : UINT64_MAX;
    if (l->on && trace->interval != 0 && l->from + trace->interval < l->due)
        l->due = l->from + trace->interval;
}

static void set_all_due(void)
{
    for (uint32_t i = 0; i < sg->processors; i++)
        set_due(&trace->lane[i]);
}

static void open_window(uint64_t time)
{
    const sg_config *config = &sg->config;
    trace->since = time > config->trace_begin ? time : config->trace_begin;
    trace->until = config->trace_end != 0 ? config->trace_end : UINT64_MAX;
    set_all_due();
}

/* ---- stretches ---- */

static sg_told *told_of(lane *l, uint32_t region)
{
    SG_ARRAY_HOLD_IN(sg_trace_larger, l->told, l->told_size, region, 16);
    if (SG_UNLIKELY(l->told[region] == NULL))
        l->told[region] = sg_told_new();
    return l->told[region];
}

static void put_share(sg_processor *p, const sg_share *share)
{
    const lane *l = &trace->lane[p->id];
    uint32_t region = l->account->rest.region;
    for (unsigned leaf = 0; leaf < SG_LEAF_COUNT && tells(SG_TRACED_SHARES); leaf++)
        if (share->leaves[leaf] != 0)
            put(p, SG_EVENT_SHARE, leaf, region, p->clock, l->from, share->leaves[leaf]);
    add_counts(p, share);
    if (p->clock - l->counted >= trace->interval)
        put_counts(p, p->clock);
    trace->inexact += share->inexact;
}

/* Tells the stretch up to now, and goes on with the account that `p` has now. */
static void cut(sg_processor *p)
{
    lane *l = &trace->lane[p->id];
    sg_share share;
    if (p->clock != l->from) {
        sg_told_since(told_of(l, l->account->rest.region), l->account, p->clock - l->from, &share);
        if (l->on)
            put_share(p, &share);
        l->from = p->clock;
        turn(p);
    }
    l->account = p->account;
    set_due(l);
}

/* The same after a stretch of nothing but waiting, charged to `leaf`: cut at the window's ends. */
static void cut_idle(sg_processor *p, enum sg_leaf leaf, uint64_t *begin, uint64_t *end)
{
    lane *l = &trace->lane[p->id];
    sg_share share;
    uint64_t from = l->from;
    sg_told_since(told_of(l, l->account->rest.region), l->account, p->clock - from, &share);
    if (l->on)
        add_counts(p, &share); /* of references that took no time */
    *begin = from > trace->since ? from : trace->since;
    *end = p->clock < trace->until ? p->clock : trace->until;
    if (*begin < *end) {
        if (!l->on)
            turn_on(p, *begin);
        if (tells(SG_TRACED_SHARES))
            put(p, SG_EVENT_SHARE, leaf, l->account->rest.region, *end, *begin, *end - *begin);
        put_counts(p, *begin);
        put_counts(p, *end);
    }
    if (l->on && *end < p->clock)
        turn_off(p, *end > from ? *end : from);
    l->from = p->clock;
    l->account = p->account;
    set_due(l);
}

static bool stays(sg_processor *p)
{
    if (sg->stop_signal || p->clock >= SG_TRAP)
        return false;
    lane *l = &trace->lane[p->id];
    uint64_t limit = l->limit;
    if (p->clock >= l->due && ready())
        cut(p);
    if (trace != NULL)
        p->limit = limit < l->due ? limit : l->due;
    return p->clock <= limit;
}

static uint64_t limit_of(sg_processor *p, uint64_t limit)
{
    lane *l = &trace->lane[p->id];
    l->limit = limit;
    return limit < l->due ? limit : l->due;
}

/* ---- regions ---- */

static uint32_t depth_of(const sg_thread *t)
{
    return t->depth < SG_REGION_DEPTH ? t->depth : SG_REGION_DEPTH;
}

/* Leaves and enters regions until the processor is in those of `t`; the first `same` are known to be equal.
 */
static void follow(sg_processor *p, const uint32_t *regions, uint32_t depth, uint32_t same)
{
    lane *l = &trace->lane[p->id];
    bool told = l->on && tells(SG_TRACED_REGIONS);
    while (same < l->depth && same < depth && l->regions[same] == regions[same])
        same++;
    for (; l->depth > same; l->depth--)
        if (told)
            put(p, SG_EVENT_CALL, 2, l->regions[l->depth - 1], p->clock, 0, 0);
    for (; l->depth < depth; l->depth++) {
        l->regions[l->depth] = regions[l->depth];
        if (told)
            put(p, SG_EVENT_CALL, 1, regions[l->depth], p->clock, 0, 0);
    }
}

static bool is_inside(const sg_thread *t)
{
    for (uint32_t i = 0; i < depth_of(t); i++)
        for (uint32_t k = 0; k < trace->regions; k++)
            if (t->stack_of_regions[i] == trace->region[k])
                return true;
    return false;
}

/* The thread is in one of the regions that are told, or not any more; the first one opens the window for all
 * processors, the last one shuts it. */
static void set_inside(const sg_thread *t, bool inside, uint64_t time)
{
    if (trace->inside[t->id] == inside)
        return;
    trace->inside[t->id] = inside;
    if (inside && trace->inside_count++ == 0)
        open_window(time);
    if (!inside && --trace->inside_count == 0 && time < trace->until) {
        trace->until = time;
        set_all_due();
    }
}

static void change_regions(sg_processor *p, enum sg_regions_change change)
{
    const sg_thread *t = p->thread;
    if (!ready())
        return;
    lane *l = &trace->lane[p->id];
    bool inside = trace->regions != 0 && is_inside(t);
    cut(p);
    if (inside) {
        set_inside(t, true, p->clock);
        turn(p);
    }
    uint32_t depth = depth_of(t), common = depth < l->depth ? depth : l->depth;
    follow(p, t->stack_of_regions, depth, change == SG_REGIONS_ALL ? 0 : common);
    if (trace->regions != 0 && !inside) {
        set_inside(t, false, p->clock);
        turn(p);
    }
    set_due(l);
    p->limit = l->limit < l->due ? l->limit : l->due;
}

/* ---- threads come and go ---- */

/* The processors on which threads that have locks run have the locks. */
static void leave_locks(const sg_thread *t, const sg_processor *p)
{
    for (uint32_t i = 0; i < trace->held_count; i++) {
        held *h = &trace->held[i];
        if (h->thread != t->id || h->processor != (int32_t)p->id)
            continue;
        if (trace->lane[p->id].on)
            put(p, SG_EVENT_LOCK, SG_LOCK_STEP_RELEASED, 0, p->clock, h->lock, h->order);
        h->processor = -1;
    }
}

static void take_locks(const sg_thread *t, const sg_processor *p)
{
    for (uint32_t i = 0; i < trace->held_count; i++) {
        held *h = &trace->held[i];
        if (h->thread != t->id || h->processor == (int32_t)p->id)
            continue;
        if (h->processor >= 0) /* which is idle since */
            leave_locks(t, &sg->processor[h->processor]);
        if (trace->lane[p->id].on) {
            put(p, SG_EVENT_LOCK, SG_LOCK_STEP_ACQUIRED, 0, p->clock, h->lock, h->order);
            h->processor = (int32_t)p->id;
        }
    }
}

static void install(sg_processor *p, sg_thread *t)
{
    if (!ready())
        return;
    cut(p);
    lane *l = &trace->lane[p->id];
    l->account = sg_account_of(p, sg_region(t));
    if (p->last == t)
        return;
    if (p->last != NULL && trace->held_count != 0)
        leave_locks(p->last, p);
    follow(p, t->stack_of_regions, depth_of(t), 0);
}

static void run(sg_processor *p, const sg_thread *t)
{
    if (!ready())
        return;
    if (trace->held_count != 0)
        take_locks(t, p);
    if (p->last != NULL && p->last != t && trace->tasks != 0 && trace->lane[p->id].on)
        put(p, SG_EVENT_TASK, SG_TASK_STEP_SWITCHED, sg_region(t), p->clock,
            t->task != NULL ? t->task->traced : 0, 0);
}

static enum sg_trace_why why(const sg_thread *t, enum sg_leaf leaf)
{
    switch (leaf) {
    case SG_LEAF_IDLE_BARRIER:
        return SG_WHY_BARRIER;
    case SG_LEAF_IDLE_LOCK:
        return SG_WHY_LOCK;
    case SG_LEAF_IDLE_ORDER:
        return SG_WHY_ORDERED;
    case SG_LEAF_IDLE_TASK:
        return SG_WHY_TASK;
    case SG_LEAF_IDLE_WAIT:
        if (t->wait_holder >= 0)
            return SG_WHY_JOIN; /* nothing else waits for one thread by its name */
        return t->wait_object != 0 ? SG_WHY_CONDITION : SG_WHY_OTHER; /* else it sleeps */
    default:
        return SG_WHY_OTHER;
    }
}

static void put_wait(sg_processor *p, enum sg_trace_why why, uint64_t begin, uint64_t end, uint64_t object,
                     int32_t holder, uint64_t released)
{
    uint32_t region = trace->lane[p->id].account->rest.region;
    if (!tells(SG_TRACED_WAITS) || begin >= end)
        return;
    if (holder == (int32_t)p->id || released > end) {
        holder = -1;
        released = end;
    }
    put(p, SG_EVENT_WAIT, why, region, end, begin, object);
    put(p, SG_EVENT_WAKER, 0, (uint32_t)(holder + 1), released < begin ? begin : released, 0, 0);
}

static void wait_idle(sg_processor *p, const sg_thread *t, enum sg_leaf leaf, uint64_t cycles)
{
    uint64_t begin, end;
    (void)cycles;
    if (!ready())
        return;
    cut_idle(p, leaf, &begin, &end);
    const waker *w = &trace->waker[t->id];
    put_wait(p, why(t, leaf), begin, end, t->wait_object, w->processor, w->released);
}

static void wake(const sg_thread *t, uint64_t when)
{
    if (!ready())
        return;
    bool by_itself = t->timed && t->timed_out;
    trace->waker[t->id] = (waker){by_itself ? -1 : (int32_t)sg_now->id, when};
    if (!by_itself)
        cut(sg_now);
}

static void preempt(const sg_thread *t, const sg_processor *p)
{
    trace->waker[t->id] = (waker){(int32_t)p->id, p->clock};
}

static void end_thread(const sg_thread *t)
{
    if (trace->regions != 0)
        set_inside(t, false, t->ready_at);
}

/* ---- what else happens ---- */

static void begin_barrier_wait(void)
{
    if (ready())
        cut(sg_now);
}

static void end_barrier_wait(uint64_t object, uint32_t holder, uint64_t released)
{
    uint64_t begin, end;
    if (!ready())
        return;
    cut_idle(sg_now, SG_LEAF_IDLE_BARRIER, &begin, &end);
    put_wait(sg_now, SG_WHY_BARRIER, begin, end, object, (int32_t)holder, released);
}

static held *find_held(uint64_t lock)
{
    for (uint32_t i = 0; i < trace->held_count; i++)
        if (trace->held[i].lock == lock)
            return &trace->held[i];
    return NULL;
}

static void drop_held(held *h)
{
    *h = trace->held[--trace->held_count];
}

static void acquired(uint64_t lock, uint64_t order)
{
    bool on = trace->lane[sg_now->id].on;
    held *h = find_held(lock);
    if (h == NULL) {
        SG_ARRAY_HOLD_IN(sg_trace_larger, trace->held, trace->held_room, trace->held_count, 64);
        h = &trace->held[trace->held_count++];
    }
    *h = (held){lock, order, sg_self()->id, on ? (int32_t)sg_now->id : -1};
    if (on)
        put(sg_now, SG_EVENT_LOCK, SG_LOCK_STEP_ACQUIRED, 0, sg_now->clock, lock, order);
}

static void step_lock(uint64_t lock, uint64_t order, enum sg_lock_step step)
{
    if (!tells(SG_TRACED_LOCKS) || !ready())
        return;
    if (step == SG_LOCK_STEP_ACQUIRED) {
        acquired(lock, order);
        return;
    }
    held *h = find_held(lock);
    if (h == NULL)
        return;
    if (h->processor == (int32_t)sg_now->id && trace->lane[sg_now->id].on)
        put(sg_now, SG_EVENT_LOCK, SG_LOCK_STEP_RELEASED, 0, sg_now->clock, lock, h->order);
    drop_held(h);
}

static void step_task(uint64_t *number, uint32_t region, enum sg_task_step step)
{
    if (!tells(SG_TRACED_TASKS) || !trace->lane[sg_now->id].on || !ready())
        return;
    if (step == SG_TASK_STEP_CREATED)
        *number = ++trace->tasks;
    else if (trace->tasks == 0 || (*number == 0 && step == SG_TASK_STEP_ENDED))
        return;
    put(sg_now, SG_EVENT_TASK, step, region, sg_now->clock, *number, 0);
}

static void mark(enum sg_trace_mark mark, uint64_t value)
{
    if (!tells(mark == SG_MARK_CHUNK ? SG_TRACED_CHUNKS : SG_TRACED_WAITS) || !trace->lane[sg_now->id].on ||
        !ready())
        return;
    put(sg_now, SG_EVENT_MARK, mark, sg_region(sg_self()), sg_now->clock, value, 0);
}

/* ---- beginning and end ---- */

static void read_regions(void)
{
    const char *text = sg->config.trace_region;
    while (*text != '\0' && trace->regions < MAX_REGIONS) {
        char *end;
        trace->region[trace->regions++] = (uint32_t)strtoul(text, &end, 10);
        if (end == text || (*end != '\0' && *end != ','))
            sg_stop(SG_STATUS_INTERNAL, "trace.region: expected numbers with commas between them, got '%s'",
                    sg->config.trace_region);
        text = *end == ',' ? end + 1 : end;
    }
}

static bool open_trace(void)
{
    uint32_t what = sg->config.trace_what != 0 ? sg->config.trace_what : 2 * SG_TRACED_COUNTERS - 1;
    if (sg->config.trace_file[0] == '\0' || !sg_trace_file_open(what))
        return false;
    trace = sg_trace_new(sizeof *trace);
    trace->what = what;
    trace->interval = sg->config.trace_interval;
    trace->lane = sg_trace_new(sg->processors * sizeof *trace->lane);
    trace->waker = sg_trace_new(SG_MAX_THREADS * sizeof *trace->waker);
    trace->inside = sg_trace_new(SG_MAX_THREADS * sizeof *trace->inside);
    trace->begin = UINT64_MAX;
    trace->end_room = (uint64_t)(MOST_RECORDS + END_RECORDS * sg->processors) * sizeof(sg_trace_record);
    read_regions();
    sg->tracing = 1;
    sg->regions_watched++;
    if (trace->regions == 0)
        open_window(0);
    else
        trace->since = trace->until = UINT64_MAX;
    for (uint32_t i = 0; i < sg->processors; i++) {
        lane *l = &trace->lane[i];
        l->regions = sg_trace_new(SG_REGION_DEPTH * sizeof *l->regions);
        l->account = sg->processor[i].account;
        l->limit = SG_NEVER;
        turn(&sg->processor[i]);
        set_due(l);
    }
    return true;
}

/* What was counted in regions in which no time has passed since. */
static void add_remains(const sg_processor *p)
{
    lane *l = &trace->lane[p->id];
    for (uint32_t region = 0; region < p->accounts_size; region++) {
        sg_share share;
        if (p->accounts[region] == NULL)
            continue;
        sg_told_since(told_of(l, region), p->accounts[region], 0, &share);
        add_counts(p, &share);
    }
}

/* From the end of the processor's work to the end of the run. */
static void finish(sg_processor *p, uint64_t end)
{
    static const uint32_t program[1] = {0};
    lane *l = &trace->lane[p->id];
    cut(p);
    if (l->on) {
        add_remains(p);
        put_counts(p, p->clock);
    }
    if (p->worked && trace->held_count != 0)
        leave_locks(p->last, p);
    follow(p, program, 1, 0);
    uint64_t begin = p->clock > trace->since ? p->clock : trace->since;
    uint64_t last = end < trace->until ? end : trace->until;
    if (begin < last) {
        if (!l->on)
            turn_on(p, begin);
        if (tells(SG_TRACED_SHARES))
            put(p, SG_EVENT_SHARE, p->worked ? SG_LEAF_IDLE_FINISHED : SG_LEAF_IDLE_NOT_STARTED, 0, last,
                begin, last - begin);
    } else {
        last = p->clock;
    }
    if (l->on)
        turn_off(p, last);
}

static void end_trace(uint64_t end)
{
    if (!ready())
        return;
    for (uint32_t i = 0; i < sg->processors; i++)
        finish(&sg->processor[i], end);
    close_trace(SG_TRACE_STATE_WHOLE);
}

static void stop_trace(void)
{
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        if (p->clock < SG_TRAP)
            cut(p);
        if (trace->lane[i].on)
            turn_off(p, trace->lane[i].from);
    }
    close_trace(SG_TRACE_STATE_STOPPED);
}

const sg_observer sg_observer_trace = {
    .name = "trace",
    .takes_part = open_trace,
    .installs = install,
    .waited = wait_idle,
    .runs = run,
    .preempted = preempt,
    .wakes = wake,
    .thread_ends = end_thread,
    .regions = change_regions,
    .barrier_waits = begin_barrier_wait,
    .barrier_waited = end_barrier_wait,
    .lock_step = step_lock,
    .marks = mark,
    .task = step_task,
    .ends = end_trace,
    .stops = stop_trace,
    .limit = limit_of,
    .stays = stays,
};

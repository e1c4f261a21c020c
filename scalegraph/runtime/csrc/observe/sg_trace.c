/* Records what happens on each processor in a file, if the run asks for it (trace.file).
 *
 * Time spent is recorded in stretches: a cut records, by category, what the processor's account was
 * charged since the previous cut. Cuts come where the account changes (region, thread), where waiting
 * begins and ends, where the processor wakes another one, and after trace.interval cycles. Recording is
 * limited to a window of time, from a processor's first cut in it to the first one after it; only waiting
 * is cut exactly at the window's ends.
 *
 * Nothing here changes the run: no clock, account, address or order of processors depends on it. */
#include <stdio.h>
#include <stdlib.h>

#include "sg_omp.h"
#include "sg_array.h"
#include "sg_observers.h"
#include "sg_trace_file.h"
#include "sg_trace_lane.h"

/* ---- the end ---- */

static void close_trace(enum sg_trace_state state)
{
    sg_trace_header known = {
        .begin = sg_trace->begin < sg_trace->end ? sg_trace->begin : sg_trace->end,
        .end = sg_trace->end,
        .inexact = sg_trace->inexact,
        .asked_regions = sg_trace->regions,
        .regions = sg_trace->most_regions,
    };
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        known.fractions |= sg->blocks[i].parts % SG_PARTS != 0 || sg->speeds > 1;
    sg_trace_file_close(state, &known);
    for (uint32_t i = 0; i < sg->processors; i++)
        sg->processor[i].limit = sg_trace->lane[i].limit;
    sg_trace = NULL;
    sg->tracing = 0;
    sg->regions_watched--;
    sg_observer_withdraw(&sg_observer_trace);
}

/* The trace ends here, though the run continues. */
static void end_early(void)
{
    sg_trace->end_room = 0;
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        sg_lane_cut(p);
        if (sg_trace->lane[i].on)
            sg_lane_turn_off(p, p->clock);
    }
    uint64_t end = sg_trace->end;
    close_trace(SG_TRACE_STATE_FULL);
    char text[200];
    snprintf(text, sizeof text, "the trace has reached its limit of %llu bytes and ends at cycle %llu",
             (unsigned long long)sg->config.trace_limit, (unsigned long long)end);
    sg_warn(text);
}

bool sg_trace_ready(void)
{
    if (SG_UNLIKELY(sg_trace_file_failed())) {
        close_trace(SG_TRACE_STATE_FAILED);
        return false;
    }
    if (SG_UNLIKELY(sg->config.trace_limit != 0) && sg_trace->end_room != 0 &&
        sg_trace_file_bytes() + sg_trace->end_room > sg->config.trace_limit) {
        end_early();
        return false;
    }
    return true;
}

static bool stays(sg_processor *p)
{
    if (sg->stop_signal || p->clock >= SG_TRAP)
        return false;
    sg_lane *l = &sg_trace->lane[p->id];
    uint64_t limit = l->limit;
    if (p->clock >= l->due && sg_trace_ready())
        sg_lane_cut(p);
    if (sg_trace != NULL)
        p->limit = limit < l->due ? limit : l->due;
    return p->clock <= limit;
}

static uint64_t limit_of(sg_processor *p, uint64_t limit)
{
    sg_lane *l = &sg_trace->lane[p->id];
    l->limit = limit;
    return limit < l->due ? limit : l->due;
}

/* ---- regions ---- */

static uint32_t depth_of(const sg_thread *t)
{
    return t->depth < SG_REGION_DEPTH ? t->depth : SG_REGION_DEPTH;
}

/* Leaves and enters regions until the processor is in those of `t`; the first `same` are known to be
 * equal. */
static void follow(sg_processor *p, const uint32_t *regions, uint32_t depth, uint32_t same)
{
    sg_lane *l = &sg_trace->lane[p->id];
    bool told = l->on && sg_trace_tells(SG_TRACED_REGIONS);
    while (same < l->depth && same < depth && l->regions[same] == regions[same])
        same++;
    for (; l->depth > same; l->depth--)
        if (told)
            sg_trace_event_put(p, SG_EVENT_CALL, 2, l->regions[l->depth - 1], p->clock, 0, 0);
    for (; l->depth < depth; l->depth++) {
        l->regions[l->depth] = regions[l->depth];
        if (told)
            sg_trace_event_put(p, SG_EVENT_CALL, 1, regions[l->depth], p->clock, 0, 0);
    }
}

static bool is_inside(const sg_thread *t)
{
    for (uint32_t i = 0; i < depth_of(t); i++)
        for (uint32_t k = 0; k < sg_trace->regions; k++)
            if (t->stack_of_regions[i] == sg_trace->region[k])
                return true;
    return false;
}

/* The thread enters or leaves the recorded regions; the first one in opens the window for all processors, the
 * last one out closes it. */
static void set_inside(const sg_thread *t, bool inside, uint64_t time)
{
    if (sg_trace->inside[t->id] == inside)
        return;
    sg_trace->inside[t->id] = inside;
    if (inside && sg_trace->inside_count++ == 0)
        sg_lane_open_window(time);
    if (!inside && --sg_trace->inside_count == 0 && time < sg_trace->until) {
        sg_trace->until = time;
        sg_lane_set_all_due();
    }
}

static void change_regions(sg_processor *p, enum sg_regions_change change)
{
    const sg_thread *t = p->thread;
    if (!sg_trace_ready())
        return;
    sg_lane *l = &sg_trace->lane[p->id];
    bool inside = sg_trace->regions != 0 && is_inside(t);
    sg_lane_cut(p);
    if (inside) {
        set_inside(t, true, p->clock);
        sg_lane_turn(p);
    }
    uint32_t depth = depth_of(t), common = depth < l->depth ? depth : l->depth;
    follow(p, t->stack_of_regions, depth, change == SG_REGIONS_ALL ? 0 : common);
    if (sg_trace->regions != 0 && !inside) {
        set_inside(t, false, p->clock);
        sg_lane_turn(p);
    }
    sg_lane_set_due(l);
    p->limit = l->limit < l->due ? l->limit : l->due;
}

/* ---- start and end of threads ---- */

/* In a trace, a lock belongs to the processor on which its holder runs. */
static void leave_locks(const sg_thread *t, const sg_processor *p)
{
    for (uint32_t i = 0; i < sg_trace->held_count; i++) {
        sg_held *h = &sg_trace->held[i];
        if (h->thread != t->id || h->processor != (int32_t)p->id)
            continue;
        if (sg_trace->lane[p->id].on)
            sg_trace_event_put(p, SG_EVENT_LOCK, SG_LOCK_STEP_RELEASED, 0, p->clock, h->lock, h->order);
        h->processor = -1;
    }
}

static void take_locks(const sg_thread *t, const sg_processor *p)
{
    for (uint32_t i = 0; i < sg_trace->held_count; i++) {
        sg_held *h = &sg_trace->held[i];
        if (h->thread != t->id || h->processor == (int32_t)p->id)
            continue;
        if (h->processor >= 0) /* idle since then */
            leave_locks(t, &sg->processor[h->processor]);
        if (sg_trace->lane[p->id].on) {
            sg_trace_event_put(p, SG_EVENT_LOCK, SG_LOCK_STEP_ACQUIRED, 0, p->clock, h->lock, h->order);
            h->processor = (int32_t)p->id;
        }
    }
}

static void install(sg_processor *p, sg_thread *t)
{
    if (!sg_trace_ready())
        return;
    sg_lane_cut(p);
    sg_lane *l = &sg_trace->lane[p->id];
    l->account = sg_account_of(p, sg_region(t));
    if (p->last == t)
        return;
    if (p->last != NULL && sg_trace->held_count != 0)
        leave_locks(p->last, p);
    follow(p, t->stack_of_regions, depth_of(t), 0);
}

static void run(sg_processor *p, const sg_thread *t)
{
    if (!sg_trace_ready())
        return;
    if (sg_trace->held_count != 0)
        take_locks(t, p);
    if (p->last != NULL && p->last != t && sg_trace->tasks != 0 && sg_trace->lane[p->id].on)
        sg_trace_event_put(p, SG_EVENT_TASK, SG_TASK_STEP_SWITCHED, sg_region(t), p->clock,
                           t->task != NULL ? t->task->traced : 0, 0);
}

static void wait_idle(sg_processor *p, const sg_thread *t, enum sg_category category, uint64_t cycles)
{
    uint64_t begin, end;
    (void)cycles;
    if (!sg_trace_ready())
        return;
    sg_lane_cut_idle(p, category, &begin, &end);
    const sg_waker *w = &sg_trace->waker[t->id];
    if (t->by_message)
        sg_trace_wait_message(p, t, category, begin, end);
    else
        sg_trace_wait_put(p, sg_trace_why_of(t, category), begin, end, t->wait_object, w->processor,
                          w->released < begin ? begin : w->released);
}

static void wake(const sg_thread *t, uint64_t when)
{
    if (!sg_trace_ready())
        return;
    bool by_itself = t->timed && t->timed_out;
    sg_trace->waker[t->id] = t->by_message ? (sg_waker){sg_trace_partner_of(t), t->met}
                                           : (sg_waker){by_itself ? -1 : (int32_t)sg_now->id, when};
    if (!by_itself)
        sg_lane_cut(sg_now);
}

static void preempt(const sg_thread *t, const sg_processor *p)
{
    sg_trace->waker[t->id] = (sg_waker){(int32_t)p->id, p->clock};
}

static void end_thread(const sg_thread *t)
{
    if (sg_trace->regions != 0)
        set_inside(t, false, t->ready_at);
}

/* ---- what else happens ---- */

static void begin_wait(void)
{
    if (sg_trace_ready())
        sg_lane_cut(sg_now);
}

static void end_barrier_wait(uint64_t object, uint32_t holder, uint64_t released)
{
    uint64_t begin, end;
    if (!sg_trace_ready())
        return;
    sg_lane_cut_idle(sg_now, SG_CATEGORY_IDLE_BARRIER, &begin, &end);
    sg_trace_wait_put(sg_now, SG_WHY_BARRIER, begin, end, object, (int32_t)holder,
                      released < begin ? begin : released);
}

static sg_held *find_held(uint64_t lock)
{
    for (uint32_t i = 0; i < sg_trace->held_count; i++)
        if (sg_trace->held[i].lock == lock)
            return &sg_trace->held[i];
    return NULL;
}

static void drop_held(sg_held *h)
{
    *h = sg_trace->held[--sg_trace->held_count];
}

static void acquired(uint64_t lock, uint64_t order)
{
    bool on = sg_trace->lane[sg_now->id].on;
    sg_held *h = find_held(lock);
    if (h == NULL) {
        SG_ARRAY_HOLD_IN(sg_trace_larger, sg_trace->held, sg_trace->held_room, sg_trace->held_count, 64);
        h = &sg_trace->held[sg_trace->held_count++];
    }
    *h = (sg_held){lock, order, sg_self()->id, on ? (int32_t)sg_now->id : -1};
    if (on)
        sg_trace_event_put(sg_now, SG_EVENT_LOCK, SG_LOCK_STEP_ACQUIRED, 0, sg_now->clock, lock, order);
}

static void step_lock(uint64_t lock, uint64_t order, enum sg_lock_step step)
{
    if (!sg_trace_tells(SG_TRACED_LOCKS) || !sg_trace_ready())
        return;
    if (step == SG_LOCK_STEP_ACQUIRED) {
        acquired(lock, order);
        return;
    }
    sg_held *h = find_held(lock);
    if (h == NULL)
        return;
    if (h->processor == (int32_t)sg_now->id && sg_trace->lane[sg_now->id].on)
        sg_trace_event_put(sg_now, SG_EVENT_LOCK, SG_LOCK_STEP_RELEASED, 0, sg_now->clock, lock, h->order);
    drop_held(h);
}

static void step_task(uint64_t *number, uint32_t region, enum sg_task_step step)
{
    if (!sg_trace_tells(SG_TRACED_TASKS) || !sg_trace->lane[sg_now->id].on || !sg_trace_ready())
        return;
    if (step == SG_TASK_STEP_CREATED)
        *number = ++sg_trace->tasks;
    else if (sg_trace->tasks == 0 || (*number == 0 && step == SG_TASK_STEP_ENDED))
        return;
    sg_trace_event_put(sg_now, SG_EVENT_TASK, step, region, sg_now->clock, *number, 0);
}

static void mark(enum sg_trace_mark mark, uint64_t value)
{
    if (!sg_trace_tells(mark == SG_MARK_CHUNK ? SG_TRACED_CHUNKS : SG_TRACED_WAITS) ||
        !sg_trace->lane[sg_now->id].on || !sg_trace_ready())
        return;
    sg_trace_event_put(sg_now, SG_EVENT_MARK, mark, sg_region(sg_self()), sg_now->clock, value, 0);
}

/* ---- start and end ---- */

static void read_regions(void)
{
    const char *text = sg->config.trace_region;
    while (*text != '\0' && sg_trace->regions < MAX_REGIONS) {
        char *end;
        sg_trace->region[sg_trace->regions++] = (uint32_t)strtoul(text, &end, 10);
        if (end == text || (*end != '\0' && *end != ','))
            sg_stop(SG_STATUS_INTERNAL, "trace.region: expected numbers with commas between them, got '%s'",
                    sg->config.trace_region);
        text = *end == ',' ? end + 1 : end;
    }
}

static bool open_trace(void)
{
    uint32_t what = sg->config.trace_what != 0 ? sg->config.trace_what : 2 * SG_TRACED_MESSAGES - 1;
    if (sg->config.trace_file[0] == '\0' || !sg_trace_file_open(what))
        return false;
    sg_trace = sg_trace_new(sizeof *sg_trace);
    sg_trace->what = what;
    sg_trace->interval = sg->config.trace_interval;
    sg_trace->lane = sg_trace_new(sg->processors * sizeof *sg_trace->lane);
    sg_trace->waker = sg_trace_new(SG_MAX_THREADS * sizeof *sg_trace->waker);
    sg_trace->inside = sg_trace_new(SG_MAX_THREADS * sizeof *sg_trace->inside);
    sg_trace->begin = UINT64_MAX;
    sg_trace->end_room = (uint64_t)(MOST_RECORDS + END_RECORDS * sg->processors) * sizeof(sg_trace_record);
    read_regions();
    sg->tracing = 1;
    sg->regions_watched++;
    if (sg_trace->regions == 0)
        sg_lane_open_window(0);
    else
        sg_trace->since = sg_trace->until = UINT64_MAX;
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_lane *l = &sg_trace->lane[i];
        l->regions = sg_trace_new(SG_REGION_DEPTH * sizeof *l->regions);
        l->account = sg->processor[i].account;
        l->limit = SG_NEVER;
        sg_lane_turn(&sg->processor[i]);
        sg_lane_set_due(l);
    }
    return true;
}

/* Adds what was counted in regions in which no time has passed since. */
static void add_remains(const sg_processor *p)
{
    sg_lane *l = &sg_trace->lane[p->id];
    for (uint32_t region = 0; region < p->accounts_size; region++) {
        sg_share share;
        if (p->accounts[region] == NULL)
            continue;
        sg_told_since(sg_lane_told_of(l, region), p->accounts[region], 0, &share);
        sg_lane_add_counts(p, &share);
    }
}

/* From the end of the processor's work to the end of the run. */
static void finish(sg_processor *p, uint64_t end)
{
    static const uint32_t program[1] = {0};
    sg_lane *l = &sg_trace->lane[p->id];
    sg_lane_cut(p);
    if (l->on) {
        add_remains(p);
        sg_lane_put_counts(p, p->clock);
    }
    if (p->worked && sg_trace->held_count != 0)
        leave_locks(p->last, p);
    follow(p, program, 1, 0);
    uint64_t begin = p->clock > sg_trace->since ? p->clock : sg_trace->since;
    uint64_t last = end < sg_trace->until ? end : sg_trace->until;
    if (begin < last) {
        if (!l->on)
            sg_lane_turn_on(p, begin);
        if (sg_trace_tells(SG_TRACED_SHARES))
            sg_trace_event_put(p, SG_EVENT_SHARE,
                               p->worked ? SG_CATEGORY_IDLE_FINISHED : SG_CATEGORY_IDLE_NOT_STARTED, 0, last,
                               begin, last - begin);
    } else {
        last = p->clock;
    }
    if (l->on)
        sg_lane_turn_off(p, last);
}

static void end_trace(uint64_t end)
{
    if (!sg_trace_ready())
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
            sg_lane_cut(p);
        if (sg_trace->lane[i].on)
            sg_lane_turn_off(p, sg_trace->lane[i].from);
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
    .waits = begin_wait,
    .barrier_waited = end_barrier_wait,
    .lock_step = step_lock,
    .marks = mark,
    .task = step_task,
    .message = sg_trace_message,
    .message_waited = sg_trace_message_waited,
    .gathered = sg_trace_gathered,
    .loop = sg_trace_loop,
    .ends = end_trace,
    .stops = stop_trace,
    .limit = limit_of,
    .stays = stays,
};

/* Who made others wait: charges all waiting to what delayed the thread waited for.
 *
 * A waiting thread continues because of another thread. Whatever is on that one's course (sg_course.h) but
 * not on the waiting one's made the difference: a region's work, time in a lock, the cost and latency of a
 * message, a sleep. The waiting is charged to these places in proportion. If the other thread has itself
 * waited, its course is that of the thread it waited for. So no chain ends at a wait.
 *
 * A place is a context (the nest of regions), a kind, and for some kinds a code address. `own` also holds
 * the cost of messages by call, since regions do not distinguish calls; and all cycles at other places, in
 * the first category.
 *
 * Nothing here changes a clock or the order of the processors. */
#include "sg_array.h"
#include "sg_course.h"
#include "sg_delay_place.h"
#include "sg_observers.h"
#include "sg_rank.h"

/* Of a thread. */
typedef struct course {
    sg_stretch *now;
    sg_stretch *waker; /* of the thread that woke it */
    uint64_t mark;     /* its course includes its time up to here */
    uint32_t *context; /* by depth of regions */
    uint32_t depth;
    uint32_t work;    /* place of its current work */
    uint32_t held;    /* locks */
    const void *lock; /* where it got the first of them */
    bool inside;      /* in OpenMP's runtime: starting a team, or at a barrier */
    bool runs;
} course;

static struct {
    course *of;          /* by thread number */
    sg_stretch **rested; /* by processor: course of the last thread that left it */
    sg_stretch *last;    /* the last course to end */
    uint32_t *listed;    /* places in which two courses differ */
    uint32_t listed_count, listed_room;
    uint64_t from; /* of a wait charged without leaving the processor */
} delays = {.of = NULL};

/* ---- threads ---- */

static course *course_of(const sg_thread *t)
{
    course *c = &delays.of[t->id];
    if (c->now == NULL)
        c->now = sg_stretch_new(NULL, 0);
    if (c->context == NULL)
        c->context = sg_new((SG_REGION_DEPTH + 1) * sizeof *c->context);
    return c;
}

static uint32_t context_now(const sg_thread *t, course *c)
{
    uint32_t depth = t->depth < SG_REGION_DEPTH ? t->depth : SG_REGION_DEPTH;
    if (c->depth > depth)
        c->depth = depth;
    while (c->depth < depth) { /* from 1 on; 0 is the program's */
        c->depth++;
        c->context[c->depth] = sg_delay_context(c->context[c->depth - 1], t->stack_of_regions[c->depth - 1]);
    }
    return c->context[c->depth];
}

static uint32_t work_of(const sg_thread *t, course *c)
{
    uint32_t at = context_now(t, c);
    if (c->inside)
        return sg_delay_place(at, SG_DELAY_RUNTIME, NULL);
    if (c->held != 0)
        return sg_delay_place(at, SG_DELAY_HELD, c->lock);
    if (at == 0)
        return sg_delay_place(0, SG_DELAY_WORK, NULL);
    if (sg_delays.context[at].place == 0) {
        uint32_t number = sg_delay_place(at, SG_DELAY_WORK, NULL);
        sg_delays.context[at].place = number;
    }
    return sg_delays.context[at].place;
}

/* Charges everything `t` has done since the mark to one place. */
static void flush(course *c, uint64_t clock)
{
    if (clock > c->mark) {
        sg_stretch_add(&c->now, c->work, clock - c->mark, clock);
        sg_delays.place[c->work].own[SG_CATEGORY_BUSY_INT] += clock - c->mark;
    }
    c->mark = clock;
}

/* `p` has lost its thread. */
static void leave(const sg_processor *p)
{
    if (p->last == NULL)
        return;
    course *c = course_of(p->last);
    if (!c->runs)
        return;
    flush(c, p->clock);
    c->runs = false;
    sg_stretch_drop(delays.rested[p->id]);
    delays.rested[p->id] = sg_stretch_hold(c->now);
    if (delays.last == NULL || c->now->end > delays.last->end) {
        sg_stretch_drop(delays.last);
        delays.last = sg_stretch_hold(c->now);
    }
}

/* The course of p's thread at the clock `now`; the thread may be ahead of that. */
static sg_stretch *course_at(const sg_processor *p, uint64_t now)
{
    const sg_thread *t = p->thread != NULL ? p->thread : p->last;
    if (t == NULL)
        return NULL;
    course *c = course_of(t);
    if (c->runs && t == p->thread)
        flush(c, p->clock);
    return sg_stretch_at(c->now, now);
}

static void join(course *c, sg_stretch *late, uint64_t clock)
{
    if (late == NULL || late == c->now)
        return;
    sg_stretch *old = c->now;
    c->now = sg_stretch_new(sg_stretch_hold(late), late->end);
    c->now->end = clock;
    sg_stretch_drop(old);
}

/* ---- charging ---- */

static void add_differences(const sg_stretch *s, int sign)
{
    for (const sg_spent *one = s->spent; one != NULL; one = one->next) {
        sg_delay_account *at = &sg_delays.place[one->place];
        at->more += sign * (int64_t)one->cycles;
        if (!at->listed) {
            at->listed = true;
            SG_ARRAY_HOLD(delays.listed, delays.listed_room, delays.listed_count, 64);
            delays.listed[delays.listed_count++] = one->place;
        }
    }
}

/* Charges `cycles` of waiting at the place `here` to the excess of `late` over `early`. Returns how many it
 * could charge. */
static uint64_t charge(const sg_stretch *late, const sg_stretch *early, uint32_t here,
                       enum sg_category category, uint64_t cycles)
{
    unsigned __int128 sum = 0, so_far = 0;
    uint64_t dealt = 0;
    if (late == NULL || cycles == 0)
        return 0;
    delays.listed_count = 0;
    sg_stretch_differ(late, early, add_differences);
    for (uint32_t i = 0; i < delays.listed_count; i++)
        if (sg_delays.place[delays.listed[i]].more > 0)
            sum += (uint64_t)sg_delays.place[delays.listed[i]].more;
    for (uint32_t i = 0; i < delays.listed_count; i++) {
        sg_delay_account *at = &sg_delays.place[delays.listed[i]];
        if (at->more > 0) {
            so_far += (uint64_t)at->more;
            uint64_t due = (uint64_t)(cycles * so_far / sum);
            at->caused[category] += due - dealt;
            dealt = due;
        }
        at->more = 0;
        at->listed = false;
    }
    sg_delays.place[here].waited[category] += dealt;
    return dealt;
}

static bool is_on_its_way(enum sg_category category)
{
    return category == SG_CATEGORY_IDLE_TRANSFER || category == SG_CATEGORY_IDLE_NETWORK;
}

/* The call in which `t` waits for a message. */
static uint32_t call_of(const sg_thread *t, uint32_t context, enum sg_delay_kind kind, const void *site)
{
    uint32_t at = sg_delay_place(context, kind, site);
    if (sg_delays.place[at].call == NULL)
        sg_delays.place[at].call = t->call;
    return at;
}

/* The cost of a message at its call. */
static void spend(const sg_thread *t, const void *site, enum sg_category category, uint64_t cycles,
                  uint64_t clock)
{
    course *c = course_of(t);
    uint32_t at =
        call_of(t, context_now(t, c), is_on_its_way(category) ? SG_DELAY_TRANSFER : SG_DELAY_MESSAGE, site);
    sg_delays.place[at].own[category] += cycles;
    sg_stretch_add(&c->now, at, cycles, clock);
    sg_stretch_part(&c->now);
}

/* ---- events ---- */

static bool open_delays(void)
{
    if (sg->config.lockstep)
        return false;
    delays.of = sg_reserve(SG_MAX_THREADS * sizeof *delays.of, "the accounts of the simulation");
    delays.rested = sg_new(sg->processors * sizeof *delays.rested);
    sg_delay_places_open();
    sg->regions_watched++;
    return true;
}

static void note_begins(sg_thread *t)
{
    course *c = &delays.of[t->id];
    sg_stretch_drop(c->now);
    sg_stretch_drop(c->waker);
    *c = (course){.context = c->context};
}

static void note_installs(sg_processor *p, sg_thread *t)
{
    (void)t;
    leave(p);
}

static void note_rests(sg_processor *p)
{
    leave(p);
}

/* For the thread that `p` is about to get, or the end of the program. */
static void note_waited(sg_processor *p, const sg_thread *t, enum sg_category category, uint64_t cycles)
{
    if (t == NULL) {
        uint32_t context = sg_delay_context(0, p->account->rest.region);
        charge(delays.last, delays.rested[p->id], sg_delay_place(context, SG_DELAY_WORK, NULL), category,
               cycles);
        return;
    }
    course *c = course_of(t);
    if (t->by_message && is_on_its_way(category)) {
        spend(t, p->site, category, cycles, p->clock);
        return;
    }
    sg_stretch *late = c->waker;
    if (t->by_message)
        late = t->talk.peer >= 0
                   ? course_at(&sg->processor[sg->all_ranks[t->talk.peer]->first_processor], t->met)
                   : NULL;
    uint32_t context = context_now(t, c);
    if (t->timed_out && !t->by_message) {
        sg_stretch_add(&c->now, sg_delay_place(context, SG_DELAY_SLEEP, p->site), cycles, p->clock);
        return;
    }
    uint32_t here = t->by_message ? call_of(t, context, SG_DELAY_MESSAGE, p->site)
                                  : sg_delay_place(context, SG_DELAY_MESSAGE, p->site);
    uint64_t known = charge(late, delays.rested[p->id], here, category, cycles);
    if (t->by_message)
        sg_delays.place[here].own[category] += cycles - known;
    join(c, late, p->clock);
}

static void note_runs(sg_processor *p, const sg_thread *t)
{
    course *c = course_of(t);
    if (c->waker != NULL && c->waker->end > c->now->end)
        join(c, c->waker, p->clock);
    sg_stretch_drop(c->waker);
    c->waker = NULL;
    c->runs = true;
    c->mark = p->clock;
    c->work = work_of(t, c);
}

static void note_wakes(const sg_thread *t, uint64_t when)
{
    const sg_thread *by = sg_now != NULL ? sg_now->thread : NULL;
    (void)when;
    if (by == NULL || by == t)
        return;
    course *c = course_of(by), *other = course_of(t);
    if (c->runs)
        flush(c, sg_now->clock);
    sg_stretch_drop(other->waker);
    other->waker = sg_stretch_hold(c->now);
}

static void note_regions(sg_processor *p, enum sg_regions_change change)
{
    const sg_thread *t = p->thread;
    if (t == NULL)
        return;
    course *c = course_of(t);
    if (c->runs)
        flush(c, p->clock);
    if (change == SG_REGIONS_ALL)
        c->depth = 0;
    c->work = work_of(t, c);
}

static void note_runtime(bool inside)
{
    course *c = course_of(sg_self());
    if (c->runs)
        flush(c, sg_now->clock);
    c->inside = inside;
    c->work = work_of(sg_self(), c);
}

/* ---- locks ---- */

static void note_lock_taken(uint64_t from)
{
    course *c = course_of(sg_self());
    (void)from;
    flush(c, sg_now->clock);
    if (c->held++ == 0)
        c->lock = sg_now->site;
    c->work = work_of(sg_self(), c);
}

static void note_lock_held(uint64_t object, bool holds)
{
    course *c = course_of(sg_self());
    (void)object;
    if (holds || c->held == 0)
        return;
    flush(c, sg_now->clock);
    c->held--;
    c->work = work_of(sg_self(), c);
}

/* ---- messages, and waiting without leaving the processor ---- */

static void note_talked(sg_processor *p, enum sg_category category, uint64_t cycles)
{
    const sg_thread *t = p->thread;
    if (t == NULL || cycles == 0)
        return;
    course *c = course_of(t);
    flush(c, p->clock - cycles);
    spend(t, p->site, category, cycles, p->clock);
    c->mark = p->clock;
}

static void note_waits(void)
{
    flush(course_of(sg_self()), sg_now->clock);
    delays.from = sg_now->clock;
}

static void note_barrier_waited(uint64_t object, uint32_t by, uint64_t released)
{
    sg_processor *p = sg_now;
    course *c = course_of(p->thread);
    (void)object;
    if (&sg->processor[by] == p)
        return;
    sg_stretch *late = course_at(&sg->processor[by], released);
    uint32_t here = sg_delay_place(context_now(p->thread, c), SG_DELAY_MESSAGE, p->site);
    charge(late, c->now, here, SG_CATEGORY_IDLE_BARRIER, p->clock - delays.from);
    join(c, late, p->clock);
    c->mark = p->clock;
}

/* Those still running end now, and the latest of them ends the program. */
static void note_ends(uint64_t end)
{
    (void)end;
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg->processor[i].thread != NULL)
            leave(&sg->processor[i]);
}

/* ---- the result ---- */

static const sg_result_part parts[] = {
    {SG_SECTION_CONTEXTS, sizeof(sg_context_record), sg_delay_put_contexts},
    {SG_SECTION_DELAYS, sizeof(sg_delay), sg_delay_put_places},
};

const sg_observer sg_observer_delay = {
    .name = "delays",
    .takes_part = open_delays,
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .thread_begins = note_begins,
    .installs = note_installs,
    .rests = note_rests,
    .waited = note_waited,
    .runs = note_runs,
    .wakes = note_wakes,
    .regions = note_regions,
    .runtime = note_runtime,
    .lock_taken = note_lock_taken,
    .lock_held = note_lock_held,
    .talked = note_talked,
    .waits = note_waits,
    .barrier_waited = note_barrier_waited,
    .ends = note_ends,
    .cells = sg_delay_cells,
};

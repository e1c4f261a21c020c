/* Who made others wait: all waiting, charged to what made those late that were waited for.
 *
 * Whoever waits goes on because of another thread. What that one has on its course (sg_course.h) and the
 * waiting one has not, made the difference: work of a region, what a lock was held for, what a message cost
 * and how long it was on its way, a sleep. The waiting is charged to these places in proportion. If the other
 * one has waited itself, its course is that of whom it waited for. So no chain ends at a wait.
 *
 * A place is a context (the regions one is in), a kind, and for some kinds a code address. Besides, `own` is
 * kept here: what messages cost by call, as regions do not tell calls apart; and all cycles at other places,
 * in the first category.
 *
 * Nothing here changes a clock or the order of the processors. */
#include <stdio.h>

#include "sg_array.h"
#include "sg_cells.h"
#include "sg_course.h"
#include "sg_observers.h"
#include "sg_rank.h"
#include "sg_table.h"

#define MOST_REGIONS (1u << 20) /* contexts; deeper ones are not told apart */

enum kind { WORK, HELD, MESSAGE, TRANSFER, SLEEP, RUNTIME }; /* as DELAY_KINDS */

typedef struct context {
    uint32_t parent, region;
    uint32_t place; /* for work in it */
} context;

typedef struct place {
    uint64_t own[SG_CATEGORY_COUNT], waited[SG_CATEGORY_COUNT], caused[SG_CATEGORY_COUNT];
    uint64_t address;
    uint32_t context;
    enum kind kind;
    int64_t more; /* on the late course than on the early one */
    bool listed;
} place;

/* Of a thread. */
typedef struct course {
    sg_stretch *now;
    sg_stretch *waker; /* of who let it go on */
    uint64_t mark;     /* up to here its time is in its course */
    uint32_t *context; /* by depth of regions */
    uint32_t depth;
    uint32_t work;    /* place of what it does now */
    uint32_t held;    /* locks */
    const void *lock; /* where it got the first of them */
    bool inside;      /* the runtime of OpenMP: it starts a team, or is at a barrier */
    bool runs;
} course;

static struct {
    course *of;          /* by number of the thread */
    sg_stretch **rested; /* by processor: course of the thread that left it last */
    sg_stretch *last;    /* the course that ended last */
    context *context;
    place *place;
    sg_table contexts, places;
    uint32_t contexts_count, contexts_room, places_count, places_room;
    uint32_t *listed; /* places in which two courses differ */
    uint32_t listed_count, listed_room;
    uint64_t from; /* of a wait that is charged without leaving the processor */
} delays = {.of = NULL};

/* ---- places ---- */

static uint32_t place_of(uint32_t context, enum kind kind, const void *site)
{
    uint32_t number = site != NULL ? (uint32_t)(sg_site_of(site) - sg->sites) : 0;
    uint64_t key = ((uint64_t)context << 40 | (uint64_t)kind << 36 | number) + 1;
    sg_table_entry *entry = sg_table_make(&delays.places, key, 256);
    if (entry->number == 0) {
        uint32_t at = ++delays.places_count;
        SG_ARRAY_HOLD(delays.place, delays.places_room, at, 64);
        delays.place[at] = (place){.context = context, .kind = kind};
        delays.place[at].address = number != 0 ? (uint64_t)(uintptr_t)site : 0;
        entry->number = at;
    }
    return (uint32_t)entry->number;
}

/* A function that calls itself is in one context only. */
static uint32_t around(uint32_t parent, uint32_t region)
{
    for (uint32_t c = parent; c != 0; c = delays.context[c].parent)
        if (delays.context[c].region == region)
            return c;
    return 0;
}

static uint32_t context_of(uint32_t parent, uint32_t region)
{
    sg_table_entry *entry = sg_table_make(&delays.contexts, ((uint64_t)parent << 32 | region) + 1, 256);
    if (entry->number == 0) {
        uint32_t known = around(parent, region);
        if (known == 0 && delays.contexts_count < MOST_REGIONS) {
            known = ++delays.contexts_count;
            SG_ARRAY_HOLD(delays.context, delays.contexts_room, known, 64);
            delays.context[known] = (context){.parent = parent, .region = region};
        }
        entry->number = known != 0 ? known : parent;
    }
    return (uint32_t)entry->number;
}

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
    while (c->depth < depth) { /* from 1 on; 0 is that of the program */
        c->depth++;
        c->context[c->depth] = context_of(c->context[c->depth - 1], t->stack_of_regions[c->depth - 1]);
    }
    return c->context[c->depth];
}

static uint32_t work_of(const sg_thread *t, course *c)
{
    uint32_t at = context_now(t, c);
    if (c->inside)
        return place_of(at, RUNTIME, NULL);
    if (c->held != 0)
        return place_of(at, HELD, c->lock);
    if (at == 0)
        return place_of(0, WORK, NULL);
    if (delays.context[at].place == 0) {
        uint32_t number = place_of(at, WORK, NULL);
        delays.context[at].place = number;
    }
    return delays.context[at].place;
}

/* What `t` has done since the mark was at one place. */
static void flush(course *c, uint64_t clock)
{
    if (clock > c->mark) {
        sg_stretch_add(&c->now, c->work, clock - c->mark, clock);
        delays.place[c->work].own[SG_CATEGORY_BUSY_INT] += clock - c->mark;
    }
    c->mark = clock;
}

/* `p` has lost the thread that it had. */
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

/* The course of the thread of `p` at the clock `now`; it may be ahead of that. */
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
        place *at = &delays.place[one->place];
        at->more += sign * (int64_t)one->cycles;
        if (!at->listed) {
            at->listed = true;
            SG_ARRAY_HOLD(delays.listed, delays.listed_room, delays.listed_count, 64);
            delays.listed[delays.listed_count++] = one->place;
        }
    }
}

/* Charges `cycles` of waiting at the place `here` to what `late` has more of than `early`. Returns how many
 * it could. */
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
        if (delays.place[delays.listed[i]].more > 0)
            sum += (uint64_t)delays.place[delays.listed[i]].more;
    for (uint32_t i = 0; i < delays.listed_count; i++) {
        place *at = &delays.place[delays.listed[i]];
        if (at->more > 0) {
            so_far += (uint64_t)at->more;
            uint64_t due = (uint64_t)(cycles * so_far / sum);
            at->caused[category] += due - dealt;
            dealt = due;
        }
        at->more = 0;
        at->listed = false;
    }
    delays.place[here].waited[category] += dealt;
    return dealt;
}

static bool is_on_its_way(enum sg_category category)
{
    return category == SG_CATEGORY_IDLE_TRANSFER || category == SG_CATEGORY_IDLE_NETWORK;
}

/* What a message costs where it is called. */
static void spend(const sg_thread *t, const void *site, enum sg_category category, uint64_t cycles,
                  uint64_t clock)
{
    course *c = course_of(t);
    uint32_t at = place_of(context_now(t, c), is_on_its_way(category) ? TRANSFER : MESSAGE, site);
    delays.place[at].own[category] += cycles;
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
    SG_ARRAY_HOLD(delays.context, delays.contexts_room, 1, 64);
    SG_ARRAY_HOLD(delays.place, delays.places_room, 1, 64);
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

/* Of the thread that `p` is about to get, or of the end of the program. */
static void note_waited(sg_processor *p, const sg_thread *t, enum sg_category category, uint64_t cycles)
{
    if (t == NULL) {
        uint32_t context = context_of(0, p->account->rest.region);
        charge(delays.last, delays.rested[p->id], place_of(context, WORK, NULL), category, cycles);
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
        sg_stretch_add(&c->now, place_of(context, SLEEP, p->site), cycles, p->clock);
        return;
    }
    uint32_t here = place_of(context, MESSAGE, p->site);
    uint64_t known = charge(late, delays.rested[p->id], here, category, cycles);
    if (t->by_message)
        delays.place[here].own[category] += cycles - known;
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

/* ---- messages, and waits without leaving the processor ---- */

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
    uint32_t here = place_of(context_now(p->thread, c), MESSAGE, p->site);
    charge(late, c->now, here, SG_CATEGORY_IDLE_BARRIER, p->clock - delays.from);
    join(c, late, p->clock);
    c->mark = p->clock;
}

/* Those that still run end now, and the latest of them ends the program. */
static void note_ends(uint64_t end)
{
    (void)end;
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg->processor[i].thread != NULL)
            leave(&sg->processor[i]);
}

/* ---- the result ---- */

static void report_cells(sg_cells *cells)
{
    sg_cells_add(cells, &delays.place, delays.place, sizeof *delays.place, offsetof(place, address),
                 delays.places_count + 1);
}

static uint64_t put_contexts(struct sg_writer *w)
{
    for (uint32_t i = 1; i <= delays.contexts_count; i++) {
        const context *c = &delays.context[i];
        sg_put(w, &(sg_context_record){.parent = c->parent, .region = c->region}, sizeof(sg_context_record));
    }
    return delays.contexts_count;
}

static uint64_t put_places(struct sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i <= delays.places_count; i++) {
        const place *at = &delays.place[i];
        for (uint32_t k = 0; k < SG_CATEGORY_COUNT; k++) {
            sg_delay record = {.context = at->context, .kind = at->kind, .category = k};
            record.address = at->address;
            record.own = at->own[k];
            record.waited = at->waited[k];
            record.caused = at->caused[k];
            if ((record.own | record.waited | record.caused) == 0)
                continue;
            sg_put(w, &record, sizeof record);
            count++;
        }
    }
    return count;
}

static const sg_result_part parts[] = {
    {SG_SECTION_CONTEXTS, sizeof(sg_context_record), put_contexts},
    {SG_SECTION_DELAYS, sizeof(sg_delay), put_places},
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
    .cells = report_cells,
};

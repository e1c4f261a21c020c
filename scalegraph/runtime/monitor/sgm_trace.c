/* Traces of real runs: records in the simulator's format, with times in ticks. Each thread fills its own
 * buffer; a full one is written to the process's file at the next moment when that can be charged to the
 * monitor. Waits are recorded without their holders: the reader of the records finds them from the time at
 * which the wait ended, which is also in another thread's record. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sgm.h"

enum { ROOM = 1 << 15, FULL = ROOM - 256 }; /* records of a thread's buffer: 1 MiB */
enum { WATCHED = 64, SHARE = 256 };         /* SHARE: records that a thread takes from the limit at once */

uint32_t sgm_traced;
static uint32_t asked;                       /* sgm_traced at the start */
static uint64_t limit = UINT64_MAX, written; /* records */
static uint64_t taken;                       /* of the limit, by all threads */
static uint64_t full_at = UINT64_MAX;        /* ticks at which it was reached */
static int file = -1;
static int64_t lock;

/* ---- parts of a run: a window of time, and windows while threads are in watched regions ----
 *
 * Whatever overlaps a window is recorded completely, and cut afterwards. A thread's first record in a window
 * enters all its current regions. Messages and collective operations are always recorded, because they are
 * matched by their order. */

static bool is_part;
static uint64_t since, until = UINT64_MAX; /* ticks; before the program begins: relative to its start */
static uint32_t watched[WATCHED], watched_count;
static int64_t inside;          /* current visits of watched regions */
static uint64_t opened, closed; /* when this last became 1, and 0 */
static uint32_t window = 1;     /* number of that */

static void read_part(void)
{
    const char *begin = getenv("SCALEGRAPH_TRACE_BEGIN"), *end = getenv("SCALEGRAPH_TRACE_END"),
               *regions = getenv("SCALEGRAPH_TRACE_REGIONS");
    double each = begin != NULL || end != NULL ? sgm_frequency() * 1e-9 : 0;
    if (begin != NULL)
        since = (uint64_t)(strtod(begin, NULL) * each);
    if (end != NULL)
        until = (uint64_t)(strtod(end, NULL) * each);
    while (regions != NULL && *regions != '\0' && watched_count < WATCHED) {
        char *after;
        watched[watched_count++] = (uint32_t)strtoul(regions, &after, 10);
        regions = *after == ',' ? after + 1 : "";
    }
    is_part = begin != NULL || end != NULL || watched_count > 0;
    if (is_part)
        sgm_traced |= SGM_TRACE_SHARES | SGM_TRACE_REGIONS;
}

void sgm_trace_from(uint64_t origin)
{
    since += origin;
    until = until > UINT64_MAX - origin ? UINT64_MAX : until + origin;
}

/* The thread records for the first time in this window: enters its current regions, including the innermost
 * if `all`. */
static void join(sgm_thread *t, bool all)
{
    uint64_t from = __atomic_load_n(&opened, __ATOMIC_ACQUIRE), at = from > since ? from : since;
    uint32_t depth = t->depth < SGM_DEPTH ? t->depth : SGM_DEPTH;
    t->window = __atomic_load_n(&window, __ATOMIC_ACQUIRE);
    for (uint32_t level = 1; level <= depth; level++)
        if (level < depth || all)
            sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_CALL,
                                               .what = 1,
                                               .region = level < depth ? t->stack[level] : t->region,
                                               .time = at});
    sgm_begin_meter(t);
    t->metered_at = t->last;
}

/* Should the interval `from` to `to`, not before the thread's last record, be recorded? */
static bool is_wanted(sgm_thread *t, uint64_t from, uint64_t to)
{
    if (SGM_LIKELY(!is_part))
        return true;
    if (to < since || from >= until)
        return false;
    bool open = watched_count == 0 || __atomic_load_n(&inside, __ATOMIC_ACQUIRE) > 0;
    if (!open && from >= __atomic_load_n(&closed, __ATOMIC_ACQUIRE))
        return false;
    if (t->window != __atomic_load_n(&window, __ATOMIC_ACQUIRE))
        join(t, true);
    return true;
}

static bool is_watched(uint32_t region)
{
    for (uint32_t one = 0; one < watched_count; one++)
        if (watched[one] == region)
            return true;
    return false;
}

/* The thread is in a watched region from `now` on. */
static void go_inside(sgm_thread *t, uint64_t now)
{
    if (__atomic_fetch_add(&inside, 1, __ATOMIC_ACQ_REL) == 0) {
        __atomic_store_n(&opened, now, __ATOMIC_RELEASE);
        __atomic_add_fetch(&window, 1, __ATOMIC_ACQ_REL);
    }
    if (t->window != __atomic_load_n(&window, __ATOMIC_ACQUIRE) && now >= since && now < until)
        join(t, false);
}

static void go_outside(uint64_t now)
{
    if (__atomic_sub_fetch(&inside, 1, __ATOMIC_ACQ_REL) == 0)
        __atomic_store_n(&closed, now, __ATOMIC_RELEASE);
}

/* ---- buffers ---- */

void sgm_trace_begin(void)
{
    const char *place = getenv("SCALEGRAPH_TRACE"), *what = getenv("SCALEGRAPH_TRACE_WHAT"),
               *most = getenv("SCALEGRAPH_TRACE_LIMIT"), *every = getenv("SCALEGRAPH_TRACE_INTERVAL");
    char name[4096];
    sg_trace_header header = {0};
    if (place == NULL || what == NULL)
        return;
    snprintf(name, sizeof name, "%s.%s", place, sgm_process_name());
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        fprintf(stderr, "scalegraph: %s: the trace cannot be written: %s\n", name, strerror(errno));
        return;
    }
    if (most != NULL)
        limit = strtoull(most, NULL, 10) / sizeof(sg_trace_record);
    sgm_traced = (uint32_t)strtoul(what, NULL, 10);
    if (every != NULL && (sgm_traced & SGM_TRACE_COUNTERS) != 0)
        sgm_meter_every = (uint64_t)(strtod(every, NULL) * 1e-9 * sgm_frequency());
    read_part();
    if (!sgm_write_all(file, &header, sizeof header))
        sgm_traced = 0;
    asked = sgm_traced;
}

void sgm_trace_begin_thread(sgm_thread *t)
{
    if (sgm_traced != 0)
        t->records = sgm_touched_memory(ROOM * sizeof *t->records);
}

/* Stops recording at `now`; the run continues. */
static void stop(uint64_t now)
{
    uint64_t before = __atomic_load_n(&full_at, __ATOMIC_RELAXED);
    while (now < before &&
           !__atomic_compare_exchange_n(&full_at, &before, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    sgm_traced = 0;
}

static void flush(sgm_thread *t)
{
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
    bool done = file >= 0 && sgm_write_all(file, t->records, t->recorded * sizeof *t->records);
    written += done ? t->recorded : 0;
    if (!done)
        stop(sgm_ticks());
    t->allowed -= t->recorded;
    t->recorded = 0;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* Takes more of the limit. Threads reserve before they record, so that everything recorded can be written
 * when the limit is reached; false: it is reached at `now`. */
static bool extend(sgm_thread *t, uint64_t now)
{
    if (t->recorded == ROOM)
        flush(t);
    uint32_t most = ROOM - t->allowed < SHARE ? ROOM - t->allowed : SHARE;
    uint64_t before = __atomic_fetch_add(&taken, most, __ATOMIC_RELAXED);
    uint64_t left = before < limit ? limit - before : 0;
    t->allowed += left < most ? (uint32_t)left : most;
    if (left == 0)
        stop(now);
    return left != 0;
}

void sgm_trace_put(sgm_thread *t, sg_trace_record record)
{
    if (t->records == NULL)
        t->records = sgm_touched_memory(ROOM * sizeof *t->records);
    if (t->recorded == t->allowed && !extend(t, record.time))
        return;
    record.processor = (uint16_t)t->number;
    t->records[t->recorded++] = record;
}

void sgm_trace_nothing_of(sgm_thread *t)
{
    t->allowed = ROOM;
}

/* Makes room and reads counters at a point where time may pass: it counts as the monitor's. */
void sgm_trace_make_room(sgm_thread *t)
{
    bool meters = t->last - t->metered_at >= sgm_meter_every && (sgm_traced & SGM_TRACE_COUNTERS) != 0 &&
                  is_wanted(t, t->last, t->last);
    if (t->recorded < FULL && !meters)
        return;
    if (meters)
        sgm_meter(t);
    if (t->recorded >= FULL)
        flush(t);
    sgm_charge(t, sgm_ticks(), SG_CATEGORY_PRIM_MONITOR);
}

void sgm_trace_end_thread(sgm_thread *t)
{
    if ((sgm_traced & SGM_TRACE_COUNTERS) != 0 && is_wanted(t, t->last, t->last))
        sgm_meter(t);
}

void sgm_trace_share(sgm_thread *t, uint32_t category, uint64_t from, uint64_t to)
{
    if (!is_wanted(t, from, to) || from == to)
        return;
    sg_trace_record *last = t->recorded > 0 ? &t->records[t->recorded - 1] : NULL;
    if (last != NULL && last->event == SG_EVENT_SHARE && last->time == from && last->what == category &&
        last->region == t->region) {
        last->time = to;
        last->second += to - from;
        return;
    }
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_SHARE,
                                       .what = (uint8_t)category,
                                       .region = t->region,
                                       .time = to,
                                       .first = from,
                                       .second = to - from});
}

static const uint8_t waits[] = SG_CATEGORY_WAITS;

/* The thread waited in `category`, and could continue at `to`. */
void sgm_trace_wait(sgm_thread *t, uint32_t category, uint64_t from, uint64_t to, uint64_t object)
{
    if ((sgm_traced & SGM_TRACE_WAITS) == 0 || from >= to || !is_wanted(t, from, to))
        return;
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_WAIT,
                                       .what = waits[category],
                                       .region = t->region,
                                       .time = to,
                                       .first = from,
                                       .second = object});
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_WAKER, .time = to});
}

/* The time since `from` was spent in `category`; it is now in another. */
void sgm_trace_switched(sgm_thread *t, uint32_t category, uint64_t from)
{
    t->switched = t->last;
    if (waits[category] != SG_WHY_OTHER)
        sgm_trace_wait(t, category, from, t->last, t->object);
    sgm_trace_make_room(t);
}

void sgm_trace_call(sgm_thread *t, uint32_t what, uint32_t region, uint64_t now)
{
    bool changes = watched_count > 0 && is_watched(region);
    if (changes && what == 1)
        go_inside(t, now);
    if (is_wanted(t, now, now))
        sgm_trace_put(t, (sg_trace_record){
                             .event = SG_EVENT_CALL, .what = (uint8_t)what, .region = region, .time = now});
    if (changes && what == 2)
        go_outside(now);
    sgm_trace_make_room(t);
}

void sgm_trace_mark(sgm_thread *t, uint32_t mark, uint64_t now, uint64_t value)
{
    if (!is_wanted(t, now, now))
        return;
    sgm_trace_put(
        t,
        (sg_trace_record){
            .event = SG_EVENT_MARK, .what = (uint8_t)mark, .region = t->region, .time = now, .first = value});
}

void sgm_trace_lock(sgm_thread *t, uint32_t step, const volatile void *object)
{
    uint64_t now = sgm_ticks();
    if (!is_wanted(t, now, now))
        return;
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_LOCK,
                                       .what = (uint8_t)step,
                                       .time = now,
                                       .first = (uint64_t)(uintptr_t)object});
}

/* `parent` of a created task: the task that creates it. */
void sgm_trace_task(sgm_thread *t, uint32_t step, uint32_t region, uint64_t now, uint64_t task,
                    uint64_t parent)
{
    if (SGM_LIKELY((sgm_traced & SGM_TRACE_TASKS) == 0) || !is_wanted(t, now, now))
        return;
    sgm_trace_put(t, (sg_trace_record){.event = SG_EVENT_TASK,
                                       .what = (uint8_t)step,
                                       .region = region,
                                       .time = now,
                                       .first = task,
                                       .second = parent});
}

/* Writes the threads' remaining records, and the header. Threads still running record nothing more. */
void sgm_trace_end(uint64_t origin, uint64_t now, double hertz)
{
    bool full = full_at != UINT64_MAX;
    if (file < 0)
        return;
    sgm_traced = 0;
    for (sgm_thread *t = sgm_threads(); t != NULL; t = t->next)
        if (t->recorded > 0)
            flush(t);
    sg_trace_header header = {.version = SG_TRACE_VERSION,
                              .endian = SG_ENDIAN_MARK,
                              .state = full ? SG_TRACE_STATE_FULL : SG_TRACE_STATE_WHOLE,
                              .processors = sgm_thread_count(),
                              .record_size = sizeof(sg_trace_record),
                              .what = asked,
                              .records = written,
                              .begin = origin,
                              .end = full ? full_at : now,
                              .clock_hz = (uint64_t)(hertz + 0.5),
                              .asked_begin = since > origin ? since : 0,
                              .asked_end = until != UINT64_MAX ? until : 0,
                              .asked_regions = watched_count,
                              .limit = limit * sizeof(sg_trace_record)};
    memcpy(header.magic, SG_TRACE_MAGIC, sizeof header.magic);
    if (pwrite(file, &header, sizeof header, 0) != (ssize_t)sizeof header)
        fprintf(stderr, "scalegraph: the trace cannot be written: %s\n", strerror(errno));
    close(file);
    file = -1;
}

/* Calendar reservations before the last interval. */
#include "sg_calendar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of the intervals before the last one, the first that ends after `from`, or one past them if there is
 * none. */
static inline const sg_interval *first_after(const sg_calendar *c, uint64_t from)
{
    const sg_interval *at = &c->busy[c->count];
    if (c->count > SG_CALENDAR_SIZE / 2 && c->busy[c->count / 2].end > from)
        at = &c->busy[c->count / 2]; /* otherwise there are seldom many steps */
    while (at != &c->busy[1] && at[-1].end > from)
        at--;
    return at;
}

/* The first gap of at least `length` from `from` on; `*at` becomes the interval after it, or one past those
 * before the last. UINT64_MAX: no such gap before the last interval. */
static inline uint64_t gap(const sg_calendar *c, uint64_t from, uint64_t length, const sg_interval **at)
{
    const sg_interval *next = first_after(c, from), *end = &c->busy[c->count];
    for (; next != end && next->start < from + length; next++)
        from = next->end;
    *at = next;
    return next == end && c->busy[0].start < from + length ? UINT64_MAX : from;
}

uint64_t sg_calendar_search(const sg_calendar *c, uint64_t from, uint64_t length, uint32_t *place)
{
    const sg_interval *at;
    uint64_t start = gap(c, from, length, &at);
    *place = start == UINT64_MAX ? (uint32_t)c->count : (uint32_t)(at - &c->busy[1]);
    return start == UINT64_MAX ? c->busy[0].end : start;
}

void sg_calendar_forget(sg_calendar *c)
{
    uint64_t half = SG_CALENDAR_SIZE / 2;
    c->count -= half;
    for (uint64_t i = 1; i < SG_CALENDAR_SIZE - half; i++)
        c->busy[i] = c->busy[i + half];
}

/* Removes the interval at `place`, which is not the last one. */
static void leave_out(sg_calendar *c, uint64_t place)
{
    c->count--;
    for (uint64_t i = place + 1; i < c->count; i++)
        c->busy[i] = c->busy[i + 1];
}

/* Inserts an interval before `at` that touches no other. */
static void add(sg_calendar *c, uint64_t start, uint64_t end, sg_interval *at)
{
    if (__builtin_expect(c->count == SG_CALENDAR_SIZE, 0)) {
        sg_calendar_forget(c);
        at -= SG_CALENDAR_SIZE / 2;
        if (at < &c->busy[1])
            return; /* before everything remembered */
    }
    for (sg_interval *to = &c->busy[c->count]; to != at; to--) {
        *to = to[-1];
        __asm__ volatile(""); /* so few that a memmove call would be slower */
    }
    *at = (sg_interval){start, end};
    c->count++;
}

static inline void insert(sg_calendar *c, uint64_t start, uint64_t length, sg_interval *at)
{
    sg_interval *after = at == &c->busy[c->count] ? &c->busy[0] : at;
    if (at != &c->busy[1] && at[-1].end == start) {
        at[-1].end += length;
        if (after->start == start + length) { /* merges the two */
            after->start = at[-1].start;
            leave_out(c, (uint64_t)(at - &c->busy[2]));
        }
    } else if (after->start == start + length) {
        after->start = start;
    } else {
        add(c, start, start + length, at);
    }
}

void sg_calendar_insert(sg_calendar *c, uint64_t start, uint64_t length, uint32_t place)
{
    insert(c, start, length, &c->busy[place + 1]);
}

uint64_t sg_calendar_reserve_early(sg_calendar *c, uint64_t from, uint64_t length)
{
    const sg_interval *at;
    uint64_t start = gap(c, from, length, &at);
    if (start == UINT64_MAX) {
        start = c->busy[0].end;
        c->busy[0].end += length;
    } else {
        insert(c, start, length, (sg_interval *)at);
    }
    c->waited += start - from;
    return start;
}

void sg_calendar_condense(sg_calendar *c, uint64_t now)
{
    uint64_t past = 0, best = 1;
    while (past < c->count && sg_calendar_interval(c, past)->end <= now)
        past++;
    c->count -= past;
    if (c->count == 0)
        c->busy[0] = (sg_interval){0, 0};
    else
        memmove(&c->busy[1], &c->busy[1 + past], (c->count - 1) * sizeof(sg_interval));
    if (past > 0)
        return;
    for (uint64_t i = 2, gap = 0, least = UINT64_MAX; i <= c->count; i++) {
        gap = sg_calendar_interval(c, i - 1)->start - c->busy[i - 1].end;
        if (gap < least) {
            least = gap;
            best = i - 1;
        }
    }
    sg_interval *after = &c->busy[best + 1 == c->count ? 0 : best + 1];
    after->start = c->busy[best].start;
    leave_out(c, best - 1);
}

void sg_usage_tell(const sg_calendar *c, size_t count, uint64_t scale, const char *kind,
                   sg_usage_visit *visit, void *context, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    sg_usage usage = {.kind = kind, .format = format, .arguments = &list, .units = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        usage.transactions += c[i].transactions;
        usage.busy += c[i].occupied;
        usage.waiting += c[i].waited;
    }
    usage.busy /= scale;
    usage.waiting /= scale;
    visit(context, &usage);
    va_end(list);
}

void sg_usage_name(const sg_usage *usage, char *name, size_t size)
{
    int length = usage->node > 0 ? snprintf(name, size, "node %u ", usage->node - 1) : 0;
    va_list list;
    va_copy(list, *usage->arguments);
    vsnprintf(name + length, size - (size_t)length, usage->format, list);
    va_end(list);
}

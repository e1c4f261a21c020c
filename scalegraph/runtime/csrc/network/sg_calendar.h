/* When a resource (slot, link, module, channel) is busy: a short sorted list of intervals.
 *
 * A transaction reserves the resources of its whole path when it starts, so a resource may be reserved for
 * later than the next request needs it. A single next-free time would make that request wait behind the
 * reservation; the list lets it use the gap. Adjacent intervals are merged, so a hot spot's queue is a
 * single interval. A full list forgets its oldest half: that time is past for all but a request that
 * started much earlier. The caller chooses the unit of time. The calendar also holds the resource's
 * activity so far: transactions, busy time and waiting time.
 *
 * Most requests find the resource free or queue behind all others, so the code that looks only at the last
 * interval is here and inlined. The rest is in sg_calendar.c. */
#ifndef SG_CALENDAR_H
#define SG_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#include "sg_usage.h"

#define SG_CALENDAR_SIZE 16u

typedef struct sg_interval {
    uint64_t start, end; /* busy from start up to but not including end */
} sg_interval;

typedef struct sg_calendar {
    uint64_t transactions, occupied, waited;
    uint64_t count;
    /* The last interval is at 0, all zero if there is none; those before it are at 1 .. count - 1. So
     * appending moves one entry. */
    sg_interval busy[SG_CALENDAR_SIZE];
} sg_calendar;

/* The i-th interval in order of time. */
static inline const sg_interval *sg_calendar_interval(const sg_calendar *c, uint64_t i)
{
    return &c->busy[i + 1 == c->count ? 0 : i + 1];
}

/* ---- sg_calendar.c ---- */

/* The two below, for times before the last interval. */
uint64_t sg_calendar_search(const sg_calendar *c, uint64_t from, uint64_t length, uint32_t *place);
void sg_calendar_insert(sg_calendar *c, uint64_t start, uint64_t length, uint32_t place);
uint64_t sg_calendar_reserve_early(sg_calendar *c, uint64_t from, uint64_t length);
/* Drops the oldest half of a full list. */
void sg_calendar_forget(sg_calendar *c);
/* Drops the intervals that end at `now` or before; if there are none, closes the smallest gap. */
void sg_calendar_condense(sg_calendar *c, uint64_t now);

/* ---- */

/* Appends an interval after all others. */
static inline void sg_calendar_append(sg_calendar *c, uint64_t start, uint64_t end)
{
    if (__builtin_expect(c->count == SG_CALENDAR_SIZE, 0))
        sg_calendar_forget(c);
    c->busy[c->count].start = c->busy[0].start;
    c->busy[c->count].end = c->busy[0].end;
    c->count++;
    c->busy[0].start = start;
    c->busy[0].end = end;
}

/* Extends the last interval or appends after it. */
static inline void sg_calendar_take_last(sg_calendar *c, uint64_t start, uint64_t length)
{
    if (start == c->busy[0].end && c->count != 0)
        c->busy[0].end = start + length; /* a queue grows at its end */
    else
        sg_calendar_append(c, start, start + length);
}

/* First time from `from` on at which the resource is free for `length`; `*place` is for sg_calendar_take. */
static inline uint64_t sg_calendar_find(const sg_calendar *c, uint64_t from, uint64_t length, uint32_t *place)
{
    *place = (uint32_t)c->count;
    if (from >= c->busy[0].end)
        return from;
    if (from >= c->busy[0].start && from + length > c->busy[0].start)
        return c->busy[0].end;
    return sg_calendar_search(c, from, length, place);
}

/* `waited`: how long the transaction had to wait for this resource. */
static inline void sg_calendar_count(sg_calendar *c, uint64_t length, uint64_t waited)
{
    c->transactions++;
    c->occupied += length;
    c->waited += waited;
}

static inline void sg_calendar_take(sg_calendar *c, uint64_t start, uint64_t length, uint32_t place,
                                    uint64_t waited)
{
    sg_calendar_count(c, length, waited);
    if (place == c->count)
        sg_calendar_take_last(c, start, length);
    else
        sg_calendar_insert(c, start, length, place);
}

/* Reserves the resource for `length` at the earliest time from `from` on; returns the start. */
static inline uint64_t sg_calendar_reserve(sg_calendar *c, uint64_t from, uint64_t length)
{
    if (length == 0)
        return from;
    c->transactions++;
    c->occupied += length;
    if (from < c->busy[0].start)
        return sg_calendar_reserve_early(c, from, length);
    if (from < c->busy[0].end) {
        c->waited += c->busy[0].end - from;
        from = c->busy[0].end;
    }
    sg_calendar_take_last(c, from, length);
    return from;
}

/* Reports `count` calendars as one resource; `scale` of their units make a cycle. */
__attribute__((format(printf, 7, 8))) void sg_usage_tell(const sg_calendar *c, size_t count, uint64_t scale,
                                                         const char *kind, sg_usage_visit *visit,
                                                         void *context, const char *format, ...);
/* "ring 0", "link 3>4", "memory 5", "bus": unique in its machine; in a cluster "node 2 bus". */
void sg_usage_name(const sg_usage *usage, char *name, size_t size);

#endif

/* When a resource (slot, link, module, channel) is busy: a short sorted list of intervals.
 *
 * A transaction reserves the resources of its whole path when it starts, so a resource may be reserved
 * for later than the next request needs it. One next-free time would make that request wait for a
 * reservation behind it; the list lets it use the gap. Adjacent intervals are one, so a hot spot's queue
 * is a single interval. A list that is full forgets its oldest half: that time is past for all but a
 * request that started much earlier. The unit of time is the caller's. Beside it stands what the resource has
 * done so far: transactions, how long it was busy with them and how long they had to wait for it. */
#ifndef SG_CALENDAR_H
#define SG_CALENDAR_H

#include <stdint.h>
#include <string.h>

#define SG_CALENDAR_SIZE 16u

typedef struct sg_interval {
    uint64_t start, end; /* busy from start up to, not including, end */
} sg_interval;

typedef struct sg_calendar {
    uint32_t count;
    uint64_t transactions, occupied, waited;
    sg_interval busy[SG_CALENDAR_SIZE];
} sg_calendar;

/* First time from `from` on when the resource is free for `length`; `*place` is for sg_calendar_take. */
static inline uint64_t sg_calendar_find(const sg_calendar *c, uint64_t from, uint64_t length, uint32_t *place)
{
    uint32_t i = c->count;
    while (i > 0 && c->busy[i - 1].end > from)
        i--;
    while (i < c->count && c->busy[i].start < from + length) {
        from = c->busy[i].end;
        i++;
    }
    *place = i;
    return from;
}

/* `waited`: how long the transaction had to wait for this resource. */
static inline void sg_calendar_take(sg_calendar *c, uint64_t start, uint64_t length, uint32_t place,
                                    uint64_t waited)
{
    c->transactions++;
    c->occupied += length;
    c->waited += waited;
    if (place == c->count && place > 0 && c->busy[place - 1].end == start) {
        c->busy[place - 1].end += length; /* a queue grows at its end */
        return;
    }
    int joins_before = place > 0 && c->busy[place - 1].end == start;
    int joins_after = place < c->count && c->busy[place].start == start + length;
    if (joins_before && joins_after) {
        c->busy[place - 1].end = c->busy[place].end;
        c->count--;
        memmove(&c->busy[place], &c->busy[place + 1], (c->count - place) * sizeof(sg_interval));
    } else if (joins_before) {
        c->busy[place - 1].end += length;
    } else if (joins_after) {
        c->busy[place].start = start;
    } else {
        if (c->count == SG_CALENDAR_SIZE) {
            uint32_t half = SG_CALENDAR_SIZE / 2;
            memmove(c->busy, c->busy + half, (SG_CALENDAR_SIZE - half) * sizeof(sg_interval));
            c->count -= half;
            if (place < half)
                return; /* before everything that is remembered */
            place -= half;
        }
        for (uint32_t i = c->count; i > place; i--) /* seldom more than one or two */
            c->busy[i] = c->busy[i - 1];
        c->busy[place] = (sg_interval){start, start + length};
        c->count++;
    }
}

/* Reserves the resource for `length` as early as possible from `from` on; returns the start. */
static inline uint64_t sg_calendar_reserve(sg_calendar *c, uint64_t from, uint64_t length)
{
    uint32_t place;
    if (length == 0)
        return from;
    uint64_t start = sg_calendar_find(c, from, length, &place);
    sg_calendar_take(c, start, length, place, start - from);
    return start;
}

#endif

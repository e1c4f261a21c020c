/* Threads' courses; see sg_course.h. */
#include "sg_course.h"

#define BLOCK 256u /* allocated at a time */
#define AGO   12u  /* stretches kept separate, for messages sent some time ago */

static struct {
    sg_stretch *stretch; /* free list, linked by `before` */
    sg_spent *spent;
} unused = {NULL, NULL};

static sg_stretch *take_stretch(void)
{
    if (unused.stretch == NULL) {
        sg_stretch *block = sg_new(BLOCK * sizeof *block);
        for (uint32_t i = 0; i < BLOCK; i++) {
            block[i].before = unused.stretch;
            unused.stretch = &block[i];
        }
    }
    sg_stretch *s = unused.stretch;
    unused.stretch = s->before;
    return s;
}

static sg_spent *take_spent(void)
{
    if (unused.spent == NULL) {
        sg_spent *block = sg_new(BLOCK * sizeof *block);
        for (uint32_t i = 0; i < BLOCK; i++) {
            block[i].next = unused.spent;
            unused.spent = &block[i];
        }
    }
    sg_spent *s = unused.spent;
    unused.spent = s->next;
    return s;
}

static void give_back(sg_stretch *s)
{
    for (sg_spent *one = s->spent, *next; one != NULL; one = next) {
        next = one->next;
        one->next = unused.spent;
        unused.spent = one;
    }
    s->before = unused.stretch;
    unused.stretch = s;
}

sg_stretch *sg_stretch_new(sg_stretch *before, uint64_t now)
{
    sg_stretch *s = take_stretch();
    *s = (sg_stretch){.before = before, .begin = now, .end = now, .references = 1};
    s->depth = before != NULL ? before->depth + 1 : 1;
    return s;
}

sg_stretch *sg_stretch_hold(sg_stretch *s)
{
    if (s != NULL)
        s->references++;
    return s;
}

void sg_stretch_drop(sg_stretch *s)
{
    while (s != NULL && --s->references == 0) {
        sg_stretch *before = s->before;
        give_back(s);
        s = before;
    }
}

static void put(sg_stretch *s, uint32_t place, uint64_t cycles)
{
    sg_spent **at = &s->spent, *one;
    while ((one = *at) != NULL && one->place != place)
        at = &one->next;
    if (one != NULL) {
        *at = one->next;
    } else {
        one = take_spent();
        *one = (sg_spent){.place = place};
    }
    one->cycles += cycles;
    one->next = s->spent; /* recently used places tend to come again */
    s->spent = one;
}

void sg_stretch_add(sg_stretch **s, uint32_t place, uint64_t cycles, uint64_t now)
{
    if ((*s)->references > 1)
        *s = sg_stretch_new(*s, (*s)->end);
    if (cycles != 0)
        put(*s, place, cycles);
    if (now > (*s)->end)
        (*s)->end = now;
}

/* Merges the stretch before `s` into it, unless others refer to it. */
static void absorb(sg_stretch *s)
{
    sg_stretch *old = s->before;
    if (old == NULL || old->references > 1)
        return;
    for (const sg_spent *one = old->spent; one != NULL; one = one->next)
        put(s, one->place, one->cycles);
    s->begin = old->begin;
    s->before = old->before;
    give_back(old);
}

void sg_stretch_part(sg_stretch **s)
{
    sg_stretch *old = *s = sg_stretch_new(*s, (*s)->end);
    for (uint32_t i = 0; i < AGO && old != NULL; i++)
        old = old->before;
    if (old != NULL)
        absorb(old);
}

sg_stretch *sg_stretch_at(sg_stretch *s, uint64_t now)
{
    while (s != NULL && s->before != NULL && s->begin >= now)
        s = s->before;
    return s;
}

void sg_stretch_differ(const sg_stretch *late, const sg_stretch *early,
                       void (*add)(const sg_stretch *s, int sign))
{
    while (late != early)
        if (early == NULL || (late != NULL && late->depth >= early->depth)) {
            add(late, 1);
            late = late->before;
        } else {
            add(early, -1);
            early = early->before;
        }
}

/* Courses of threads: what happened on the way to what a thread does now, without any waiting.
 *
 * A course is a chain of stretches. Each says how long its thread spent at which places. A thread that has
 * waited for another one goes on with the course of that one: what it did itself meanwhile made nobody late.
 * So courses form a tree, and two of them part where the threads last depended on one another. What one has
 * more of than the other behind that point is why it came later. */
#ifndef SG_COURSE_H
#define SG_COURSE_H

#include "sg_runtime.h"

/* So many cycles at the place with this number. */
typedef struct sg_spent {
    struct sg_spent *next;
    uint32_t place;
    uint64_t cycles;
} sg_spent;

typedef struct sg_stretch {
    struct sg_stretch *before; /* NULL: the beginning of the program */
    sg_spent *spent;
    uint64_t begin, end; /* clock; `begin` is that of the first stretch that has become part of it */
    uint32_t depth;      /* greater than that of the one before */
    uint32_t references; /* with one it may still grow */
} sg_stretch;

/* What is behind `before`, from the clock `now` on; takes the caller's reference to `before`. */
sg_stretch *sg_stretch_new(sg_stretch *before, uint64_t now);
sg_stretch *sg_stretch_hold(sg_stretch *s);
void sg_stretch_drop(sg_stretch *s);
/* Adds `cycles` at a place to the course `*s`, which ends at the clock `now` then. */
void sg_stretch_add(sg_stretch **s, uint32_t place, uint64_t cycles, uint64_t now);
/* Begins a new stretch of `*s`, so that it is known what came before, and makes one of old ones. */
void sg_stretch_part(sg_stretch **s);
/* The last stretch of a course that begins before the clock `now`. */
sg_stretch *sg_stretch_at(sg_stretch *s, uint64_t now);
/* Calls `add` with all that is in `late` (sign 1) and in `early` (sign -1) and not in both. */
void sg_stretch_differ(const sg_stretch *late, const sg_stretch *early,
                       void (*add)(const sg_stretch *s, int sign));

#endif

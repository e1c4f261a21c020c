/* A thread's course: what happened on the way to its current point, without any waiting.
 *
 * A course is a chain of stretches, each saying how long its thread spent at which places. A thread that
 * has waited for another continues that one's course: its own work meanwhile delayed nobody. So courses
 * form a tree, and two of them split where the threads last depended on each other. The excess of one over
 * the other after that point explains why it came later. */
#ifndef SG_COURSE_H
#define SG_COURSE_H

#include "sg_runtime.h"

/* `cycles` at the place with this number. */
typedef struct sg_spent {
    struct sg_spent *next;
    uint32_t place;
    uint64_t cycles;
} sg_spent;

typedef struct sg_stretch {
    struct sg_stretch *before; /* NULL: start of the program */
    sg_spent *spent;
    uint64_t begin, end; /* clocks; `begin` is that of the first merged stretch */
    uint32_t depth;      /* greater than that of the previous one */
    uint32_t references; /* it may still grow with just one */
} sg_stretch;

/* A new stretch after `before`, from the clock `now` on; takes over the caller's reference to `before`. */
sg_stretch *sg_stretch_new(sg_stretch *before, uint64_t now);
sg_stretch *sg_stretch_hold(sg_stretch *s);
void sg_stretch_drop(sg_stretch *s);
/* Adds `cycles` at a place to the course `*s`, which then ends at the clock `now`. */
void sg_stretch_add(sg_stretch **s, uint32_t place, uint64_t cycles, uint64_t now);
/* Starts a new stretch of `*s`, so that the earlier part stays known, and merges old ones. */
void sg_stretch_part(sg_stretch **s);
/* The last stretch of a course that begins before the clock `now`. */
sg_stretch *sg_stretch_at(sg_stretch *s, uint64_t now);
/* Calls `add` for everything that is in `late` (sign 1) or `early` (sign -1) but not in both. */
void sg_stretch_differ(const sg_stretch *late, const sg_stretch *early,
                       void (*add)(const sg_stretch *s, int sign));

#endif

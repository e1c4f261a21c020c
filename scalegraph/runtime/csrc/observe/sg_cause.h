/* What happened, by cause: references of the program and of the runtime kept apart, copies invalidated by one
 * write, misses by variable and by class. Everything here is fed from the slow path of a reference only
 * (sg_cause_note), unless misses are to be classified (sg_class.c). */
#ifndef SG_CAUSE_H
#define SG_CAUSE_H

#include "sg_class.h"
#include "sg_variable.h"

/* Of one region and one cause, over all processors. The computation's part is what remains of the accounts;
 * only the result file has it. */
typedef struct sg_cause_part {
    uint64_t reads, writes;
    uint64_t events[SG_EVENTS];
    uint64_t stall[SG_STALLS];
    uint64_t classes[SG_CLASS_COUNT];
} sg_cause_part;

typedef struct sg_cause_region {
    sg_cause_part part[SG_CAUSE_COUNT];
    uint64_t *widths; /* [cause][copies invalidated by one write]; NULL: none */
} sg_cause_region;

typedef struct sg_causes sg_causes;

/* Cause of a reference of the runtime to `address` that is charged to `leaf`. */
enum sg_cause sg_cause_of(enum sg_leaf leaf, uint64_t address);

sg_cause_region *sg_cause_region_new(uint32_t region);

static inline sg_cause_region *sg_cause_region_at(uint32_t region)
{
    const sg_causes *c = &sg->causes_by_region;
    return SG_LIKELY(region < c->regions && c->region[region] != NULL) ? c->region[region]
                                                                       : sg_cause_region_new(region);
}

/* Counts references of the runtime; the accounts have them already. */
static inline void sg_cause_count(const sg_processor *p, enum sg_cause cause, enum sg_access kind, uint64_t n)
{
    sg_cause_part *part = &sg_cause_region_at(p->account->rest.region)->part[cause];
    part->reads += kind != SG_WRITE ? n : 0;
    part->writes += kind != SG_READ ? n : 0;
}

/* The parts of sg_cause_note that are seldom needed. */
void sg_cause_own(sg_cause_region *region, enum sg_cause cause, const sg_outcome *o);
void sg_cause_width(sg_cause_region *region, enum sg_cause cause, uint32_t width);

/* Called after the memory system has done `r` at `site`, and before `o` goes into the accounts. */
static inline void sg_cause_note(sg_processor *p, const sg_pending *r, const sg_outcome *o,
                                 sg_site_count *site)
{
    enum sg_cause cause = r->cause;
    uint32_t invalidations = o->count[SG_COUNTER_INVALIDATIONS];
    if (cause != SG_CAUSE_COMPUTATION)
        sg_cause_own(sg_cause_region_at(p->account->rest.region), cause, o);
    if (invalidations != 0)
        sg_cause_width(sg_cause_region_at(p->account->rest.region), cause, invalidations);
    site->remote += o->count[SG_COUNTER_REMOTE_READS] + o->count[SG_COUNTER_REMOTE_WRITES];
    site->upgrades += o->count[SG_COUNTER_UPGRADES];
    site->invalidations += invalidations;
    site->causes[cause] += o->count[SG_COUNTER_MISSES];
    sg_variable_note(r->address, o);
    if (SG_UNLIKELY(sg->classes != NULL))
        sg_class_note(p, r, o);
}

#endif

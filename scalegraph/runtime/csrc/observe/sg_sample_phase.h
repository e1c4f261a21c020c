/* Phases of a sampled run: their samples, and what these say about visits that were skipped. See
 * sg_sample.c. */
#ifndef SG_SAMPLE_PHASE_H
#define SG_SAMPLE_PHASE_H

#include "sg_cells.h"
#include "sg_observers.h"
#include "sg_sample_cost.h"
#include "sg_table.h"

enum {
    SG_LEAST = 4, /* measured visits of a phase before others are skipped */
    SG_MOST_PHASES = 4096,
};

/* Skipped visits; their work, and how much of it samples stand for: no more than they have. */
typedef struct sg_left_out {
    uint64_t visits, work, usual;
} sg_left_out;

typedef struct sg_phase {
    sg_sampled_phase record;
    uint32_t stretch;     /* of its last visit */
    uint64_t boundary;    /* at which that visit began */
    uint32_t last_sample; /* the last one that stands for skipped visits, + 1 */
    sg_sample_cost by_work, by_visit;
    sg_left_out now, behind; /* in this stretch; covered by the next sample */
    uint64_t works;          /* of all samples */
    uint64_t most_work;      /* of one */
    uint64_t passes;         /* sg_skim_passes in the last sample that stands for others */
    uint64_t unlike;         /* the last visit that had much more */
    uint32_t cuts;           /* skipped visits that were simulated from some point on */
    bool refused;            /* most were: its work says nothing */
    double whole;            /* time of all visits so far, by the measured mean */
    double squares;          /* of the visits covered by each sample */
    double due;              /* visits or work not yet covered by copies, as a fraction of the last sample */
    int64_t expected;        /* cycles of the visits that are not covered yet, as far as is known */
    bool known;              /* may its visits be skipped? */
    bool stale;     /* simulated alone they cost otherwise: skipped visits should have changed the caches */
    uint64_t alone; /* visits simulated alone since then, and the sum of their costs, as parts of the mean */
    double alone_costs;       /* visit's cost */
    sg_difference difference; /* of the last sample, once there are enough */
} sg_phase;

typedef struct sg_phases {
    sg_phase *phase;
    uint32_t count, room;
    sg_sample *samples;
    uint32_t samples_count, samples_room;
    double whole; /* of all phases together */
    int64_t expected;
    bool marked;    /* a snapshot of the counts was taken at the start of this visit */
    uint64_t begin; /* clock at that time, and at the start of the skimmed stretch */
    sg_cost totals; /* of all processors, at that time; and their work */
    uint64_t work;
    uint64_t passes;    /* sg_skim_passes when the last visit ended */
    uint64_t library;   /* work of library functions so far */
    uint64_t last_work; /* of the visit that has ended last */
    uint64_t before[2]; /* place and work of the last two visits, mixed */
} sg_phases;
extern sg_phases sg_sampled;

/* The phase that begins at `place`; NULL: there are too many. A phase is identified by its place, those of
 * the two phases before it, and the power of four of their work: so visits of one place on grids of different
 * size are different phases. */
sg_phase *sg_phase_at(uint64_t place);
/* The phases before the next one do not count: nothing is known of them. */
void sg_phase_forget(void);
/* Brings the accounts of all processors to the clock `when`, or back (`sign` -1). */
void sg_phase_level(uint64_t when, int sign);
/* Makes the current counts the start of a visit. */
void sg_phase_mark(void);
/* Estimates the time of all visits of `p` so far; called after a new visit or measurement. */
void sg_phase_weigh(sg_phase *p);
/* A simulated visit of `p` ends here: takes its sample, which covers the second half of what was skipped
 * before, unless it only warms up. Returns the cycles of the visit. */
uint64_t sg_phase_end(sg_phase *p, enum sg_sample_how how);
/* Adds the last sample of `p` for skipped visits. */
void sg_phase_stand_for(sg_phase *p, sg_left_out what);
/* A skipped visit of `p` with this work has ended, or is simulated from here on. */
void sg_phase_skipped(sg_phase *p, uint64_t work);
/* A visit of `p` was skipped only in part. If that is so again and again, none is skipped any more: while
 * threads wait for each other in loops of their own, they do more work when skipped than when simulated. */
void sg_phase_cut(sg_phase *p);
/* A skipped visit of `p` begins: tells the skimmer what is known of it. */
void sg_phase_skip(const sg_phase *p);
/* Estimates the cycles of visits that are not covered yet; called when their number has changed. */
void sg_phase_expect(sg_phase *p);
/* The work that a skipped visit would have if it were simulated: threads that wait in loops of their own do
 * less when it is skipped. */
uint64_t sg_phase_unspun(const sg_phase *p, uint64_t work);
/* Has a visit with this work hardly any, unlike the last sample of `p`? As after the last turn of a loop. */
bool sg_phase_is_empty(const sg_phase *p, uint64_t work);
/* Is the confidence interval still narrow after a stretch with `periods` more? */
bool sg_phase_stays_narrow(uint32_t stretch, uint32_t periods);

#endif

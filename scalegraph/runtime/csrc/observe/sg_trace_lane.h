/* The state of a trace, and what it records of each processor: a lane. Private to sg_trace.c and
 * sg_trace_lane.c. */
#ifndef SG_TRACE_LANE_H
#define SG_TRACE_LANE_H

#include "sg_trace_share.h"

enum { MAX_REGIONS = 64, MOST_RECORDS = 2 * SG_REGION_DEPTH + 64, END_RECORDS = 32 };

/* A processor. */
typedef struct sg_lane {
    const sg_account *account;               /* of the unrecorded stretch */
    uint64_t from;                           /* its beginning */
    uint64_t limit;                          /* the processor's limit without a trace */
    uint64_t due;                            /* time of the next cut */
    bool on;                                 /* within the window */
    uint64_t counted;                        /* counts have been recorded up to this time */
    uint64_t ops, flops, references, misses; /* since then */
    uint32_t depth;
    uint32_t *regions; /* the processor's current ones, outermost first */
    sg_told **told;    /* by region */
    uint32_t told_size;
    uint64_t on_way; /* unrecorded ticks of a wait for a message that continues */
} sg_lane;

/* A lock held by a thread, and the processor that holds it in the trace; -1: none now. */
typedef struct sg_held {
    uint64_t lock, order;
    uint32_t thread;
    int32_t processor;
} sg_held;

/* Who woke a thread. */
typedef struct sg_waker {
    int32_t processor;
    uint64_t released;
} sg_waker;

struct sg_trace {
    uint32_t what;
    uint64_t interval, since, until; /* the window: since <= time < until */
    sg_lane *lane;
    sg_waker *waker; /* by thread */
    bool *inside;    /* by thread: is it in one of the regions? */
    uint32_t inside_count;
    uint32_t region[MAX_REGIONS];
    uint32_t regions; /* 0: all time is recorded */
    sg_held *held;
    uint32_t held_count, held_room;
    uint64_t tasks;
    uint64_t begin, end; /* of what was recorded */
    uint64_t inexact;
    uint32_t most_regions; /* one more than the largest recorded region number */
    uint64_t end_room;     /* bytes that the end of the trace may need */
};

extern struct sg_trace *sg_trace; /* NULL: no trace, or no longer */

/* Is there a trace with room for the records of any one event? */
bool sg_trace_ready(void);
/* Is this recorded? */
bool sg_trace_tells(enum sg_traced what);
/* Writes a record about `p`. */
void sg_trace_event_put(const sg_processor *p, enum sg_trace_event event, unsigned what, uint32_t region,
                        uint64_t time, uint64_t first, uint64_t second);
/* The processor enters the window at `time`, or leaves it, whatever the time. */
void sg_lane_turn_on(sg_processor *p, uint64_t time);
void sg_lane_turn_off(sg_processor *p, uint64_t time);
/* The same if it is time. */
void sg_lane_turn(sg_processor *p);
/* Records that `p` waited for `holder` (-1: nobody in particular), which let go at `released`. */
void sg_trace_wait_put(const sg_processor *p, enum sg_trace_why why, uint64_t begin, uint64_t end,
                       uint64_t object, int32_t holder, uint64_t released);
/* Records a part of t's wait for a message, during which t yielded. */
void sg_trace_wait_message(const sg_processor *p, const sg_thread *t, enum sg_category category,
                           uint64_t begin, uint64_t end);
/* The same for the running thread, which waited on its processor. */
void sg_trace_message_waited(enum sg_category category, int32_t by, uint64_t released, bool more);
/* The processor whose message wakes `t`; -1: none in particular. */
int32_t sg_trace_partner_of(const sg_thread *t);
/* Why `t` waits in `category`. */
enum sg_trace_why sg_trace_why_of(const sg_thread *t, enum sg_category category);
/* Records a received message. */
void sg_trace_message(const sg_passed *m);
/* Records a collective operation that the running rank has completed. */
void sg_trace_gathered(const sg_gathered *g);
/* Records the start and end of a chunk of a loop. */
void sg_trace_loop(enum sg_loop_step step, struct sg_scheduled *s, const struct sg_loop_turn *turn);
/* Sets when the next cut is due; for one processor, or for all. */
void sg_lane_set_due(sg_lane *l);
void sg_lane_set_all_due(void);
/* Opens the window from `time` on, as far as the configuration allows. */
void sg_lane_open_window(uint64_t time);
/* Adds the counts of a stretch to those to be recorded. */
void sg_lane_add_counts(const sg_processor *p, const sg_share *share);
/* Records the counts up to `time`; a waiting processor counts nothing, so its work before and after the wait
 * is recorded separately. */
void sg_lane_put_counts(const sg_processor *p, uint64_t time);
/* The recorded state of a region's account. */
sg_told *sg_lane_told_of(sg_lane *l, uint32_t region);
/* Records the stretch up to now, and continues with p's current account. */
void sg_lane_cut(sg_processor *p);
/* The same after a stretch of pure waiting, charged to `category`: cut at the window's ends. */
void sg_lane_cut_idle(sg_processor *p, enum sg_category category, uint64_t *begin, uint64_t *end);

#endif

/* A processor's predictor of the program's path. */
#ifndef SG_PREDICTOR_H
#define SG_PREDICTOR_H

#include "sg_state.h"

#define SG_PREDICTOR_TABLES 4u
#define SG_LONG_RUN         128u
#define SG_LOOK             0x10000u
#define SG_REGULAR          0x10u
#define SG_PREDICTOR_NAMED  (1u << 31) /* a number that is its own name */

/* Fields of sg_way.marks, of which few change at a time. */
enum sg_way_marks {
    SG_WAY_REGULAR = 0x1F, /* runs before the last one of its length that ended alike, up to SG_REGULAR */
    SG_WAY_SURE = 0x300,   /* confidence: 0 to 3 */
    SG_WAY_ONE_SURE = 0x100,
    SG_WAY_VARIED = 0x10000, /* something else has followed too */
    SG_WAY_CALM = 0x3000000, /* how many of the last runs were long: 0 to 3 */
    SG_WAY_ONE_CALM = 0x1000000,
    SG_WAY_CALMED = 0x2000000, /* at least two */
    SG_WAY_SAMPLED = 0x4000000 /* only a few steps are looked up, since that hardly helped */
};

/* What follows a block, without regard to the blocks before it. */
typedef struct sg_way {
    uint32_t next;   /* most frequent successor; 0: never left */
    uint32_t other;  /* what followed at the end of the last run */
    uint16_t run;    /* how often `next` has followed in a row, up to the longest history */
    uint16_t length; /* the last run that ended */
    uint32_t marks;  /* sg_way_marks */
    uint32_t looks;  /* look-ups, times SG_LOOK, plus the net steps predicted right only by them */
} sg_way;

/* A table, its line for the next look-up, and the one after the next step. */
typedef struct sg_predictor_table {
    char *lines;
    uint32_t *line, *ahead;
} sg_predictor_table;

typedef struct sg_predictor {
    sg_way *way;
    uint64_t near, middle, farthest[4];       /* the last blocks entered: see remember */
    uint64_t mixed;                           /* hash of `middle` */
    sg_predictor_table near_table, far_table; /* for the shortest history, and for the others */
} sg_predictor;

/* Length of the longest history. */
extern uint32_t sg_predictor_longest;

/* Predictors distinguish `numbers` numbers; 0 means none. Predictions depend on their `names`, which differ
 * and are less than SG_PREDICTOR_NAMED. */
void sg_predictor_open(const uint32_t *names, uint32_t numbers);
/* Creates a processor's predictor. */
void sg_predictor_begin(sg_predictor *q, uint32_t processor);
/* `from` is followed by `to`, any number but 0 or an SG_PREDICTOR_NAMED one: was that predicted, or is it
 * new? Something that took `length` steps is predicted only by longer histories. */
bool sg_predictor_step(sg_predictor *q, uint32_t from, uint32_t to, uint32_t length);

/* Has the block gone one way always, nearly always, or for so long that no history could predict the end? */
static inline bool sg_way_is_settled(const sg_way *way)
{
    return (way->marks & (SG_WAY_VARIED | SG_WAY_CALMED)) != SG_WAY_VARIED ||
           way->run >= sg_predictor_longest;
}

/* Have its runs been alike for so long that their length predicts the steps? */
static inline bool sg_way_is_regular(const sg_way *way)
{
    return way->marks & SG_REGULAR;
}

/* Neither: are its steps predicted by look-up? */
static inline bool sg_way_is_looked_up(const sg_way *way)
{
    return (way->marks & (SG_WAY_VARIED | SG_WAY_CALMED | SG_REGULAR)) == SG_WAY_VARIED &&
           way->run < sg_predictor_longest;
}

/* One more step in a row that went the usual way; it becomes surer if `surer`. */
static inline void sg_way_go_on(sg_way *way, bool surer)
{
    way->run = (uint16_t)(way->run + (way->run < sg_predictor_longest));
    way->marks += (uint32_t)(surer & ((way->marks & SG_WAY_SURE) != SG_WAY_SURE)) * SG_WAY_ONE_SURE;
}

/* A step of a regular block: true if it is as predicted; otherwise nothing changes. */
static inline bool sg_way_repeats(sg_way *way, uint32_t to)
{
    bool ends = way->run == way->length;
    if (to != (ends ? way->other : way->next))
        return false;
    way->run = ends ? 0 : (uint16_t)(way->run + 1);
    return true;
}

/* For a sampled block: does the current history exclude this step from look-up? */
static inline bool sg_predictor_leaves_out(const sg_predictor *q)
{
    return q->mixed >> 61 != 0;
}

/* sg_predictor_step for the cases without a look-up in which only the run changes, and the confidence if
 * `surer`; false: not such a case. */
static inline bool sg_predictor_step_settled(sg_predictor *q, uint32_t from, uint32_t to, bool surer)
{
    sg_way *way = &q->way[from];
    if (!sg_way_is_settled(way))
        return sg_way_is_regular(way) && sg_way_repeats(way, to);
    if (way->next != to)
        return false;
    sg_way_go_on(way, surer);
    return true;
}

/* How many of the next steps are predicted, and only count, if they all go the usual way. */
static inline int32_t sg_way_goes_on(const sg_way *way)
{
    if (sg_way_is_settled(way))
        return INT32_MAX;
    return sg_way_is_regular(way) && way->run < way->length ? way->length - way->run : 0;
}

/* So many of these were taken. */
static inline void sg_predictor_repeat(sg_predictor *q, uint32_t from, uint32_t steps)
{
    sg_way *way = &q->way[from];
    uint32_t most = sg_predictor_longest - way->run;
    way->run = (uint16_t)(way->run + (steps < most ? steps : most));
}

#endif

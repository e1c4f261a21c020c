/* What a processor foresees of the ways that its program goes. */
#ifndef SG_PREDICTOR_H
#define SG_PREDICTOR_H

#include "sg_state.h"

#define SG_PREDICTOR_TABLES 4u

/* What follows a block, as far as that is known without the blocks before it. */
typedef struct sg_way {
    uint32_t next; /* what followed mostly; 0: it was never left */
    uint16_t run;  /* how often that has followed in succession, up to the length of the longest history */
    uint8_t sure;  /* 0 to 3 */
    bool varied;   /* something else has followed, too */
    uint8_t calm;  /* 0 to 3: how many of the last runs were long */
    bool sampled;  /* of its steps few are looked up, as that has hardly told more */
    int16_t gain;  /* in so many look-ups, steps that were foreseen by them only */
    uint16_t looks;
} sg_way;

typedef struct sg_predictor {
    sg_way *way;
    struct sg_predicted *near_table; /* for the shortest history, and for the others */
    struct sg_predicted *far_table;
    uint64_t near, middle, far; /* what was entered last: see remember */
    uint64_t farthest[4];
    uint32_t looked; /* whose entries are the following as the histories are now; 0: nobody's */
    uint16_t tag[SG_PREDICTOR_TABLES];
    struct sg_predicted *entry[SG_PREDICTOR_TABLES];
} sg_predictor;

/* Length of the longest history. */
extern uint32_t sg_predictor_longest;

/* Predictors tell so many things apart as `numbers` says, 0 being none. */
void sg_predictor_open(uint32_t numbers);
/* Makes the predictor of a processor. */
void sg_predictor_begin(sg_predictor *q, uint32_t processor);
/* `from` is followed by `to`, which may be any number but 0: was that foreseen, or is it new? Nobody foresees
 * what took `length` steps by a history that is not longer. */
bool sg_predictor_step(sg_predictor *q, uint32_t from, uint32_t to, uint32_t length);
/* Computes where it is said what follows `from`, and asks the host's memory for it. */
void sg_predictor_look(sg_predictor *q, uint32_t from);

/* Has the block gone one way always, or nearly always, or for so long that no history would tell what ends
 * that? */
static inline bool sg_way_is_settled(const sg_way *way)
{
    return !way->varied || way->calm >= 2 || way->run >= sg_predictor_longest;
}

/* Is a step not looked up, as the history is now, of a block of which few are? */
static inline bool sg_predictor_leaves_out(const sg_predictor *q)
{
    return (q->middle * 0x9E3779B97F4A7C15u) >> 61 != 0;
}

/* `from` is next, and may be looked up. */
static inline void sg_predictor_expect(sg_predictor *q, uint32_t from)
{
    if (!sg_way_is_settled(&q->way[from]) && !(q->way[from].sampled && sg_predictor_leaves_out(q)))
        sg_predictor_look(q, from);
}

/* The same as sg_predictor_step where nothing is to be looked up, and nothing changes but the run; false:
 * that is not so. */
static inline bool sg_predictor_step_settled(sg_predictor *q, uint32_t from, uint32_t to)
{
    sg_way *way = &q->way[from];
    if (way->next != to || !sg_way_is_settled(way))
        return false;
    way->run += way->run < sg_predictor_longest;
    return true;
}

#endif

/* A hint at data races: two threads read a word and then write it, and the later one has not synchronised
 * with anybody since the earlier one's write. Only references that leave the private caches are seen, so it
 * costs nothing where memory is not shared, and says nothing of races that no miss shows. No cycle depends on
 * it. */
#ifndef SG_RACE_H
#define SG_RACE_H

#include "sg_runtime.h"

enum { SG_RACE_READS = 8 };

typedef struct sg_race_read {
    uint64_t number; /* of a word: address / 8 */
    uint64_t time;
} sg_race_read;

typedef struct sg_race_state {
    bool on;
    uint64_t writes;                     /* seen so far: the time of all that is noted here */
    sg_race_read (*read)[SG_RACE_READS]; /* by processor: words that it read last */
    uint32_t *reads;                     /* by processor */
} sg_race_state;

extern sg_race_state sg_race;

void sg_race_open(void);
void sg_race_note(const sg_processor *p, const sg_pending *r);
/* Adds what was found to the run's warnings. */
void sg_race_close(void);

/* The running thread may know from here on what others have done. */
static inline void sg_race_sync(void)
{
    if (sg_now->thread != NULL)
        sg_now->thread->synced = sg_race.writes;
}

#endif

/* Has the run been long enough for sampling to begin by itself? See sg_sample_long.c. */
#ifndef SG_SAMPLE_LONG_H
#define SG_SAMPLE_LONG_H

#include <stdbool.h>

/* Call at each boundary. */
bool sg_sample_long(void);
/* Answers false until the run has become twice as long. */
void sg_sample_later(void);

#endif

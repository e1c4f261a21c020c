/* Somebody may have to hear of every reference of the program for a while: what inlined hooks search answers
 * nothing then, and the slow half of a hook asks here first. */
#ifndef SG_WATCH_H
#define SG_WATCH_H

#include "sg_state.h"

/* A reference of the program at `site`; true: the first level's latest line serves it, as without a watch.
 * NULL: nobody watches. */
extern bool (*sg_watch)(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind,
                        const void *site);

#endif

/* Somebody may have to see every reference of the program for a while: inlined hooks then search a filter
 * that never hits, and the slow half of a hook asks here first. */
#ifndef SG_WATCH_H
#define SG_WATCH_H

#include "sg_state.h"

/* A reference of the program at `site`; true: the latest line of the first level serves it, as without a
 * watch. NULL: nobody watches. */
extern bool (*sg_watch)(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind,
                        const void *site);

#endif

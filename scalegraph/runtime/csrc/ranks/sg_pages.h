/* Pages of the host that take turns at one place: those of one rank are there, the others' are at home. */
#ifndef SG_PAGES_H
#define SG_PAGES_H

#include "sg_runtime.h"

/* So much of memory the host moves by one entry of its tables, if it begins and ends there. */
#define SG_PAGES_TABLE (2ull << 20)

/* Moves what is mapped in [from, from + size), whole pages, to `to`, quicker if they have been made so
 * (`enlarged`); false: it cannot be done. */
bool sg_pages_move(uint64_t from, uint64_t to, size_t size, bool enlarged);
/* Makes `count` homes of `size` bytes each, whole tables, quicker to move: all pages are there, none is at
 * `place`, and nothing is mapped there. Pages become large, so that the host moves an entry instead of
 * changing its list of areas. False, and nothing changes, if the host cannot do that. */
bool sg_pages_enlarge(uint64_t place, uint64_t home, size_t size, uint32_t count);

#endif

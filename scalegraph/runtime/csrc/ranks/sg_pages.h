/* Pages of the host that take turns at one place: those of one rank are there, the others' are at home. */
#ifndef SG_PAGES_H
#define SG_PAGES_H

#include "sg_runtime.h"

#define SG_PAGES_BYTES 4096ull /* of one page */
/* So much of memory the host moves by one entry of its tables, if it begins and ends there. */
#define SG_PAGES_TABLE (2ull << 20)

/* Copies bytes from the beginning of a page to memory that is zero: zero pages cost nothing. */
void sg_pages_copy(char *to, const char *from, size_t bytes);
/* A copy that stays. */
const char *sg_pages_keep(const char *from, size_t bytes, const char *purpose);
/* Moves what is mapped in [from, from + size), whole pages, to `to`, quicker if they have been made so
 * (`enlarged`); false: it cannot be done. */
bool sg_pages_move(uint64_t from, uint64_t to, size_t size, bool enlarged);
/* Makes `count` homes of `size` bytes each, whole tables, quicker to move: all pages are there, none is at
 * `place`, and nothing is mapped there. Pages become large, so that the host moves an entry instead of
 * changing its list of areas. False, and nothing changes, if the host cannot do that. */
bool sg_pages_enlarge(uint64_t place, uint64_t home, size_t size, uint32_t count);

#endif

/* Host pages of the ranks that take turns at one address: the running rank's are in place, the others' are at
 * home. */
#ifndef SG_PAGES_H
#define SG_PAGES_H

#include "sg_runtime.h"

#define SG_PAGES_BYTES 4096ull /* one page */
/* The host moves this much memory with one page-table entry, if aligned. */
#define SG_PAGES_TABLE (2ull << 20)

/* Copies bytes from the beginning of a page to zeroed memory; zero pages are skipped. */
void sg_pages_copy(char *to, const char *from, size_t bytes);
/* A permanent copy. */
const char *sg_pages_keep(const char *from, size_t bytes, const char *purpose);
/* Moves what is mapped in [from, from + size), whole pages, to `to`; faster if they are large (`enlarged`).
 * False: impossible. */
bool sg_pages_move(uint64_t from, uint64_t to, size_t size, bool enlarged);
/* Makes `count` homes of `size` bytes each (whole page tables) faster to move, by making their pages large:
 * the host then moves page-table entries and leaves its list of memory areas alone. All pages are at home,
 * and nothing is mapped at `place`. Returns false and changes nothing if the host cannot do it. */
bool sg_pages_enlarge(uint64_t place, uint64_t home, size_t size, uint32_t count);

#endif

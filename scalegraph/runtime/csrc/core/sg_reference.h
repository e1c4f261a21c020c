/* References by the program and by the simulated runtime to simulated memory. */
#ifndef SG_REFERENCE_H
#define SG_REFERENCE_H

#include "sg_account.h"
#include "sg_mem.h"

/* Does a reference within one line hit in the filter? */
static inline bool sg_filtered(const sg_processor *p, uint64_t address, enum sg_access kind)
{
    uint64_t line = address >> p->shift;
    return sg_filter_answers(p->filter[line & p->mask], line, kind == SG_READ);
}

/* A reference of the program that missed the filter; `size` may span lines. */
void sg_reference(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
    __attribute__((noinline)); /* so that the hooks need no frame */
/* A reference by the simulated runtime itself, at p->site, with all costs charged to `category`. Waits for
 * its turn first, so that nobody else runs between the access and what the caller does next. */
void sg_touch(sg_processor *p, uint64_t address, enum sg_access kind, enum sg_category category);
/* Counts references of `p` made at p->site by the runtime or the C library. */
static inline void sg_count_references(sg_processor *p, enum sg_access kind, uint64_t reads_or_writes)
{
    if (kind != SG_WRITE)
        p->account->reads += reads_or_writes;
    if (kind != SG_READ)
        p->account->writes += reads_or_writes;
    sg_site_of(p->site)->references += kind == SG_RMW ? 2 * reads_or_writes : reads_or_writes;
}

/* On a machine without a data cache, once the observers are known: makes each processor's filter hit for all
 * but the first reference to a page, unless an observer wants all. Returns the filter's geometry. */
const sg_filter *sg_uncached_begin(void);

/* Does the pending reference of `p`, whose turn it is. */
void sg_perform(sg_processor *p);
/* Instructions needed to move `words` words of 8 bytes: libraries for out-of-order processors move 32 bytes
 * with each. */
static inline uint64_t sg_moves(uint64_t words)
{
    return sg->config.out_of_order ? (words + 3) / 4 : words;
}

/* A bulk operation of libc: references every line of the range and issues every word. */
void sg_reference_range(const void *address, size_t size, enum sg_access kind, const void *site);

/* Line size such that no two variables of the simulated runtime share a line. */
uint64_t sg_line_bytes(void);
/* Addresses of whole lines for the simulated runtime's variables, without host memory; `own`: their kind. */
uint64_t sg_variables_of(uint64_t lines, enum sg_own own);
static inline uint64_t sg_variables(uint64_t lines)
{
    return sg_variables_of(lines, SG_OWN_VARIOUS);
}

#endif

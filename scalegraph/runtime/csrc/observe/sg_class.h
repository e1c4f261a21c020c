/* Misses by class: cold, capacity, conflict, true sharing, false sharing, upgrade. Only when run.collect asks
 * for it, because it needs every reference: the hooks' filter is then one that never answers. */
#ifndef SG_CLASS_H
#define SG_CLASS_H

#include "sg_runtime.h"

/* Does nothing unless classes are to be collected. */
void sg_class_open(void);
/* A reference within one line: true when the processor's filter answers it, which costs nothing. */
bool sg_class_answers(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind,
                      const void *site);
/* A reference that the private caches served. */
void sg_class_hit(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site);
/* A reference that the memory system has done; before `o` goes into the accounts. */
void sg_class_note(sg_processor *p, const sg_pending *r, const sg_outcome *o);
/* Counts references to the variable at `address`. */
void sg_class_count(uint64_t address, uint64_t references);
/* The program has ended: what nobody used any more was useless. */
void sg_class_close(void);
/* Of a site, by number; NULL unless classes are collected. */
const uint64_t *sg_class_of_site(uint32_t site);

uint64_t sg_shared_line_put(struct sg_writer *w);
uint64_t sg_line_user_put(struct sg_writer *w);
uint64_t sg_line_part_put(struct sg_writer *w);

#endif

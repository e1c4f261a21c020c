/* Load of each link of an interconnect over time, in bounded memory: a fixed number of spans of equal width,
 * which doubles as the run gets longer. Times are thousandths of a cycle. */
#ifndef SG_WIRE_LOAD_H
#define SG_WIRE_LOAD_H

#include <stdint.h>

#define SG_LOAD_SPANS 32u

typedef struct sg_link_load {
    uint64_t bytes, busy;
    uint64_t span[SG_LOAD_SPANS]; /* busy time */
} sg_link_load;

typedef struct sg_wire_loads {
    uint64_t width; /* of a span */
    uint32_t links;
    sg_link_load *link;
} sg_wire_loads;

/* False: the host is out of memory. */
int sg_wire_loads_open(sg_wire_loads *loads, uint32_t links);
void sg_wire_loads_close(sg_wire_loads *loads);
/* A link is busy from `start` for `length` with `bytes`. */
void sg_wire_loads_add(sg_wire_loads *loads, uint32_t link, uint64_t start, uint64_t length, uint64_t bytes);
/* Prefetches what the next call of sg_wire_loads_add needs. */
static inline void sg_wire_loads_expect(const sg_wire_loads *loads, uint32_t link, uint64_t start)
{
    const sg_link_load *l = &loads->link[link];
    uint64_t span = start / loads->width;
    __builtin_prefetch(l, 1);
    __builtin_prefetch(&l->span[span < SG_LOAD_SPANS ? span : 0], 1);
}
/* Writes the busiest links, at most `most`, to `chosen`; returns how many. */
uint32_t sg_wire_loads_busiest(const sg_wire_loads *loads, uint32_t *chosen, uint32_t most);

#endif

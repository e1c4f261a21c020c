/* How busy each link of an interconnect was over time, in bounded memory: a fixed number of spans of equal
 * width, which doubles when the run grows longer. Times are thousandths of a cycle. */
#ifndef SG_WIRE_LOAD_H
#define SG_WIRE_LOAD_H

#include <stdint.h>

#define SG_LOAD_SPANS 32u

typedef struct sg_link_load {
    uint64_t bytes, busy;
    uint64_t span[SG_LOAD_SPANS]; /* of busy */
} sg_link_load;

typedef struct sg_wire_loads {
    uint64_t width; /* of a span */
    uint32_t links;
    sg_link_load *link;
} sg_wire_loads;

/* False: the host has no memory. */
int sg_wire_loads_open(sg_wire_loads *loads, uint32_t links);
void sg_wire_loads_close(sg_wire_loads *loads);
/* A link is busy from `start` on for `length` with `bytes`. */
void sg_wire_loads_add(sg_wire_loads *loads, uint32_t link, uint64_t start, uint64_t length, uint64_t bytes);
/* The same is about to be called: has the host fetch what it needs. */
static inline void sg_wire_loads_expect(const sg_wire_loads *loads, uint32_t link, uint64_t start)
{
    const sg_link_load *l = &loads->link[link];
    uint64_t span = start / loads->width;
    __builtin_prefetch(l, 1);
    __builtin_prefetch(&l->span[span < SG_LOAD_SPANS ? span : 0], 1);
}
/* The busiest links, at most `most`, into `chosen`; returns how many. */
uint32_t sg_wire_loads_busiest(const sg_wire_loads *loads, uint32_t *chosen, uint32_t most);

#endif

/* Link load over time; see sg_wire_load.h. */
#include "sg_wire_load.h"

#include <stdlib.h>

#include "sg_huge.h"

#define FIRST_WIDTH (1000ull << 10)

int sg_wire_loads_open(sg_wire_loads *loads, uint32_t links)
{
    *loads = (sg_wire_loads){.width = FIRST_WIDTH, .links = links};
    loads->link = sg_map(links * sizeof *loads->link); /* zeroed and lazily allocated */
    return loads->link != NULL;
}

void sg_wire_loads_close(sg_wire_loads *loads)
{
    if (loads->link != NULL)
        sg_unmap(loads->link, loads->links * sizeof *loads->link);
    loads->link = NULL;
}

static void widen(sg_wire_loads *loads)
{
    loads->width *= 2;
    for (uint32_t i = 0; i < loads->links; i++) {
        sg_link_load *l = &loads->link[i];
        for (uint32_t k = 0; l->busy > 0 && k < SG_LOAD_SPANS; k++)
            l->span[k] = 2 * k < SG_LOAD_SPANS ? l->span[2 * k] + l->span[2 * k + 1] : 0;
    }
}

void sg_wire_loads_add(sg_wire_loads *loads, uint32_t link, uint64_t start, uint64_t length, uint64_t bytes)
{
    sg_link_load *l = &loads->link[link];
    uint64_t end = start + length;
    while (end > loads->width * SG_LOAD_SPANS)
        widen(loads);
    l->bytes += bytes;
    l->busy += length;
    for (uint64_t at = start; at < end;) {
        uint64_t span = at / loads->width, until = (span + 1) * loads->width;
        until = until < end ? until : end;
        l->span[span] += until - at;
        at = until;
    }
}

uint32_t sg_wire_loads_busiest(const sg_wire_loads *loads, uint32_t *chosen, uint32_t most)
{
    uint32_t of_bits[64] = {0}; /* how many links have a busy time with this highest bit */
    for (uint32_t i = 0; i < loads->links; i++)
        if (loads->link[i].busy > 0)
            of_bits[63 - __builtin_clzll(loads->link[i].busy)]++;
    uint32_t count = 0, bit = 64;
    while (bit > 0 && count + of_bits[bit - 1] <= most)
        count += of_bits[--bit];
    uint64_t least = bit < 64 ? 1ull << bit : UINT64_MAX; /* minimum busy time for a link to be chosen */
    count = 0;
    for (uint32_t i = 0; i < loads->links && count < most; i++)
        if (loads->link[i].busy >= least)
            chosen[count++] = i;
    return count;
}

/* The state of the memory system, shared by sg_mem.c (what an access does) and sg_mem_check.c. */
#ifndef SG_MEM_STATE_H
#define SG_MEM_STATE_H

#include "sg_cache.h"
#include "sg_dir.h"
#include "sg_mem.h"
#include "sg_net.h"

struct sg_mem {
    uint32_t processors;
    uint32_t private_levels; /* level[0 .. private_levels - 1] belong to one processor */
    uint32_t has_shared;     /* level[private_levels] is shared by `group` processors */
    uint32_t group;
    uint32_t attraction; /* COMA: the last private level is all the memory there is */
    uint32_t exclusive;  /* a sole reader gets the line writable */
    uint32_t interleave; /* home of a page by its number, not by first touch */
    uint32_t max_processors;
    uint32_t line_shift; /* of a coherence line */
    uint32_t page_shift;
    uint32_t page_miss_cycles;
    uint32_t private_cycles; /* looking into all private levels in vain */
    sg_cache level[SG_MAX_LEVELS];
    sg_filter *filter;
    sg_dir dir;
    const sg_net_ops *ops;
    void *net;
    uint64_t *others; /* scratch bitmap: holders without the requester */
    /* Idealised machines (sg_whatif_mem.c); all 0 without. */
    uint32_t ideal;
    uint64_t alone, alone_step; /* when the transaction before began on its own, and what lies between two */
    uint64_t own_memory;        /* a fetch from the node's own memory takes so many cycles */
};

/* ---- sg_whatif_mem.c ---- */

void sg_ideal_open(sg_mem *mem, const sg_config *config);
/* The levels of `config` so large that nothing ever has to leave them. */
void sg_ideal_levels(sg_config *config);
/* One transaction of an idealised machine. */
void sg_ideal_transact(sg_mem *mem, const sg_request *request, sg_reply *reply);

#endif

/* A network of the simulated machine: how long the messages of one coherence transaction take.
 *
 * Who supplies a line and whose copies go is decided by the protocol (sg_mem.c) before; a network only
 * knows stations, paths and resources. A new network is one new file with an sg_net_ops, one name in
 * enum sg_network and one line in sg_net_table (sg_config.c). */
#ifndef SG_NET_H
#define SG_NET_H

#include <stdint.h>

#include "sg_config.h"

enum sg_transaction { SG_FETCH_READ, SG_FETCH_WRITE, SG_UPGRADE };

/* Who supplies the line of a fetch. */
enum sg_supplier {
    SG_FROM_HOME,         /* memory at the line's home */
    SG_FROM_CACHE,        /* the private cache of processor `supplier` */
    SG_FROM_SHARED_CACHE, /* the shared cache of the group of processor `supplier` */
    SG_FROM_OWN_GROUP,    /* the requester's own shared cache has it: only copies elsewhere must go */
};

typedef struct sg_request {
    uint64_t now;
    uint64_t line; /* address / coherence line size */
    uint32_t processor;
    uint32_t home; /* processor that touched the page first */
    enum sg_transaction kind;
    enum sg_supplier from;
    uint32_t supplier;
    int dirty;               /* the supplier's copy differs from memory and goes home too */
    const uint64_t *sharers; /* bitmap of the processors whose copies must be invalidated */
    uint32_t words;          /* of the bitmap */
    uint32_t invalidations;  /* bits set in it */
    uint64_t *busy;          /* of the line: no request is served before; a network sets it */
} sg_request;

/* Waits until the line can be served, at `time` or later. */
static inline uint64_t sg_wait_line(const sg_request *r, uint64_t time, uint64_t *wait)
{
    if (*r->busy <= time)
        return time;
    *wait += *r->busy - time;
    return *r->busy;
}

typedef struct sg_reply {
    uint64_t cycles;     /* without the waiting */
    uint64_t contention; /* waiting for slots, links, directories and modules on the critical path */
    int remote;          /* went over the network */
} sg_reply;

typedef struct sg_net_parameter {
    const char *name; /* machine.network.<name> */
    uint64_t least, most;
} sg_net_parameter;

typedef struct sg_net_ops {
    const char *name;                   /* value of machine.network.kind */
    const sg_net_parameter *parameters; /* ends with a null name */
    /* Returns the state of the network, or NULL with a sentence in `error`. */
    void *(*create)(const sg_config *config, char *error, unsigned error_size);
    void (*destroy)(void *net);
    void (*transact)(void *net, const sg_request *request, sg_reply *reply);
    /* A line leaves the caches of `processor`: occupies what it passes, nobody waits for it. */
    void (*write_back)(void *net, uint64_t now, uint32_t processor, uint64_t line, uint32_t home);
} sg_net_ops;

extern const sg_net_ops sg_net_ring, sg_net_multistage, sg_net_numa;

/* By enum sg_network. */
extern const sg_net_ops *const sg_net_table[];
extern const unsigned sg_net_count;

static inline int sg_bit(const uint64_t *bits, uint32_t i)
{
    return (int)(bits[i >> 6] >> (i & 63) & 1);
}

#endif

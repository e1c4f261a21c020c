/* A network of the simulated machine: latency of the messages of one coherence transaction.
 *
 * The protocol (sg_mem.c) has already decided who supplies a line and which copies go; a network knows
 * only stations, paths and resources. A new network is one new file sg_net_KIND.c with an sg_net_ops of
 * that name, and one in scalegraph/machine/networks that declares its parameters, from which sg_machine.h
 * is generated. */
#ifndef SG_NET_H
#define SG_NET_H

#include <stdint.h>

#include "sg_calendar.h"
#include "sg_config.h"
#include "sg_usage.h"

enum sg_transaction { SG_FETCH_READ, SG_FETCH_WRITE, SG_UPGRADE };

/* Who supplies the line of a fetch. */
enum sg_supplier {
    SG_FROM_HOME,         /* memory at the line's home */
    SG_FROM_CACHE,        /* the private cache of processor `supplier` */
    SG_FROM_SHARED_CACHE, /* the shared cache of the group of processor `supplier` */
    SG_FROM_OWN_GROUP, /* the requester's own shared cache has it: only copies elsewhere must be invalidated
                        */
};

/* Is the line's content needed? A stream of stores overwrites whole lines. */
enum sg_claim {
    SG_CLAIM_READS, /* yes */
    SG_CLAIM_BUSY,  /* not if reading it would wait for long */
    SG_CLAIM_ONLY,  /* no: only write permission */
};

typedef struct sg_request {
    uint64_t now;
    uint64_t line; /* address / coherence line size */
    uint32_t processor;
    uint32_t home; /* node where the page is */
    enum sg_transaction kind;
    enum sg_supplier from;
    uint32_t supplier;
    int dirty; /* the supplier's copy is dirty and goes home too ... */
    enum sg_claim claim;
    int keeps;               /* ... unless the supplier keeps it and remains responsible for it */
    const uint64_t *holders; /* bitmap of the other processors with a copy */
    const uint64_t *targets; /* bitmap of the processors that must drop their copy, if any */
    uint32_t words;          /* of each bitmap */
    uint32_t copies;         /* bits set in holders */
    uint32_t invalidations;  /* bits set in targets; 0: nothing is sent, whatever the bitmap says */
    uint64_t groups;         /* bitmap of the other shared caches that have the line */
    uint64_t *busy;          /* no request for the line is served before; set by the network */
} sg_request;

/* Is one of the bits `first` .. `end` - 1 of a bitmap of `words` words set? */
static inline int sg_any_bit(const uint64_t *bits, uint32_t words, uint32_t first, uint32_t end)
{
    if (end > words * 64)
        end = words * 64;
    if (first >= end)
        return 0;
    uint32_t word = first >> 6, last = (end - 1) >> 6;
    uint64_t from = ~0ull << (first & 63), to = ~0ull >> (-end & 63);
    if (word == last)
        return (bits[word] & from & to) != 0;
    uint64_t any = (bits[word] & from) | (bits[last] & to);
    while (++word < last)
        any |= bits[word];
    return any != 0;
}

/* Finds the first processor from `*q` on that must drop its copy; a supplier asked for the line knows
 * already. */
static inline int sg_next_target(const sg_request *r, uint32_t *q)
{
    uint32_t asked = r->from == SG_FROM_CACHE && r->kind != SG_UPGRADE ? r->supplier : UINT32_MAX;
    for (; r->invalidations > 0 && *q < r->words * 64; ++*q) {
        uint64_t word = r->targets[*q >> 6] >> (*q & 63);
        if (word == 0) {
            *q |= 63;
            continue;
        }
        *q += (uint32_t)__builtin_ctzll(word);
        if (*q != asked)
            return 1;
    }
    return 0;
}

/* Waits until the line can be served, at `time` or later. */
static inline uint64_t sg_wait_line(const sg_request *r, uint64_t time, uint64_t *wait)
{
    if (*r->busy <= time)
        return time;
    *wait += *r->busy - time;
    return *r->busy;
}

typedef struct sg_reply {
    uint64_t cycles;     /* excluding contention */
    uint64_t contention; /* waiting for slots, links, directories and modules on the critical path */
    int remote;          /* went over the network */
    int spared;          /* a fetch that home would have served did not read memory */
} sg_reply;

typedef struct sg_net_ops {
    const char *name;                   /* value of machine.network.kind */
    const sg_net_parameter *parameters; /* ends with a null name */
    /* Returns the state of the network, or NULL with a sentence in `error`. */
    void *(*create)(const sg_config *config, char *error, unsigned error_size);
    void (*destroy)(void *net);
    void (*transact)(void *net, const sg_request *request, sg_reply *reply);
    /* A line leaves the caches of `processor`: occupies the resources on its path; nobody waits for it. */
    void (*write_back)(void *net, uint64_t now, uint32_t processor, uint64_t line, uint32_t home);
    /* Places where a page can live, and the one nearest to a processor. */
    uint32_t (*nodes)(const void *net);
    uint32_t (*node_of)(const void *net, uint32_t processor);
    /* Reports the activity so far of every link and memory module. */
    void (*statistics)(const void *net, sg_usage_visit *visit, void *context);
} sg_net_ops;

#define SG_NET_DECLARE(kind) extern const sg_net_ops sg_net_##kind;
SG_NETWORKS(SG_NET_DECLARE)

/* Indexed by enum sg_network. */
extern const sg_net_ops *const sg_net_table[];
extern const unsigned sg_net_count;

static inline int sg_bit(const uint64_t *bits, uint32_t i)
{
    return (int)(bits[i >> 6] >> (i & 63) & 1);
}

#endif

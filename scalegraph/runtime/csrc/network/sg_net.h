/* A network of the simulated machine: how long the messages of one coherence transaction take.
 *
 * Who supplies a line and whose copies go is decided by the protocol (sg_mem.c) before; a network only
 * knows stations, paths and resources. A new network is one new file sg_net_KIND.c with an sg_net_ops of that
 * name, and one in scalegraph/machine/networks, which declares its parameters: sg_machine.h is made from it.
 */
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
    SG_FROM_OWN_GROUP,    /* the requester's own shared cache has it: only copies elsewhere must go */
};

/* Is the line's content wanted? A stream of stores fills whole lines. */
enum sg_claim {
    SG_CLAIM_READS, /* yes */
    SG_CLAIM_BUSY,  /* not if reading it would wait for long */
    SG_CLAIM_ONLY,  /* no: only the right to write */
};

typedef struct sg_request {
    uint64_t now;
    uint64_t line; /* address / coherence line size */
    uint32_t processor;
    uint32_t home; /* node where the page is */
    enum sg_transaction kind;
    enum sg_supplier from;
    uint32_t supplier;
    int dirty; /* the supplier's copy differs from memory and goes home too ... */
    enum sg_claim claim;
    int keeps;               /* ... unless the supplier keeps it and answers for it from now on */
    const uint64_t *holders; /* bitmap of the other processors that have a copy */
    const uint64_t *targets; /* bitmap of the processors that have to drop theirs, if they have one */
    uint32_t words;          /* of each of the two bitmaps */
    uint32_t copies;         /* bits set in holders */
    uint32_t invalidations;  /* bits set in targets; 0: nothing is sent, whatever the bitmap says */
    uint64_t groups;         /* bitmap of the other shared caches that have the line */
    uint64_t *busy;          /* of the line: no request is served before; a network sets it */
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

/* Finds the first processor from `*q` on that must drop its copy; a supplier that is requested the
 * line knows already. */
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
    uint64_t cycles;     /* without the waiting */
    uint64_t contention; /* waiting for slots, links, directories and modules on the critical path */
    int remote;          /* went over the network */
    int spared;          /* a fetch that home would have answered did not read memory */
} sg_reply;

typedef struct sg_net_ops {
    const char *name;                   /* value of machine.network.kind */
    const sg_net_parameter *parameters; /* ends with a null name */
    /* Returns the state of the network, or NULL with a sentence in `error`. */
    void *(*create)(const sg_config *config, char *error, unsigned error_size);
    void (*destroy)(void *net);
    void (*transact)(void *net, const sg_request *request, sg_reply *reply);
    /* A line leaves the caches of `processor`: occupies what it passes, nobody waits for it. */
    void (*write_back)(void *net, uint64_t now, uint32_t processor, uint64_t line, uint32_t home);
    /* Places where a page can live, and the one that is nearest to a processor. */
    uint32_t (*nodes)(const void *net);
    uint32_t (*node_of)(const void *net, uint32_t processor);
    /* Reports what every link and every memory module has done so far. */
    void (*statistics)(const void *net, sg_usage_visit *visit, void *context);
} sg_net_ops;

#define SG_NET_DECLARE(kind) extern const sg_net_ops sg_net_##kind;
SG_NETWORKS(SG_NET_DECLARE)

/* By enum sg_network. */
extern const sg_net_ops *const sg_net_table[];
extern const unsigned sg_net_count;

static inline int sg_bit(const uint64_t *bits, uint32_t i)
{
    return (int)(bits[i >> 6] >> (i & 63) & 1);
}

/* Reports on `count` calendars that are one resource together; `scale` of their units are a cycle. */
__attribute__((format(printf, 7, 8))) void sg_usage_tell(const sg_calendar *c, size_t count, uint64_t scale,
                                                         const char *kind, sg_usage_visit *visit,
                                                         void *context, const char *format, ...);

#endif

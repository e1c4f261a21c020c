/* The interconnect of a machine: how long a message is under way from one node to another.
 *
 * A topology says which links a message passes; what a link, a router and a node's interface do with it is
 * the same in all (sg_wire.c): each is reserved in time, so messages that want the same one wait for each
 * other. A new topology is one new file sg_wire_KIND.c with an sg_topology of that name, and one in
 * scalegraph/machine/interconnects, which declares its parameters: sg_machine.h is made from it.
 *
 * Without contention a message of B bytes over H links arrives
 *     2 x interface + H x hop + (wormhole, cut through: 0; store and forward: (H - 1) x time of a packet)
 *     + time of the bytes, with the headers of their packets, on the slowest of interface and link
 * after it was handed to the sender's interface. What sender and receiver do besides, in software, is not the
 * interconnect's. With wormhole switching a message that waits keeps what it has passed, up to its tail; else
 * the routers have room for it. */
#ifndef SG_WIRE_H
#define SG_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "sg_calendar.h"
#include "sg_config.h"
#include "sg_format.h"
#include "sg_usage.h"

/* One message between two nodes; times in cycles. Calls come in non-decreasing `now`. */
typedef struct sg_transfer {
    uint64_t now;
    uint32_t from, to; /* nodes */
    uint64_t bytes;
    /* The answers. */
    uint64_t free;       /* the sender's interface has taken all of it */
    uint64_t arrival;    /* all of it is in the receiver's memory */
    uint64_t contention; /* of the time from now to arrival: waiting for interfaces and links */
} sg_transfer;

typedef struct sg_wire sg_wire;

/* The interconnect of `config`; NULL with a sentence in `error`. Only for a machine that has one:
 * config->wire is not SG_WIRE_NONE. */
sg_wire *sg_wire_create(const sg_config *config, char *error, unsigned error_size);
void sg_wire_destroy(sg_wire *wire);
/* Carries a message: reserves what it passes, answers in `t`. From a node to itself it takes no time. */
void sg_wire_carry(sg_wire *wire, sg_transfer *t);
/* The same as if no other message were under way; reserves nothing. */
void sg_wire_carry_alone(sg_wire *wire, sg_transfer *t);
/* The links between two nodes, without the interfaces. */
uint32_t sg_wire_hops(sg_wire *wire, uint32_t from, uint32_t to);
/* The cycles that a message would need if it were alone. */
uint64_t sg_wire_alone(sg_wire *wire, uint32_t from, uint32_t to, uint64_t bytes);
uint32_t sg_wire_nodes(const sg_wire *wire);

/* ---- sg_wire_together.c: messages that all elements of a SIMD machine send at once ---- */

#define SG_WIRE_INSTRUCTIONS 64u /* of one exchange: shifts, and one for the router */

/* One of them. */
typedef struct sg_together {
    uint32_t from, to; /* nodes */
    uint64_t bytes;
    /* The answers, in cycles. */
    uint64_t turn;  /* of the instruction that carries it; elements without such a message wait meanwhile */
    uint64_t alone; /* of that, what it would take without messages on the same wires */
    uint32_t instruction; /* its number, below SG_WIRE_INSTRUCTIONS */
} sg_together;

/* Carries `count` messages from `now` on; returns how long that takes. `contended`: they wait for wires. */
uint64_t sg_wire_carry_together(sg_wire *wire, uint64_t now, sg_together *message, uint32_t count,
                                bool contended);

/* Reports what every link and interface has done so far. */
void sg_wire_statistics(const sg_wire *wire, sg_usage_visit *visit, void *context);

/* The numbers of the busiest links, at most `most`, into `chosen`; returns how many. */
uint32_t sg_wire_busiest(const sg_wire *wire, uint32_t *chosen, uint32_t most);
/* What a link has done, over time. */
void sg_wire_load(const sg_wire *wire, uint32_t link, sg_link_record *load);

/* ---- for the files of topologies ---- */

#define SG_WIRE_MOST_HOPS 512u

/* The links that a message passes, in order. */
typedef struct sg_route {
    uint32_t links;
    uint32_t link[SG_WIRE_MOST_HOPS];
} sg_route;

static inline void sg_route_add(sg_route *route, uint64_t link)
{
    if (route->links < SG_WIRE_MOST_HOPS)
        route->link[route->links++] = (uint32_t)link;
}

/* What a link does with a message; set to what all links have in common before a topology is asked. */
typedef struct sg_link {
    uint64_t byte;      /* that passes, in millionths of a cycle */
    uint64_t hop;       /* from one end to the next link, router included, in thousandths of a cycle */
    uint64_t collision; /* for each packet of a message that finds it taken; the same unit, 0 but for a shared
                           cable */
} sg_link;

typedef struct sg_topology {
    const char *name;
    const sg_net_parameter *parameters; /* ends with a null name */
    /* The topology of a machine, freed with free(); NULL: the host has no memory. `*nodes` and `*links` are
     * how many it has. */
    void *(*create)(const sg_config *config, uint64_t *nodes, uint64_t *links);
    /* The links from one node to another one, none twice; `wire` answers how busy a link is at `now`. */
    void (*route)(void *topology, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now,
                  sg_route *route);
    /* "0>1": what link `link` is, into `text`. */
    void (*name_link)(const void *topology, uint32_t link, char *text, unsigned size);
    void (*link)(const void *topology, uint32_t link, sg_link *is); /* NULL: all are alike */
} sg_topology;

/* A message as a shift: all messages that go the same way are one instruction, or two. */
typedef struct sg_shift {
    uint64_t way;
    uint32_t steps[2]; /* links that its first and its second instruction pass; 0: there is none */
} sg_shift;

/* What a topology adds for the elements of a SIMD machine. */
typedef struct sg_shifts {
    /* How far a message is to be shifted; false: it is too far. */
    bool (*shift)(const void *topology, uint32_t from, uint32_t to, sg_shift *shift);
    /* The links of the router, which carries all that is not shifted. */
    void (*router)(const void *topology, uint32_t from, uint32_t to, sg_route *route);
} sg_shifts;

extern const sg_shifts sg_wire_xnet_shifts;

/* When `link` can begin with the message that is on its way through it, at `time` or later; both in
 * thousandths of a cycle. */
uint64_t sg_wire_ready(const sg_wire *wire, uint32_t link, uint64_t time);

#define SG_WIRE_DECLARE(kind) extern const sg_topology sg_wire_##kind;
SG_WIRES(SG_WIRE_DECLARE)

/* By enum sg_wire_kind; SG_WIRE_NONE has none. */
extern const sg_topology *const sg_wire_table[];
extern const unsigned sg_wire_count;

#endif

/* The interconnect of a machine: latency of a message from one node to another.
 *
 * A topology decides which links a message passes; links, routers and node interfaces work the same in all
 * (sg_wire.c): each is reserved in time, so messages that need the same one wait for each other. A new
 * topology is one new file sg_wire_KIND.c with an sg_topology of that name, and one in
 * scalegraph/machine/interconnects that declares its parameters, from which sg_machine.h is generated.
 *
 * Without contention, a message of B bytes over H links arrives 2 x interface + H x hop + (wormhole,
 * cut-through: 0; store-and-forward: (H - 1) x time of a packet) + time of the bytes, including packet
 * headers, on the slower of interface and link, after it was handed to the sender's interface. Software
 * overhead of sender and receiver is not part of the interconnect. With wormhole switching a blocked
 * message keeps holding what it has passed, up to its tail; otherwise the routers buffer it. */
#ifndef SG_WIRE_H
#define SG_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "sg_calendar.h"
#include "sg_config.h"
#include "sg_format.h"
#include "sg_usage.h"

/* One message between two nodes; times in cycles. Successive calls have non-decreasing `now`. */
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

/* The interconnect of `config`; NULL with a sentence in `error`. Requires config->wire other than
 * SG_WIRE_NONE. */
sg_wire *sg_wire_create(const sg_config *config, char *error, unsigned error_size);
void sg_wire_destroy(sg_wire *wire);
/* Carries a message: reserves its path and fills in the answers in `t`. From a node to itself it takes no
 * time. */
void sg_wire_carry(sg_wire *wire, sg_transfer *t);
/* The same as if no other message were in flight; reserves nothing. */
void sg_wire_carry_alone(sg_wire *wire, sg_transfer *t);
/* The links between two nodes, without the interfaces. */
uint32_t sg_wire_hops(sg_wire *wire, uint32_t from, uint32_t to);
/* Latency of the message in cycles without contention. */
uint64_t sg_wire_alone(sg_wire *wire, uint32_t from, uint32_t to, uint64_t bytes);
uint32_t sg_wire_nodes(const sg_wire *wire);

/* ---- sg_wire_together.c: messages sent by all elements of a SIMD machine at once ---- */

#define SG_WIRE_INSTRUCTIONS 64u /* per exchange: shifts, and one for the router */

/* One of these messages. */
typedef struct sg_together {
    uint32_t from, to; /* nodes */
    uint64_t bytes;
    /* The answers, in cycles. */
    uint64_t turn;        /* duration of the instruction that carries it; elements without such a message wait
                             meanwhile */
    uint64_t alone;       /* part of it without contention for wires */
    uint32_t instruction; /* its number, below SG_WIRE_INSTRUCTIONS */
} sg_together;

/* Carries `count` messages from `now` on; returns the duration. `contended`: they wait for wires. */
uint64_t sg_wire_carry_together(sg_wire *wire, uint64_t now, sg_together *message, uint32_t count,
                                bool contended);

/* Reports the activity so far of every link and interface. */
void sg_wire_statistics(const sg_wire *wire, sg_usage_visit *visit, void *context);

/* Writes the numbers of the busiest links, at most `most`, to `chosen`; returns how many. */
uint32_t sg_wire_busiest(const sg_wire *wire, uint32_t *chosen, uint32_t most);
/* A link's activity over time. */
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

/* How a link handles a message; preset to the common values before a topology is asked. */
typedef struct sg_link {
    uint64_t byte; /* time per byte, in millionths of a cycle */
    uint64_t hop;  /* from one end to the next link, including the router, in thousandths of a cycle */
    uint64_t
        collision; /* per packet of a message that finds it busy; same unit, 0 except for a shared cable */
} sg_link;

typedef struct sg_topology {
    const char *name;
    const sg_net_parameter *parameters; /* ends with a null name */
    /* The topology of a machine, to be freed with free(); NULL: out of host memory. Sets `*nodes` and
     * `*links` to their numbers. */
    void *(*create)(const sg_config *config, uint64_t *nodes, uint64_t *links);
    /* The links from one node to another, without repeats; `wire` tells how busy a link is at `now`. */
    void (*route)(void *topology, const sg_wire *wire, uint32_t from, uint32_t to, uint64_t now,
                  sg_route *route);
    /* Writes the name of link `link` to `text`: "0>1". */
    void (*name_link)(const void *topology, uint32_t link, char *text, unsigned size);
    void (*link)(const void *topology, uint32_t link, sg_link *is); /* NULL: all are alike */
} sg_topology;

/* A message as a shift: all messages with the same displacement are one instruction, or two. */
typedef struct sg_shift {
    uint64_t way;
    uint32_t steps[2]; /* links passed in the first and second instruction; 0: no such instruction */
} sg_shift;

/* Extra operations of a topology for SIMD elements. */
typedef struct sg_shifts {
    /* How far to shift a message; false: too far. */
    bool (*shift)(const void *topology, uint32_t from, uint32_t to, sg_shift *shift);
    /* The links of the router, which carries everything that is not shifted. */
    void (*router)(const void *topology, uint32_t from, uint32_t to, sg_route *route);
} sg_shifts;

extern const sg_shifts sg_wire_xnet_shifts;

/* When `link` can start on the message being routed, at `time` or later; both in thousandths of a cycle. */
uint64_t sg_wire_ready(const sg_wire *wire, uint32_t link, uint64_t time);

#define SG_WIRE_DECLARE(kind) extern const sg_topology sg_wire_##kind;
SG_WIRES(SG_WIRE_DECLARE)

/* Indexed by enum sg_wire_kind; SG_WIRE_NONE has no entry. */
extern const sg_topology *const sg_wire_table[];
extern const unsigned sg_wire_count;

#endif

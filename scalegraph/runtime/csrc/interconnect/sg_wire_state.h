/* State of an interconnect, private to sg_wire.c and sg_wire_together.c. Times are thousandths of a cycle. */
#ifndef SG_WIRE_STATE_H
#define SG_WIRE_STATE_H

#include "sg_wire.h"
#include "sg_wire_load.h"

#define STAGES (SG_WIRE_MOST_HOPS + 2)

/* In the order of the names in scalegraph.machine.interconnects.base. */
enum switching { WORMHOLE, CUT_THROUGH, STORE_AND_FORWARD };

typedef struct stage {
    sg_calendar *calendar;
    uint64_t length; /* transmission time of the bytes */
    uint64_t passes; /* from the head's entry to its entry into the next stage */
    uint64_t rest;   /* to the end of all stages */
    uint64_t head;   /* when the head enters */
    uint64_t hold;   /* how long the stage is held */
    uint64_t rivals; /* extra transmission time if the head has to wait */
} stage;

struct sg_wire {
    const sg_topology *topology;
    void *shape;
    uint32_t nodes, links, interfaces;
    enum switching switching;
    uint64_t interface_byte, interface_pass;
    sg_link link; /* the links' common values */
    uint64_t packet_bytes, header_bytes, least_bytes;
    sg_wire_loads loads;
    sg_calendar *calendar; /* [links], then [nodes][interfaces] that send, then those that receive */
    size_t bytes;
    sg_route route;
    uint64_t length; /* of the message being routed, on a link */
    stage stage[STAGES];
    struct sg_exchange *exchange; /* sg_wire_together.c; NULL: not used yet */
    size_t exchange_bytes;
};

#endif

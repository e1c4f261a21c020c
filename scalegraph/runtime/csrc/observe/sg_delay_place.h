/* Places of the program that make others wait, and their part of the result: for sg_delay.c. */
#ifndef SG_DELAY_PLACE_H
#define SG_DELAY_PLACE_H

#include "sg_cells.h"
#include "sg_runtime.h"

enum sg_delay_kind { /* as in DELAY_KINDS */
                     SG_DELAY_WORK,
                     SG_DELAY_HELD,
                     SG_DELAY_MESSAGE,
                     SG_DELAY_TRANSFER,
                     SG_DELAY_SLEEP,
                     SG_DELAY_RUNTIME,
};

/* A nest of regions. */
typedef struct sg_delay_around {
    uint32_t parent, region;
    uint32_t place; /* for work in it */
} sg_delay_around;

typedef struct sg_delay_account {
    uint64_t own[SG_CATEGORY_COUNT], waited[SG_CATEGORY_COUNT], caused[SG_CATEGORY_COUNT];
    uint64_t address;
    const char *call; /* of a message; NULL for others */
    uint32_t context;
    enum sg_delay_kind kind;
    int64_t more; /* excess of the late course over the early one */
    bool listed;
} sg_delay_account;

/* Indexed by number, from 1 on. They move when a new one is added. */
extern struct sg_delays {
    sg_delay_around *context;
    sg_delay_account *place;
} sg_delays;

void sg_delay_places_open(void);
/* The number of a place: a context, a kind and a code address or NULL. */
uint32_t sg_delay_place(uint32_t context, enum sg_delay_kind kind, const void *site);
/* The number of the context of a region inside another. A recursive function counts once. */
uint32_t sg_delay_context(uint32_t parent, uint32_t region);

uint64_t sg_delay_put_contexts(struct sg_writer *w);
uint64_t sg_delay_put_places(struct sg_writer *w);
void sg_delay_cells(sg_cells *cells);

#endif

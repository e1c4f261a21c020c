/* Places that make others wait; see sg_delay_place.h. */
#include "sg_delay_place.h"

#include <stdio.h>

#include "sg_array.h"
#include "sg_table.h"

#define MOST_REGIONS (1u << 20) /* contexts; deeper ones are merged */

struct sg_delays sg_delays = {.place = NULL};
static struct {
    sg_table contexts, places;
    uint32_t contexts_count, contexts_room, places_count, places_room;
} known = {.places_count = 0};

void sg_delay_places_open(void)
{
    SG_ARRAY_HOLD(sg_delays.context, known.contexts_room, 1, 64);
    SG_ARRAY_HOLD(sg_delays.place, known.places_room, 1, 64);
}

uint32_t sg_delay_place(uint32_t context, enum sg_delay_kind kind, const void *site)
{
    uint32_t number = site != NULL ? (uint32_t)(sg_site_of(site) - sg->sites) : 0;
    uint64_t key = ((uint64_t)context << 40 | (uint64_t)kind << 36 | number) + 1;
    sg_table_entry *entry = sg_table_make(&known.places, key, 256);
    if (entry->number == 0) {
        uint32_t at = ++known.places_count;
        SG_ARRAY_HOLD(sg_delays.place, known.places_room, at, 64);
        sg_delays.place[at] = (sg_delay_account){.context = context, .kind = kind};
        sg_delays.place[at].address = number != 0 ? (uint64_t)(uintptr_t)site : 0;
        entry->number = at;
    }
    return (uint32_t)entry->number;
}

static uint32_t around(uint32_t parent, uint32_t region)
{
    for (uint32_t c = parent; c != 0; c = sg_delays.context[c].parent)
        if (sg_delays.context[c].region == region)
            return c;
    return 0;
}

uint32_t sg_delay_context(uint32_t parent, uint32_t region)
{
    sg_table_entry *entry = sg_table_make(&known.contexts, ((uint64_t)parent << 32 | region) + 1, 256);
    if (entry->number == 0) {
        uint32_t at = around(parent, region);
        if (at == 0 && known.contexts_count < MOST_REGIONS) {
            at = ++known.contexts_count;
            SG_ARRAY_HOLD(sg_delays.context, known.contexts_room, at, 64);
            sg_delays.context[at] = (sg_delay_around){.parent = parent, .region = region};
        }
        entry->number = at != 0 ? at : parent;
    }
    return (uint32_t)entry->number;
}

void sg_delay_cells(sg_cells *cells)
{
    sg_cells_add(cells, &sg_delays.place, sg_delays.place, sizeof *sg_delays.place,
                 offsetof(sg_delay_account, address), known.places_count + 1);
}

uint64_t sg_delay_put_contexts(struct sg_writer *w)
{
    for (uint32_t i = 1; i <= known.contexts_count; i++) {
        const sg_delay_around *c = &sg_delays.context[i];
        sg_put(w, &(sg_context_record){.parent = c->parent, .region = c->region}, sizeof(sg_context_record));
    }
    return known.contexts_count;
}

uint64_t sg_delay_put_places(struct sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i <= known.places_count; i++) {
        const sg_delay_account *at = &sg_delays.place[i];
        for (uint32_t k = 0; k < SG_CATEGORY_COUNT; k++) {
            sg_delay record = {.context = at->context, .kind = at->kind, .category = k};
            record.address = at->address;
            record.own = at->own[k];
            record.waited = at->waited[k];
            record.caused = at->caused[k];
            if ((record.own | record.waited | record.caused) == 0)
                continue;
            snprintf(record.call, sizeof record.call, "%s", at->call != NULL ? at->call : "");
            sg_put(w, &record, sizeof record);
            count++;
        }
    }
    return count;
}

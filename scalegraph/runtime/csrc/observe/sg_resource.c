/* Utilisation of network and memory. */
#include "sg_array.h"
#include "sg_cells.h"
#include "sg_observers.h"
#include "sg_wire.h"

/* What sampling adds to a resource, see sg_sample.c. */
typedef struct extra {
    uint64_t transactions, busy, waiting;
} extra;

static struct {
    extra *added, *now; /* in visiting order */
    uint32_t added_room, now_room, count;
} extras = {.count = 0};

struct resources {
    struct sg_writer *w;
    uint64_t count;
    uint32_t number; /* of the next resource */
};

static void copy(char *to, const char *from, size_t size)
{
    size_t length = strlen(from);
    memcpy(to, from, length < size ? length : size - 1);
}

static void put_resource(void *context, const sg_usage *usage)
{
    struct resources *to = context;
    uint32_t number = to->number++;
    const extra more = number < extras.count ? extras.added[number] : (extra){0, 0, 0};
    if (usage->transactions == 0)
        return;
    sg_resource record = {.units = usage->units, .busy = usage->busy + more.busy};
    record.transactions = usage->transactions + more.transactions;
    record.waiting = usage->waiting + more.waiting;
    copy(record.kind, usage->kind, sizeof record.kind);
    char name[96];
    sg_usage_name(usage, name, sizeof name);
    copy(record.name, name, sizeof record.name);
    sg_put(to->w, &record, sizeof record);
    to->count++;
}

static uint64_t put_resources(struct sg_writer *w)
{
    struct resources to = {w, 0, 0};
    sg_mem_statistics(sg->mem, put_resource, &to);
    if (sg->wire != NULL)
        sg_wire_statistics(sg->wire, put_resource, &to);
    return to.count;
}

/* ---- sampling ---- */

static void gather(void *context, const sg_usage *usage)
{
    uint32_t *number = context;
    SG_ARRAY_HOLD(extras.now, extras.now_room, *number, 64);
    SG_ARRAY_HOLD(extras.added, extras.added_room, *number, 64);
    const extra *more = &extras.added[*number];
    extras.now[(*number)++] = (extra){usage->transactions + more->transactions, usage->busy + more->busy,
                                      usage->waiting + more->waiting};
}

static void keep_added(void *context, const sg_usage *usage)
{
    uint32_t number = (*(uint32_t *)context)++;
    const extra *now = &extras.now[number];
    extras.added[number] = (extra){now->transactions - usage->transactions, now->busy - usage->busy,
                                   now->waiting - usage->waiting};
}

static void report_cells(sg_cells *cells)
{
    uint32_t number = 0;
    extras.count = 0;
    sg_mem_statistics(sg->mem, gather, &extras.count);
    sg_cells_add(cells, &extras, extras.now, sizeof *extras.now, sizeof *extras.now, extras.count);
    sg_mem_statistics(sg->mem, keep_added, &number);
}

enum { SHOWN_LINKS = 2048 };

/* The busiest links of the interconnect, over time. */
static uint64_t put_links(struct sg_writer *w)
{
    if (sg->wire == NULL)
        return 0;
    uint32_t *chosen = sg_new(SHOWN_LINKS * sizeof *chosen);
    uint32_t count = sg_wire_busiest(sg->wire, chosen, SHOWN_LINKS);
    for (uint32_t i = 0; i < count; i++) {
        sg_link_record record;
        sg_wire_load(sg->wire, chosen[i], &record);
        sg_put(w, &record, sizeof record);
    }
    return count;
}

static const sg_result_part parts[] = {
    {SG_SECTION_RESOURCES, sizeof(sg_resource), put_resources},
    {SG_SECTION_LINKS, sizeof(sg_link_record), put_links},
};

const sg_observer sg_observer_resource = {
    .name = "resources",
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .cells = report_cells,
};

/* How busy the resources of the network and the memory were. */
#include "sg_observers.h"
#include "sg_wire.h"

struct resources {
    struct sg_writer *w;
    uint64_t count;
};

static void copy(char *to, const char *from, size_t size)
{
    size_t length = strlen(from);
    memcpy(to, from, length < size ? length : size - 1);
}

static void put_resource(void *context, const sg_usage *usage)
{
    struct resources *to = context;
    if (usage->transactions == 0)
        return;
    sg_resource record = {.units = usage->units, .busy = usage->busy};
    record.transactions = usage->transactions;
    record.waiting = usage->waiting;
    copy(record.kind, usage->kind, sizeof record.kind);
    copy(record.name, usage->name, sizeof record.name);
    sg_put(to->w, &record, sizeof record);
    to->count++;
}

static uint64_t put_resources(struct sg_writer *w)
{
    struct resources to = {w, 0};
    sg_mem_statistics(sg->mem, put_resource, &to);
    if (sg->wire != NULL)
        sg_wire_statistics(sg->wire, put_resource, &to);
    return to.count;
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
};

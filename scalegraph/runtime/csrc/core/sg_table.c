/* Tables of keys and values: see sg_table.h. Their memory comes from the runtime's own heap. */
#include "sg_alloc.h"
#include "sg_table.h"

#include <stdlib.h>

void sg_table_grow(sg_table *t, uint32_t least)
{
    sg_table old = *t;
    t->size = old.size != 0 ? 2 * old.size : least;
    bool before = sg_alloc_own(true);
    t->entry = calloc(t->size, sizeof *t->entry);
    sg_alloc_own(before);
    if (t->entry == NULL)
        sg_stop(SG_STATUS_INTERNAL, "the host has no memory for a table of %u entries", t->size);
    for (uint32_t i = 0; i < old.size; i++)
        if (old.entry[i].number != 0)
            *sg_table_slot(t, old.entry[i].key) = old.entry[i];
    free(old.entry);
}

void sg_table_drop(sg_table *t)
{
    free(t->entry);
    *t = (sg_table){0};
}

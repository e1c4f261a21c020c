/* Tables of nonzero 64-bit keys and values: open addressing, at most half full. */
#ifndef SG_TABLE_H
#define SG_TABLE_H

#include "sg_runtime.h"

/* The entry of `key`, or the free one where it belongs; the table has room. The high half is mixed into
 * the low one first: keys made of two numbers would otherwise differ only in product bits that the mask
 * cuts off. */
static inline sg_table_entry *sg_table_slot(const sg_table *t, uint64_t key)
{
    uint32_t at = (uint32_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15ull >> 32) & (t->size - 1);
    while (t->entry[at].number != 0 && t->entry[at].key != key)
        at = (at + 1) & (t->size - 1);
    return &t->entry[at];
}

/* The entry of `key`, or NULL. */
static inline sg_table_entry *sg_table_find(const sg_table *t, uint64_t key)
{
    sg_table_entry *entry = t->size != 0 ? sg_table_slot(t, key) : NULL;
    return entry != NULL && entry->number != 0 ? entry : NULL;
}

/* Doubles the table; an empty one gets `least` entries, a power of two. */
void sg_table_grow(sg_table *t, uint32_t least);

/* The entry of `key`, added if missing. A new entry needs its value before the next search. The pointer is
 * valid until the next insertion. */
static inline sg_table_entry *sg_table_make(sg_table *t, uint64_t key, uint32_t least)
{
    if (SG_UNLIKELY(2 * t->used >= t->size))
        sg_table_grow(t, least);
    sg_table_entry *entry = sg_table_slot(t, key);
    if (entry->number == 0) {
        entry->key = key;
        t->used++;
    }
    return entry;
}

/* Frees the memory and leaves the table empty. */
void sg_table_drop(sg_table *t);

#endif

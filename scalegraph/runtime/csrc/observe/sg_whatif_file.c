/* The scale file of virtual speedups, written by link/scale.py.
 *
 * It has one line per item, followed by one for each of its ranges:
 *     item KIND PARTS MULTIPLIER DIVISOR     cycles become cycles * multiplier / divisor
 *     range LOW HIGH                         HIGH is exclusive
 * KIND: code (ranges of return addresses), region (region numbers: what is charged to them), within (the same
 * with everything called inside), lock (lock addresses: operations on them), held (the same: code while one
 * is held), data (data addresses: misses), heap (return addresses of allocations: misses of those blocks),
 * cost (region numbers: everything charged to them, including the runtime's work for them), whole (the same
 * with everything called inside), section (return addresses of calls that take a lock: code while it is
 * held), call (return addresses of calls: the runtime's work there, and messages sent there). PARTS:
 * 1 computation, 2 memory stalls, 3 both. */
#include <errno.h>
#include <stdio.h>

#include "sg_array.h"
#include "sg_message.h"
#include "sg_whatif.h"

static const char *const kind_names[] = {"code", "region", "within", "lock",    "held", "data",
                                         "heap", "cost",   "whole",  "section", "call"};

static void refuse(int line, const char *what)
{
    sg_stop(SG_STATUS_INTERNAL, "%s:%d: %s", sg->config.scale_path, line, what);
}

static void add_item(sg_scales *w, const char *text, int line)
{
    char kind[16];
    unsigned parts;
    unsigned long long multiplier, divisor;
    int used = 0;
    if (w->count == MAX_ITEMS)
        refuse(line, "expected at most 64 items");
    if (sg_scan(text, "item %15s %u %llu %llu%n", kind, &parts, &multiplier, &divisor, &used) != 4 ||
        text[used] != '\n' || parts < 1 || parts > 3 || divisor < 1 || divisor > 1000000000 ||
        multiplier > 1000000000)
        refuse(line, "expected an item's kind, parts (1 to 3), multiplier and divisor");
    item *it = &w->items[w->count];
    uint64_t bit = 1ull << w->count++;
    *it = (item){.kind = KINDS, .parts = parts, .multiplier = multiplier, .divisor = divisor};
    for (unsigned i = 0; i < KINDS; i++)
        if (strcmp(kind, kind_names[i]) == 0)
            it->kind = (enum kind)i;
    if (it->kind == KINDS)
        refuse(line, "expected a kind of item");
    w->of_kind[it->kind] |= bit;
    if (parts & COMPUTE)
        w->of_part[COMPUTE] |= bit;
    if (parts & MEMORY)
        w->of_part[MEMORY] |= bit;
    if (multiplier == 0)
        w->removed |= bit;
}

static void add_range(sg_scales *w, const char *text, int line)
{
    unsigned long long low, high;
    int used = 0;
    if (w->count == 0)
        refuse(line, "a range stands before the first item");
    if (sg_scan(text, "range %llu %llu%n", &low, &high, &used) != 2 || text[used] != '\n' || high <= low)
        refuse(line, "expected a range's low and high number");
    item *it = &w->items[w->count - 1];
    SG_ARRAY_HOLD(it->ranges, it->size, it->count, 8);
    it->ranges[it->count++] = (range){low, high};
}

void sg_scales_read(sg_scales *w)
{
    char text[256];
    int line = 0;
    FILE *file = fopen(sg->config.scale_path, "r");
    if (file == NULL)
        sg_stop(SG_STATUS_INTERNAL, "the scale file %s cannot be opened: %s", sg->config.scale_path,
                strerror(errno));
    while (fgets(text, sizeof text, file) != NULL) {
        line++;
        if (strncmp(text, "item ", 5) == 0)
            add_item(w, text, line);
        else if (strncmp(text, "range ", 6) == 0)
            add_range(w, text, line);
        else
            refuse(line, "expected an item or a range");
    }
    fclose(file);
}

/* Snapshots of a run's counts, see sg_cells.h. */
#include "sg_cells.h"

#include "sg_array.h"
#include "sg_inline.h"
#include "sg_table.h"

typedef struct range {
    uint64_t *now, *before; /* snapshots */
    size_t size, size_before, room;
    uint64_t copied; /* in this snapshot, the last one in which it had changed */
} range;

struct sg_cells {
    enum sg_cells_step step;
    const sg_difference *difference;
    uint64_t times;
    sg_cost *sum; /* of all accounts in the last snapshot */
};

static struct {
    sg_table number; /* number of a range, + 1, by its key */
    range *ranges;
    uint32_t count, ranges_room;
    uint64_t copies; /* snapshots */
} kept = {.count = 0};

static uint32_t number_of(const void *key)
{
    sg_table_entry *entry = sg_table_make(&kept.number, (uint64_t)(uintptr_t)key, 256);
    if (entry->number == 0) {
        SG_ARRAY_HOLD(kept.ranges, kept.ranges_room, kept.count, 64);
        entry->number = ++kept.count;
    }
    return (uint32_t)entry->number - 1;
}

static void hold(range *r, size_t size)
{
    if (size <= r->room)
        return;
    size_t room = sg_array_room(r->room, size, 16);
    r->now = sg_larger(r->now, r->size * sizeof *r->now, room * sizeof *r->now);
    r->before = sg_larger(r->before, r->size_before * sizeof *r->before, room * sizeof *r->before);
    r->room = room;
}

static void copy(range *r, const char *first, size_t stride, size_t width, size_t count)
{
    hold(r, width * count);
    uint64_t *last = r->now;
    r->now = r->before;
    r->before = last;
    r->size_before = r->size;
    r->size = width * count;
    r->copied = kept.copies;
    for (size_t i = 0; i < count; i++)
        memcpy(r->now + i * width, first + i * stride, width * sizeof(uint64_t));
}

static void restore(const range *r, char *first, size_t stride, size_t width, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((i + 1) * width <= r->size)
            memcpy(first + i * stride, r->now + i * width, width * sizeof(uint64_t));
        else
            memset(first + i * stride, 0, width * sizeof(uint64_t));
    }
}

static void multiply(const uint64_t *difference, size_t size, uint64_t times, char *first, size_t stride,
                     size_t width, size_t count)
{
    for (size_t i = 0; i < count && (i + 1) * width <= size; i++) {
        uint64_t *cell = (uint64_t *)(first + i * stride);
        for (size_t k = 0; k < width; k++)
            cell[k] += times * difference[i * width + k];
    }
}

void sg_cells_add(sg_cells *cells, const void *key, void *first, size_t stride, size_t bytes, size_t count)
{
    uint32_t number = number_of(key);
    range *r = &kept.ranges[number];
    size_t width = bytes / sizeof(uint64_t);
    if (cells->step == SG_CELLS_COPY)
        copy(r, first, stride, width, count);
    else if (cells->step == SG_CELLS_RESTORE)
        restore(r, first, stride, width, count);
    else if (number < cells->difference->ranges)
        multiply(cells->difference->range[number], cells->difference->size[number], cells->times, first,
                 stride, width, count);
}

/* ---- the accounts ---- */

#define BYTES(type, first, last) (offsetof(type, last) + sizeof(((type *)0)->last) - offsetof(type, first))

static void visit_account(sg_cells *cells, sg_account *a)
{
    sg_cells_add(cells, &a->reads, &a->reads, 0, BYTES(sg_account, reads, flops), 1);
    sg_cells_add(cells, &a->rest.categories, &a->rest.categories, 0, BYTES(sg_cost, categories, counters), 1);
}

/* Blocks and code addresses. */
static void visit_code(sg_cells *cells)
{
    sg_cells_add(cells, &sg->blocks, &sg->blocks->executions, sizeof *sg->blocks,
                 BYTES(sg_block_cost, executions, more), sg->blocks_count);
    sg_cells_add(cells, &sg->sites, &sg->sites->misses, sizeof *sg->sites,
                 BYTES(sg_site_count, misses, references), sg->sites_count);
    sg_cells_add(cells, &sg->sites_count, &sg->sites->cycles, sizeof *sg->sites,
                 BYTES(sg_site_count, cycles, causes), sg->sites_count);
}

/* An account's fraction of a cycle is what its clock has taken, so it must not change: the change that the
 * counts would cause is taken from the busy categories, the largest first. */
static void mend_parts(sg_account *a, uint64_t parts)
{
    int64_t differs = (int64_t)(a->parts - parts);
    a->parts = parts;
    for (int turn = 0; turn < 4 && differs != 0; turn++) {
        int most = 0;
        for (int i = 1; i < 4; i++)
            if (a->busy[i] > a->busy[most])
                most = i;
        int64_t taken = differs < (int64_t)a->busy[most] ? differs : (int64_t)a->busy[most];
        a->busy[most] -= (uint64_t)taken;
        differs -= taken;
    }
}

static void add_cost(sg_cost *sum, const sg_cost *one, uint64_t times)
{
    for (int i = 0; i < SG_CATEGORY_COUNT; i++)
        sum->categories[i] += times * one->categories[i];
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        sum->counters[i] += times * one->counters[i];
}

/* Adds to `sum` what an account has in the last snapshot, `times` times. */
static void add_snapshot(sg_cost *sum, const sg_account *a, uint64_t times)
{
    uint32_t first = number_of(&a->reads), second = number_of(&a->rest.categories);
    const range *counts = &kept.ranges[first], *rest = &kept.ranges[second];
    if (counts->size == 0)
        return;
    sg_account there = {.rest = {.processor = a->rest.processor}};
    sg_cost total;
    memcpy(&there.reads, counts->now, counts->size * sizeof *counts->now);
    memcpy(&there.rest.categories, rest->now, rest->size * sizeof *rest->now);
    sg_account_total(&there, &total);
    add_cost(sum, &total, times);
}

/* Does the difference that is added to all counts have any of this account? */
static bool adds_to(const sg_cells *cells, const sg_account *a)
{
    uint32_t number = number_of(&a->reads);
    return number < cells->difference->ranges && cells->difference->size[number] > 0;
}

/* Accounts that have not changed since the last snapshot are neither copied nor restored. */
static void visit_changed(sg_cells *cells, sg_account *a)
{
    uint64_t parts = a->parts;
    bool copies = cells->step == SG_CELLS_COPY;
    if (cells->step == SG_CELLS_ADD ? !adds_to(cells, a) : kept.copies > 1 && !a->changed)
        return;
    if (a->changed == SG_ALL_CHANGED)
        sg_account_settle(a, NULL);
    if (copies)
        add_snapshot(cells->sum, a, -1ull);
    visit_account(cells, a);
    if (copies)
        add_snapshot(cells->sum, a, 1);
    mend_parts(a, parts);
    bool goes_on = a == sg->processor[a->rest.processor].account;
    a->changed = goes_on ? SG_ALL_CHANGED : copies ? 0 : SG_SUMS_CHANGED;
}

static void visit(sg_cells *cells)
{
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        p->account->parts = p->parts;
        for (uint32_t region = 0; region < p->accounts_size; region++)
            if (p->accounts[region] != NULL)
                visit_changed(cells, p->accounts[region]);
    }
    visit_code(cells);
    sg_observe_cells(cells);
}

void sg_cells_copy(sg_cost *sum)
{
    kept.copies++;
    visit(&(sg_cells){.step = SG_CELLS_COPY, .sum = sum});
}

void sg_cells_restore(void)
{
    visit(&(sg_cells){.step = SG_CELLS_RESTORE});
}

void sg_cells_multiply(const sg_difference *difference, uint64_t times)
{
    if (times > 0)
        visit(&(sg_cells){SG_CELLS_ADD, difference, times, NULL});
}

/* ---- differences ---- */

static void hold_ranges(sg_difference *d)
{
    if (d->ranges >= kept.count)
        return;
    size_t room = kept.ranges_room, old = d->ranges;
    d->range = sg_larger(d->range, old * sizeof *d->range, room * sizeof *d->range);
    d->size = sg_larger(d->size, old * sizeof *d->size, room * sizeof *d->size);
    d->room = sg_larger(d->room, old * sizeof *d->room, room * sizeof *d->room);
    d->ranges = kept.count;
}

void sg_cells_differ(sg_difference *d)
{
    hold_ranges(d);
    for (uint32_t i = 0; i < kept.count; i++) {
        const range *r = &kept.ranges[i];
        d->size[i] = 0;
        if (r->copied != kept.copies)
            continue;
        if (r->size > d->room[i]) {
            d->room[i] = r->room;
            d->range[i] = sg_new(d->room[i] * sizeof **d->range);
        }
        d->size[i] = r->size;
        for (size_t k = 0; k < r->size; k++)
            d->range[i][k] = r->now[k] - (k < r->size_before ? r->before[k] : 0);
    }
}

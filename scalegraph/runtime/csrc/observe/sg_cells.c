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
    uint64_t copies;      /* snapshots */
    uint64_t complete;    /* the last one that is complete */
    sg_account **account; /* copied in the last one */
    uint32_t accounts, accounts_room;
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

/* Most records are short, and many: a loop over their counts is then faster than a call for each. */
static void gather(uint64_t *to, const char *first, size_t stride, size_t width, size_t count)
{
    if (stride == width * sizeof *to)
        memcpy(to, first, count * stride);
    else if (width == 2)
        for (size_t i = 0; i < count; i++, first += stride, to += 2) {
            to[0] = ((const uint64_t *)first)[0];
            to[1] = ((const uint64_t *)first)[1];
        }
    else
        for (size_t i = 0; i < count; i++)
            memcpy(to + i * width, first + i * stride, width * sizeof *to);
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
    gather(r->now, first, stride, width, count);
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

static void multiply(const sg_changes *c, uint64_t times, char *first, size_t stride, size_t width,
                     size_t count)
{
    for (size_t i = 0; i < c->count && c->change[i].at < width * count; i++) {
        size_t record = c->change[i].at / width, k = c->change[i].at % width;
        ((uint64_t *)(first + record * stride))[k] += times * c->change[i].by;
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
        multiply(&cells->difference->range[number], cells->times, first, stride, width, count);
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

/* The step with one account. */
static void visit_account_of(sg_cells *cells, sg_account *a)
{
    uint64_t parts = a->parts;
    bool copies = cells->step == SG_CELLS_COPY;
    if (a->changed == SG_ALL_CHANGED)
        sg_account_settle(a, NULL);
    if (copies)
        add_snapshot(cells->sum, a, -1ull);
    visit_account(cells, a);
    if (copies)
        add_snapshot(cells->sum, a, 1);
    mend_parts(a, parts);
}

static void save_parts(void)
{
    for (uint32_t i = 0; i < sg->processors; i++)
        sg->processor[i].account->parts = sg->processor[i].parts;
}

/* The step with the accounts that have changed since the last snapshot. All have, before the first one. */
static void visit_changed(sg_cells *cells)
{
    sg_account *next = sg->changed;
    sg->changed = NULL;
    for (sg_account *a = next; a != NULL; a = next) {
        next = a->next_changed;
        visit_account_of(cells, a);
        if (cells->step == SG_CELLS_COPY) {
            SG_ARRAY_HOLD(kept.account, kept.accounts_room, kept.accounts, 64);
            kept.account[kept.accounts++] = a;
        }
        a->changed = 0;
        if (cells->step != SG_CELLS_COPY)
            sg_account_change(a, SG_SUMS_CHANGED);
    }
    for (uint32_t i = 0; i < sg->processors; i++)
        sg_account_change(sg->processor[i].account, SG_ALL_CHANGED);
}

static void visit_others(sg_cells *cells)
{
    visit_code(cells);
    sg_observe_cells(cells);
}

void sg_cells_copy(sg_cost *sum)
{
    kept.copies++;
    kept.accounts = 0;
    save_parts();
    visit_changed(&(sg_cells){.step = SG_CELLS_COPY, .sum = sum});
}

void sg_cells_complete(void)
{
    if (kept.complete == kept.copies)
        return;
    kept.complete = kept.copies;
    visit_others(&(sg_cells){.step = SG_CELLS_COPY});
}

void sg_cells_restore(void)
{
    sg_cells cells = {.step = SG_CELLS_RESTORE};
    save_parts();
    visit_changed(&cells);
    visit_others(&cells);
}

void sg_cells_multiply(const sg_difference *difference, uint64_t times)
{
    if (times == 0)
        return;
    sg_cells cells = {SG_CELLS_ADD, difference, times, NULL};
    save_parts();
    for (uint32_t i = 0; i < difference->accounts; i++) {
        visit_account_of(&cells, difference->account[i]);
        sg_account_change(difference->account[i], SG_SUMS_CHANGED);
    }
    visit_others(&cells);
}

/* ---- differences ---- */

static void hold_ranges(sg_difference *d)
{
    if (d->ranges >= kept.count)
        return;
    size_t room = kept.ranges_room, old = d->ranges;
    d->range = sg_larger(d->range, old * sizeof *d->range, room * sizeof *d->range);
    d->ranges = kept.count;
}

static void subtract(sg_changes *c, const range *r)
{
    c->count = 0;
    for (size_t k = 0; k < r->size; k++) {
        uint64_t by = r->now[k] - (k < r->size_before ? r->before[k] : 0);
        if (by == 0)
            continue;
        SG_ARRAY_HOLD(c->change, c->room, c->count, 8);
        c->change[c->count++] = (sg_change){k, by};
    }
}

static void hold_accounts(sg_difference *d)
{
    if (kept.accounts > d->accounts_room) {
        d->accounts_room = kept.accounts_room;
        d->account = sg_larger(d->account, 0, d->accounts_room * sizeof *d->account);
    }
    d->accounts = kept.accounts;
    memcpy(d->account, kept.account, kept.accounts * sizeof *kept.account);
}

void sg_cells_differ(sg_difference *d)
{
    hold_ranges(d);
    hold_accounts(d);
    for (uint32_t i = 0; i < kept.count; i++) {
        d->range[i].count = 0;
        if (kept.ranges[i].copied == kept.copies)
            subtract(&d->range[i], &kept.ranges[i]);
    }
}

/* Accounts split by cause, widths of invalidations, and the check that all parts add up. */
#include "sg_cause.h"

#include <stdio.h>

#include "sg_array.h"
#include "sg_cells.h"
#include "sg_observers.h"
#include "sg_variable.h"

/* In the order of format.py's CAUSE_COUNTERS and STALL_NAMES. */
_Static_assert(SG_COUNTER_WRITES == SG_COUNTER_READS + 1 && SG_COUNTER_L1_MISSES == SG_COUNTER_READS + 2,
               "reads, writes and the memory system's counters stand together");
_Static_assert(sizeof((sg_cause_cost *)0)->counters == (2 + SG_EVENTS) * sizeof(uint64_t), "CAUSE_COUNTERS");
_Static_assert(sizeof((sg_cause_cost *)0)->stalls == SG_STALLS * sizeof(uint64_t), "STALL_NAMES");

static const uint8_t category_cause[SG_CATEGORY_COUNT] = SG_CATEGORY_CAUSES;

static struct {
    sg_cause_region **region;
    uint32_t regions;
} causes = {0};

/* Cause of a reference of the runtime to `address`, charged to `category`. */
static enum sg_cause cause_of(enum sg_category category, uint64_t address)
{
    /* The barrier that ends a parallel region is part of the join. */
    if (category == SG_CATEGORY_PRIM_FORK_JOIN && sg_variable_is_of(address, SG_OWN_BARRIER, SG_OWN_LOCK))
        return SG_CAUSE_BARRIER;
    return (enum sg_cause)category_cause[category];
}

static __attribute__((noinline)) sg_cause_region *make_region(uint32_t region)
{
    SG_ARRAY_HOLD(causes.region, causes.regions, region, 16);
    if (causes.region[region] == NULL)
        causes.region[region] = sg_new(sizeof **causes.region);
    return causes.region[region];
}

static inline sg_cause_region *region_at(uint32_t region)
{
    return SG_LIKELY(region < causes.regions && causes.region[region] != NULL) ? causes.region[region]
                                                                               : make_region(region);
}

void sg_cause_class(uint32_t region, uint32_t cause, enum sg_miss_class class)
{
    region_at(region)->part[cause].classes[class]++;
}

/* Counts a reference of the runtime; it is already in the accounts. */
static enum sg_cause count_own(sg_processor *p, enum sg_category category, uint64_t address,
                               enum sg_access kind)
{
    enum sg_cause cause = cause_of(category, address);
    sg_cause_part *part = &region_at(p->account->rest.region)->part[cause];
    part->reads += kind != SG_WRITE;
    part->writes += kind != SG_READ;
    return cause;
}

static __attribute__((noinline)) void count_width(sg_cause_region *region, enum sg_cause cause,
                                                  uint32_t width)
{
    size_t stride = sg->processors + 1;
    if (region->widths == NULL)
        region->widths = sg_new(SG_CAUSE_COUNT * stride * sizeof(uint64_t));
    region->widths[cause * stride + (width < stride ? width : stride - 1)]++;
}

static __attribute__((noinline)) void add_own(sg_cause_region *region, enum sg_cause cause,
                                              const sg_outcome *o)
{
    sg_cause_part *part = &region->part[cause];
    for (int i = 0; i < SG_EVENTS; i++)
        part->events[i] += o->count[SG_COUNTER_L1_MISSES + i];
    for (int i = 0; i < SG_STALLS; i++)
        part->stall[i] += o->stall[SG_CATEGORY_STALL_LOCAL + i];
}

/* The memory system has carried out `r`; nothing of `o` is in the accounts yet. */
static void note_caused(sg_processor *p, const sg_pending *r, const sg_outcome *o)
{
    enum sg_cause cause = r->cause;
    uint32_t invalidations = o->count[SG_COUNTER_INVALIDATIONS];
    if (cause != SG_CAUSE_COMPUTATION)
        add_own(region_at(p->account->rest.region), cause, o);
    if (invalidations != 0)
        count_width(region_at(p->account->rest.region), cause, invalidations);
}

/* ---- the result ---- */

/* Totals over all causes in `region`, from the accounts: reads, writes, events; stalls of the program. */
static void totals_of(uint32_t region, sg_cause_cost *sum)
{
    for (uint32_t i = 0; i < sg->processors; i++) {
        const sg_processor *p = &sg->processor[i];
        sg_cost total;
        if (region >= p->accounts_size || p->accounts[region] == NULL)
            continue;
        sg_account_total(p->accounts[region], &total);
        for (int k = 0; k < 2 + SG_EVENTS; k++)
            sum->counters[k] += total.counters[SG_COUNTER_READS + k];
        for (int k = 0; k < SG_STALLS; k++)
            sum->stalls[k] += total.categories[SG_CATEGORY_STALL_LOCAL + k];
    }
}

/* Splits the costs of `region` by cause; false if the runtime's own parts exceed the total. */
static bool costs_of(uint32_t region, sg_cause_cost cost[SG_CAUSE_COUNT])
{
    bool whole = true;
    memset(cost, 0, SG_CAUSE_COUNT * sizeof *cost);
    totals_of(region, &cost[SG_CAUSE_COMPUTATION]);
    const sg_cause_region *from = region < causes.regions ? causes.region[region] : NULL;
    for (uint32_t cause = 0; cause < SG_CAUSE_COUNT; cause++) {
        cost[cause].region = region;
        cost[cause].cause = cause;
        if (from == NULL)
            continue;
        const sg_cause_part *part = &from->part[cause];
        memcpy(cost[cause].classes, part->classes, sizeof part->classes);
        if (cause == SG_CAUSE_COMPUTATION)
            continue;
        memcpy(cost[cause].counters, &part->reads, (2 + SG_EVENTS) * sizeof(uint64_t));
        memcpy(cost[cause].stalls, part->stall, sizeof part->stall);
        for (int k = 0; k < 2 + SG_EVENTS; k++) {
            whole &= cost[0].counters[k] >= cost[cause].counters[k];
            cost[0].counters[k] -= cost[cause].counters[k];
        }
    }
    return whole;
}

/* One more than the largest region with any cost. */
static uint32_t regions(void)
{
    uint32_t most = causes.regions;
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg->processor[i].accounts_size > most)
            most = sg->processor[i].accounts_size;
    return most;
}

static bool anything_in(const sg_cause_cost *cost)
{
    uint64_t any = 0;
    for (int k = 0; k < 2 + SG_EVENTS; k++)
        any |= cost->counters[k];
    for (int k = 0; k < SG_STALLS; k++)
        any |= cost->stalls[k];
    return any != 0;
}

static uint64_t put_causes(struct sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t region = 0, end = regions(); region < end; region++) {
        sg_cause_cost cost[SG_CAUSE_COUNT];
        costs_of(region, cost);
        for (int cause = 0; cause < SG_CAUSE_COUNT; cause++)
            if (anything_in(&cost[cause])) {
                sg_put(w, &cost[cause], sizeof *cost);
                count++;
            }
    }
    return count;
}

static uint64_t put_widths(struct sg_writer *w)
{
    uint64_t count = 0;
    uint32_t stride = sg->processors + 1;
    for (uint32_t region = 0; region < causes.regions; region++) {
        if (causes.region[region] == NULL || causes.region[region]->widths == NULL)
            continue;
        for (uint32_t i = 0; i < SG_CAUSE_COUNT * stride; i++) {
            uint64_t n = causes.region[region]->widths[i];
            if (n == 0)
                continue;
            sg_width record = {.region = region, .cause = i / stride, .width = i % stride, .count = n};
            sg_put(w, &record, sizeof record);
            count++;
        }
    }
    return count;
}

/* ---- sampling ---- */

static void report_cells(sg_cells *cells)
{
    size_t stride = sg->processors + 1;
    for (uint32_t region = 0; region < causes.regions; region++) {
        sg_cause_region *from = causes.region[region];
        if (from == NULL)
            continue;
        sg_cells_add(cells, from->part, from->part, 0, sizeof from->part, 1);
        if (from->widths != NULL)
            sg_cells_add(cells, from->widths, from->widths, 0, SG_CAUSE_COUNT * stride * sizeof(uint64_t), 1);
    }
}

/* ---- the check ---- */

static uint64_t invalidated(void)
{
    uint64_t sum = 0;
    uint32_t stride = sg->processors + 1;
    for (uint32_t region = 0; region < causes.regions; region++)
        if (causes.region[region] != NULL && causes.region[region]->widths != NULL)
            for (uint32_t i = 0; i < SG_CAUSE_COUNT * stride; i++)
                sum += causes.region[region]->widths[i] * (i % stride);
    return sum;
}

static void differ(char *fault, size_t size, const char *parts, uint64_t sum, const char *whole,
                   uint64_t total)
{
    if (sum != total && fault[0] == 0)
        snprintf(fault, size, "the %s add up to %llu, the %s are %llu", parts, (unsigned long long)sum, whole,
                 (unsigned long long)total);
}

static void check(char *fault, size_t size)
{
    uint64_t misses = 0, invalidations = 0, classes = 0;
    for (uint32_t region = 0, end = regions(); region < end; region++) {
        sg_cause_cost cost[SG_CAUSE_COUNT];
        if (!costs_of(region, cost) && fault[0] == 0)
            snprintf(fault, size, "the runtime's own references of region %u exceed all of its references",
                     region);
        for (int cause = 0; cause < SG_CAUSE_COUNT; cause++) {
            misses += cost[cause].counters[SG_COUNTER_MISSES - SG_COUNTER_READS];
            invalidations += cost[cause].counters[SG_COUNTER_INVALIDATIONS - SG_COUNTER_READS];
            for (int k = 0; k < SG_CLASS_COUNT; k++)
                classes += cost[cause].classes[k];
        }
    }
    differ(fault, size, "widths of the invalidations", invalidated(), "invalidations", invalidations);
    differ(fault, size, "misses of the variables", sg_variable_misses(), "misses", misses);
    if (sg_observed.filter != NULL) /* misses are classified */
        differ(fault, size, "misses by class", classes, "misses", misses);
}

static const sg_result_part parts[] = {
    {SG_SECTION_CAUSES, sizeof(sg_cause_cost), put_causes},
    {SG_SECTION_WIDTHS, sizeof(sg_width), put_widths},
};

const sg_observer sg_observer_cause = {
    .name = "causes",
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .cause = count_own,
    .caused = note_caused,
    .cells = report_cells,
    .checks = check,
};

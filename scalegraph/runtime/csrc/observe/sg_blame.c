/* What processors wait for: each waiting cycle is counted where it was spent (sg_cost.c) and, if its cause
 * is known, again where it was caused. docs/SIMULATOR.md, "Blame", says what is charged to what.
 *
 * Serial code: while only one processor has a thread, all others wait for it. Such a stretch begins when
 * the last of the others becomes idle, and ends when one of them gets a thread again or when the lone
 * processor reaches a barrier or forks. During a stretch, block executions are counted under separate
 * numbers, and sites and regions in separate tables; the hooks do not notice. At the end, the waiting is
 * distributed in proportion to these tables.
 *
 * Forks and locks: a thread carries the delay of its path by them (the path through whoever last woke it).
 * Those who wait at a barrier for the last to arrive are delayed by its path's excess over theirs.
 *
 * Nothing here changes a clock or the order of the processors. */
#include <stdio.h>

#include "sg_array.h"
#include "sg_cells.h"
#include "sg_inline.h"
#include "sg_observers.h"

/* Indexed by region. */
typedef struct place {
    uint64_t alone; /* cycles of lone processors */
    uint64_t caused[SG_BLAME_COUNT];
    uint64_t waited[SG_BLAME_COUNT][SG_CATEGORY_COUNT];
} place;

/* Indexed by site. */
typedef struct place_in_code {
    uint64_t alone; /* cycles of lone processors, excluding blocks */
    uint64_t waited;
    uint64_t caused[SG_BLAME_COUNT];
    uint32_t region; /* whose teams start here */
} place_in_code;

static struct {
    uint64_t alone;     /* cycles of lone processors, and the part during which all others were waiting: */
    uint64_t stretches; /* less if a wait ended before the lone processor's clock */
    uint64_t explained; /* waiting during stretches, over all processors */
    uint64_t begin;     /* of the stretch */
    uint64_t mark;      /* cycles up to here are in the regions */
    uint32_t region;    /* the current one */
    place *regions;
    uint32_t regions_count, regions_room;
    sg_site_count
        *other_sites; /* sites of lone processors, while sg->sites holds all others; or vice versa */
    place_in_code *sites;
    uint64_t *block_parts;  /* of executions by lone processors */
    uint64_t *block_caused; /* shares of the waiting for serial code */
} blames = {0};

static void open_blame(void)
{
    size_t sites = (sg->text_high - sg->text_low + 1) / 5 + 2;
    blames.other_sites = sg_reserve(sites * sizeof *blames.other_sites, "the accounts of the simulation");
    blames.sites = sg_reserve(sites * sizeof *blames.sites, "the accounts of the simulation");
    blames.block_parts = sg_reserve(sg->blocks_count * sizeof(uint64_t), "the accounts of the simulation");
    blames.block_caused = sg_reserve(sg->blocks_count * sizeof(uint64_t), "the accounts of the simulation");
}

static place *place_of(uint32_t region)
{
    SG_ARRAY_HOLD(blames.regions, blames.regions_room, region, 16);
    if (region >= blames.regions_count)
        blames.regions_count = region + 1;
    return &blames.regions[region];
}

static place_in_code *site_place(const void *address)
{
    return &blames.sites[sg_site_of(address) - sg->sites];
}

/* ---- stretches of serial code ---- */

static void exchange_sites(void)
{
    sg_site_count *sites = sg->sites;
    sg->sites = blames.other_sites;
    blames.other_sites = sites;
}

static void count_apart(sg_processor *p, bool apart)
{
    p->block_of = (apart ? sg->lone_index : sg->block_index) - sg->text_low;
    sg_inline_count_apart(p, apart);
}

static void begin(sg_processor *p)
{
    sg->lone = p;
    sg->regions_watched++;
    blames.begin = blames.mark = p->clock;
    blames.region = p->account->rest.region;
    p->account->alone = true;
    exchange_sites();
    if (!sg->blocks_scaled)
        count_apart(p, true);
}

static void begin_lone(sg_processor *p)
{
    sg->lone_due = false;
    if (sg->lone != NULL || p->thread == NULL || p->thread->in_runtime || sg->lock_waiters != 0)
        return;
    if (p->clock >= sg->rest_since)
        begin(p);
    else
        sg->lone_due = true;
}

/* The lone processor enters another region. */
static void change_region(const sg_processor *p)
{
    place_of(blames.region)->alone += p->clock - blames.mark;
    blames.mark = p->clock;
    blames.region = p->account->rest.region;
    p->account->alone = true;
}

static void end_lone(uint64_t when)
{
    sg_processor *p = sg->lone;
    if (p == NULL)
        return;
    change_region(p);
    blames.alone += p->clock - blames.begin;
    when = when < p->clock ? when : p->clock;
    blames.stretches += when > blames.begin ? when - blames.begin : 0;
    if (!sg->blocks_scaled)
        count_apart(p, false);
    exchange_sites();
    sg->lone = NULL;
    sg->regions_watched--;
}

static void rest(sg_processor *p)
{
    p->stretches = blames.stretches;
    if (p->clock > sg->rest_since)
        sg->rest_since = p->clock;
}

static void follow_regions(sg_processor *p, enum sg_regions_change change)
{
    (void)change;
    if (sg->lone == p)
        change_region(p);
}

/* ---- waits ---- */

static void charge(const sg_processor *p, enum sg_category category, enum sg_blamed cause, uint64_t cycles)
{
    place_of(p->account->rest.region)->waited[cause][category] += cycles;
    if (category != SG_CATEGORY_IDLE_NOT_STARTED && category != SG_CATEGORY_IDLE_SERIAL &&
        category != SG_CATEGORY_IDLE_FINISHED)
        site_place(p->site)->waited += cycles; /* the others are at no site */
}

static void cause(enum sg_blamed cause, uint32_t region, const void *site, uint64_t cycles)
{
    place_of(region)->caused[cause] += cycles;
    site_place(site)->caused[cause] += cycles;
}

/* Forks and locks delayed the last to arrive, compared with the one that waited `left` cycles. */
static void charge_late(const sg_processor *p, const sg_thread *t, enum sg_category category, uint64_t left)
{
    uint64_t fork = t->late[SG_BLAME_FORK_JOIN], lock = t->late[SG_BLAME_LOCK];
    if (fork + lock > left) { /* it had less other work */
        fork = (uint64_t)((unsigned __int128)left * fork / (fork + lock));
        lock = left - fork;
    }
    const uint64_t part[SG_BLAME_COUNT] = {[SG_BLAME_FORK_JOIN] = fork, [SG_BLAME_LOCK] = lock};
    for (enum sg_blamed k = SG_BLAME_FORK_JOIN; k <= SG_BLAME_LOCK; k++)
        if (part[k] != 0) {
            charge(p, category, k, part[k]);
            cause(k, t->path.region[k], t->path.site[k], part[k]);
        }
}

static void wait(sg_processor *p, const sg_thread *t, enum sg_category category, uint64_t cycles)
{
    uint64_t serial = blames.stretches - p->stretches;
    serial = serial < cycles ? serial : cycles;
    if (serial != 0) {
        charge(p, category, SG_BLAME_SERIAL, serial);
        blames.explained += serial;
    }
    uint64_t left = cycles - serial;
    if (t == NULL || left == 0)
        return;
    if (t->complete < p->clock) {
        uint64_t end = p->clock - t->complete;
        end = end < left ? end : left;
        charge(p, category, SG_BLAME_FORK_JOIN, end);
        cause(SG_BLAME_FORK_JOIN, p->account->rest.region, p->site, end);
        left -= end;
    }
    if (left != 0)
        charge_late(p, t, category, left);
}

/* ---- barriers, forks, locks ---- */

static void enter_runtime(bool inside)
{
    sg_processor *p = sg_now;
    p->thread->in_runtime = inside;
    if (inside && sg->lone != NULL)
        end_lone(p->clock);
    else if (!inside && sg->running == 1 && p->clock >= sg->rest_since)
        begin_lone(p);
}

static void release(sg_thread *t, bool last, uint64_t complete)
{
    const sg_path *mine = &sg_self()->path;
    for (enum sg_blamed k = SG_BLAME_FORK_JOIN; k <= SG_BLAME_LOCK; k++) {
        uint64_t more = mine->cycles[k] > t->path.cycles[k] ? mine->cycles[k] - t->path.cycles[k] : 0;
        t->late[k] = more;
        if (more != 0 || last) {
            t->path.cycles[k] = mine->cycles[k];
            t->path.region[k] = mine->region[k];
            t->path.site[k] = mine->site[k];
        }
    }
    t->complete = last ? complete : SG_NEVER;
}

static void add_to_path(sg_thread *t, enum sg_blamed k, uint64_t cycles)
{
    t->path.cycles[k] += cycles;
    t->path.region[k] = sg_region(sg_self());
    t->path.site[k] = sg_now->site;
}

static void start_member(sg_thread *t, uint64_t from, bool waits)
{
    t->path = sg_self()->path;
    add_to_path(t, SG_BLAME_FORK_JOIN, sg_now->clock - from);
    t->late[SG_BLAME_FORK_JOIN] = waits ? sg_now->clock - from : 0;
    t->late[SG_BLAME_LOCK] = 0;
    t->complete = SG_NEVER;
}

static void end_start(uint64_t from)
{
    site_place(sg_now->site)->region = sg_region(sg_self());
    add_to_path(sg_self(), SG_BLAME_FORK_JOIN, sg_now->clock - from);
}

static void take_lock(uint64_t from)
{
    add_to_path(sg_self(), SG_BLAME_LOCK, sg_now->clock - from);
}

/* ---- sampling: not within a stretch ---- */

static void report_sites(sg_cells *cells)
{
    uint32_t count = sg->sites_count;
    sg_site_count *others = blames.other_sites;
    sg_cells_add(cells, &blames.other_sites, &others->misses, sizeof *others, 2 * sizeof(uint64_t), count);
    sg_cells_add(cells, &blames.other_sites[1], &others->cycles, sizeof *others,
                 sizeof *others - offsetof(sg_site_count, cycles), count);
    sg_cells_add(cells, &blames.sites, blames.sites, sizeof *blames.sites, offsetof(place_in_code, region),
                 count);
}

static void report_cells(sg_cells *cells)
{
    sg_cells_add(cells, &blames.regions, blames.regions, sizeof *blames.regions, sizeof *blames.regions,
                 blames.regions_count);
    sg_cells_add(cells, &blames.block_parts, blames.block_parts, sizeof(uint64_t), sizeof(uint64_t),
                 sg->blocks_count);
    sg_cells_add(cells, &blames.alone, &blames.alone, 0, sizeof blames.alone, 1);
    sg_cells_add(cells, &blames.explained, &blames.explained, 0, sizeof blames.explained, 1);
    report_sites(cells);
}

/* ---- the end ---- */

static void add_executions(uint32_t processor, uint32_t number, uint64_t executions)
{
    blames.block_parts[number] += executions * sg_speed_of(processor)->blocks[number].parts;
}

/* Merges the lone processors' record of each site into that of all others. */
static void join_sites(void)
{
    for (uint32_t i = 0; i < sg->sites_count; i++) {
        sg_site_count *to = &sg->sites[i], *from = &blames.other_sites[i];
        to->address |= from->address;
        to->misses += from->misses;
        to->references += from->references;
        to->hook |= from->hook;
        for (int group = 0; group < SG_GROUP_COUNT; group++) {
            to->cycles[group] += from->cycles[group];
            blames.sites[i].alone += from->cycles[group];
        }
        to->remote += from->remote;
        to->upgrades += from->upgrades;
        to->invalidations += from->invalidations;
        for (int k = 0; k < SG_CAUSE_COUNT; k++)
            to->causes[k] += from->causes[k];
        *from = (sg_site_count){.address = 0};
    }
}

/* Distributes `total` in proportion to weights, one at a time: exactly, and each share to within one. */
typedef struct dealer {
    uint64_t total, dealt;
    unsigned __int128 weight, so_far;
} dealer;

static uint64_t deal(dealer *d, unsigned __int128 weight)
{
    d->so_far += weight;
    /* enough for 2^53 cycles and as many parts. */
    uint64_t due = d->so_far == d->weight ? d->total : (uint64_t)(d->total * d->so_far / d->weight);
    uint64_t part = due > d->dealt ? due - d->dealt : 0;
    d->dealt += part;
    return part;
}

static void deal_to_regions(void)
{
    dealer d = {.total = blames.explained, .weight = blames.alone};
    for (uint32_t i = 0; i < blames.regions_count; i++)
        blames.regions[i].caused[SG_BLAME_SERIAL] = deal(&d, blames.regions[i].alone);
}

/* What has no site is charged to site 0. */
static void deal_to_sites(void)
{
    dealer d = {.total = blames.explained, .weight = (unsigned __int128)blames.alone * SG_PARTS};
    unsigned __int128 known = 0;
    for (uint32_t i = 1; i < sg->blocks_count; i++)
        known += blames.block_parts[i];
    for (uint32_t i = 0; i < sg->sites_count; i++)
        known += (unsigned __int128)blames.sites[i].alone * SG_PARTS;
    if (known > d.weight) /* in parts of cycles */
        d.weight = known;
    for (uint32_t i = 1; i < sg->blocks_count; i++)
        blames.block_caused[i] = deal(&d, blames.block_parts[i]);
    for (uint32_t i = 1; i < sg->sites_count; i++)
        blames.sites[i].caused[SG_BLAME_SERIAL] =
            deal(&d, (unsigned __int128)blames.sites[i].alone * SG_PARTS);
    blames.sites[0].caused[SG_BLAME_SERIAL] = d.total - d.dealt;
}

static void settle(void)
{
    if (sg->lone != NULL)
        end_lone(sg->lone->clock);
    join_sites();
    deal_to_regions();
    deal_to_sites();
}

static void check(char *fault, size_t size)
{
    uint64_t waited[SG_BLAME_COUNT] = {0}, caused[SG_BLAME_COUNT] = {0}, in_code[SG_BLAME_COUNT] = {0};
    settle();
    for (uint32_t i = 0; i < blames.regions_count; i++)
        for (int k = 0; k < SG_BLAME_COUNT; k++) {
            caused[k] += blames.regions[i].caused[k];
            for (int category = 0; category < SG_CATEGORY_COUNT; category++)
                waited[k] += blames.regions[i].waited[k][category];
        }
    for (uint32_t i = 1; i < sg->blocks_count; i++)
        in_code[SG_BLAME_SERIAL] += blames.block_caused[i];
    for (uint32_t i = 0; i < sg->sites_count; i++)
        for (int k = 0; k < SG_BLAME_COUNT; k++)
            in_code[k] += blames.sites[i].caused[k];
    for (int k = 0; k < SG_BLAME_COUNT && fault[0] == 0; k++)
        if (waited[k] != caused[k] || waited[k] != in_code[k])
            snprintf(
                fault, size, "waiting of %llu cycles is charged to regions with %llu and to lines with %llu",
                (unsigned long long)waited[k], (unsigned long long)caused[k], (unsigned long long)in_code[k]);
}

static uint64_t put_regions(struct sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t region = 0; region < blames.regions_count; region++)
        for (uint32_t k = 0; k < SG_BLAME_COUNT; k++) {
            const place *at = &blames.regions[region];
            sg_blame record = {.region = region, .cause = k, .caused = at->caused[k]};
            uint64_t any = record.caused;
            for (int category = 0; category < SG_CATEGORY_COUNT; category++)
                any |= record.waited[category] = at->waited[k][category];
            if (any == 0)
                continue;
            sg_put(w, &record, sizeof record);
            count++;
        }
    return count;
}

static uint64_t put_sites(struct sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i < sg->blocks_count; i++) {
        sg_blamed_site record = {.address = sg->block_address[i]};
        if ((record.caused[SG_BLAME_SERIAL] = blames.block_caused[i]) == 0)
            continue;
        sg_put(w, &record, sizeof record);
        count++;
    }
    for (uint32_t i = 0; i < sg->sites_count; i++) {
        sg_blamed_site record = {.address = sg->sites[i].address,
                                 .waited = blames.sites[i].waited,
                                 .region = blames.sites[i].region};
        uint64_t any = record.waited | record.region;
        for (int k = 0; k < SG_BLAME_COUNT; k++)
            any |= record.caused[k] = blames.sites[i].caused[k];
        if (any == 0)
            continue;
        sg_put(w, &record, sizeof record);
        count++;
    }
    return count;
}

static const sg_result_part parts[] = {
    {SG_SECTION_BLAMES, sizeof(sg_blame), put_regions},
    {SG_SECTION_BLAMED_SITES, sizeof(sg_blamed_site), put_sites},
};

const sg_observer sg_observer_blame = {
    .name = "blame",
    .open = open_blame,
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .lone_begins = begin_lone,
    .lone_ends = end_lone,
    .rests = rest,
    .waited = wait,
    .regions = follow_regions,
    .runtime = enter_runtime,
    .releases = release,
    .member_starts = start_member,
    .team_started = end_start,
    .lock_taken = take_lock,
    .lone_executions = add_executions,
    .settles = settle,
    .cells = report_cells,
    .checks = check,
};

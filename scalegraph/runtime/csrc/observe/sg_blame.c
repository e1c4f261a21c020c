/* What processors wait for, and how it is distributed over the code that they wait for. */
#include "sg_blame.h"

#include <stdio.h>

/* By region. */
typedef struct place {
    uint64_t alone; /* cycles of lone processors */
    uint64_t caused[SG_BLAME_COUNT];
    uint64_t waited[SG_BLAME_COUNT][SG_LEAF_COUNT];
} place;

/* By site. */
typedef struct place_in_code {
    uint64_t alone; /* cycles of lone processors, apart from blocks */
    uint64_t waited;
    uint64_t caused[SG_BLAME_COUNT];
    uint32_t region; /* whose teams start here */
} place_in_code;

struct sg_blames {
    uint64_t alone;     /* cycles of lone processors, and those for which all others were waiting: */
    uint64_t stretches; /* less where a wait ended before the clock of the lone one */
    uint64_t explained; /* waiting in stretches, over all processors */
    uint64_t begin;     /* of the stretch */
    uint64_t mark;      /* up to here its cycles are in the regions */
    uint32_t region;    /* in which it goes on */
    place *regions;
    uint32_t regions_count;
    sg_site_count
        *other_sites; /* what lone processors do, while sg->sites is for all others; or the reverse */
    place_in_code *sites;
    uint64_t *block_parts;  /* of executions by lone processors */
    uint64_t *block_caused; /* shares of the waiting for serial code */
};

void sg_blame_open(void)
{
    struct sg_blames *b = sg->blame = sg_new(sizeof *b);
    size_t sites = (sg->text_high - sg->text_low + 1) / 5 + 2;
    b->other_sites = sg_reserve(sites * sizeof *b->other_sites);
    b->sites = sg_reserve(sites * sizeof *b->sites);
    b->block_parts = sg_reserve(sg->blocks_count * sizeof(uint64_t));
    b->block_caused = sg_reserve(sg->blocks_count * sizeof(uint64_t));
}

static place *place_of(uint32_t region)
{
    struct sg_blames *b = sg->blame;
    if (region >= b->regions_count) {
        uint32_t count = b->regions_count ? b->regions_count : 16;
        while (count <= region)
            count *= 2;
        b->regions = sg_larger(b->regions, b->regions_count * sizeof(place), count * sizeof(place));
        b->regions_count = count;
    }
    return &b->regions[region];
}

static place_in_code *site_place(const void *address)
{
    return &sg->blame->sites[sg_site_of(address) - sg->sites];
}

/* ---- stretches of serial code ---- */

static void exchange_sites(void)
{
    sg_site_count *sites = sg->sites;
    sg->sites = sg->blame->other_sites;
    sg->blame->other_sites = sites;
}

static void begin(sg_processor *p)
{
    struct sg_blames *b = sg->blame;
    sg->lone = p;
    sg->regions_watched = true;
    b->begin = b->mark = p->clock;
    b->region = p->account->rest.region;
    p->account->alone = true;
    exchange_sites();
    if (sg->whatif == NULL) /* which has its own use for this */
        p->block_of = sg->lone_index - sg->text_low;
}

void sg_blame_lone(sg_processor *p)
{
    sg->lone_due = false;
    if (sg->lone != NULL || p->thread == NULL || p->thread->in_runtime || sg->lock_waiters != 0)
        return;
    if (p->clock >= sg->rest_since)
        begin(p);
    else
        sg->lone_due = true;
}

void sg_blame_region(const sg_processor *p)
{
    struct sg_blames *b = sg->blame;
    place_of(b->region)->alone += p->clock - b->mark;
    b->mark = p->clock;
    b->region = p->account->rest.region;
    p->account->alone = true;
}

void sg_blame_end(uint64_t when)
{
    struct sg_blames *b = sg->blame;
    sg_processor *p = sg->lone;
    if (p == NULL)
        return;
    sg_blame_region(p);
    b->alone += p->clock - b->begin;
    when = when < p->clock ? when : p->clock;
    b->stretches += when > b->begin ? when - b->begin : 0;
    if (sg->whatif == NULL)
        p->block_of = sg->block_index - sg->text_low;
    exchange_sites();
    sg->lone = NULL;
    sg->regions_watched = sg->whatif != NULL || sg->trace != NULL;
}

void sg_blame_rests(sg_processor *p)
{
    p->stretches = sg->blame->stretches;
    if (p->clock > sg->rest_since)
        sg->rest_since = p->clock;
}

/* ---- waits ---- */

static void charge(const sg_processor *p, enum sg_leaf leaf, enum sg_blamed cause, uint64_t cycles)
{
    place_of(p->account->rest.region)->waited[cause][leaf] += cycles;
    if (leaf != SG_LEAF_IDLE_NOT_STARTED && leaf != SG_LEAF_IDLE_SERIAL && leaf != SG_LEAF_IDLE_FINISHED)
        site_place(p->site)->waited += cycles; /* the others are at no site */
}

static void cause(enum sg_blamed cause, uint32_t region, const void *site, uint64_t cycles)
{
    place_of(region)->caused[cause] += cycles;
    site_place(site)->caused[cause] += cycles;
}

/* Forks and locks held up the one that came last, against the one that waited `left` cycles more. */
static void charge_late(const sg_processor *p, const sg_thread *t, enum sg_leaf leaf, uint64_t left)
{
    uint64_t fork = t->late[SG_BLAME_FORK_JOIN], lock = t->late[SG_BLAME_LOCK];
    if (fork + lock > left) { /* because it had less to do otherwise */
        fork = (uint64_t)((unsigned __int128)left * fork / (fork + lock));
        lock = left - fork;
    }
    const uint64_t part[SG_BLAME_COUNT] = {[SG_BLAME_FORK_JOIN] = fork, [SG_BLAME_LOCK] = lock};
    for (enum sg_blamed k = SG_BLAME_FORK_JOIN; k <= SG_BLAME_LOCK; k++)
        if (part[k] != 0) {
            charge(p, leaf, k, part[k]);
            cause(k, t->path.region[k], t->path.site[k], part[k]);
        }
}

void sg_blame_wait(const sg_processor *p, const sg_thread *t, enum sg_leaf leaf, uint64_t cycles)
{
    struct sg_blames *b = sg->blame;
    uint64_t serial = b->stretches - p->stretches;
    serial = serial < cycles ? serial : cycles;
    if (serial != 0) {
        charge(p, leaf, SG_BLAME_SERIAL, serial);
        b->explained += serial;
    }
    uint64_t left = cycles - serial;
    if (t == NULL || left == 0)
        return;
    if (t->complete < p->clock) {
        uint64_t end = p->clock - t->complete;
        end = end < left ? end : left;
        charge(p, leaf, SG_BLAME_FORK_JOIN, end);
        cause(SG_BLAME_FORK_JOIN, p->account->rest.region, p->site, end);
        left -= end;
    }
    if (left != 0)
        charge_late(p, t, leaf, left);
}

/* ---- barriers, forks, locks ---- */

void sg_blame_runtime(bool inside)
{
    sg_processor *p = sg_now;
    p->thread->in_runtime = inside;
    if (inside && sg->lone != NULL)
        sg_blame_end(p->clock);
    else if (!inside && sg->running == 1 && p->clock >= sg->rest_since)
        sg_blame_lone(p);
}

void sg_blame_release(sg_thread *t, bool last, uint64_t complete)
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

void sg_blame_start(sg_thread *t, uint64_t from, bool waits)
{
    t->path = sg_self()->path;
    add_to_path(t, SG_BLAME_FORK_JOIN, sg_now->clock - from);
    t->late[SG_BLAME_FORK_JOIN] = waits ? sg_now->clock - from : 0;
    t->late[SG_BLAME_LOCK] = 0;
    t->complete = SG_NEVER;
}

void sg_blame_started(uint64_t from)
{
    site_place(sg_now->site)->region = sg_region(sg_self());
    add_to_path(sg_self(), SG_BLAME_FORK_JOIN, sg_now->clock - from);
}

void sg_blame_locked(uint64_t from)
{
    add_to_path(sg_self(), SG_BLAME_LOCK, sg_now->clock - from);
}

/* ---- the end ---- */

void sg_blame_executions(uint32_t number, uint64_t executions)
{
    sg->blame->block_parts[number] += executions * sg->blocks[number].parts;
}

/* Moves what lone processors did at sites to what all others did there. */
static void join_sites(void)
{
    struct sg_blames *b = sg->blame;
    for (uint32_t i = 0; i < sg->sites_count; i++) {
        sg_site_count *to = &sg->sites[i], *from = &b->other_sites[i];
        to->address |= from->address;
        to->misses += from->misses;
        to->references += from->references;
        to->hook |= from->hook;
        for (int group = 0; group < SG_GROUP_COUNT; group++) {
            to->cycles[group] += from->cycles[group];
            b->sites[i].alone += from->cycles[group];
        }
        to->remote += from->remote;
        to->upgrades += from->upgrades;
        to->invalidations += from->invalidations;
        for (int k = 0; k < SG_CAUSE_COUNT; k++)
            to->causes[k] += from->causes[k];
        *from = (sg_site_count){.address = 0};
    }
}

/* Distributes `total` in proportion to weights, one after the other: exactly, and each part to within one. */
typedef struct dealer {
    uint64_t total, dealt;
    unsigned __int128 weight, so_far;
} dealer;

static uint64_t deal(dealer *d, unsigned __int128 weight)
{
    d->so_far += weight;
    /* 2^53 cycles by as many parts of cycles fit. */
    uint64_t due = d->so_far == d->weight ? d->total : (uint64_t)(d->total * d->so_far / d->weight);
    uint64_t part = due > d->dealt ? due - d->dealt : 0;
    d->dealt += part;
    return part;
}

static void deal_to_regions(void)
{
    struct sg_blames *b = sg->blame;
    dealer d = {.total = b->explained, .weight = b->alone};
    for (uint32_t i = 0; i < b->regions_count; i++)
        b->regions[i].caused[SG_BLAME_SERIAL] = deal(&d, b->regions[i].alone);
}

/* What has no site is charged to number 0. */
static void deal_to_sites(void)
{
    struct sg_blames *b = sg->blame;
    dealer d = {.total = b->explained, .weight = (unsigned __int128)b->alone * SG_PARTS};
    unsigned __int128 known = 0;
    for (uint32_t i = 1; i < sg->blocks_count; i++)
        known += b->block_parts[i];
    for (uint32_t i = 0; i < sg->sites_count; i++)
        known += (unsigned __int128)b->sites[i].alone * SG_PARTS;
    if (known > d.weight) /* by parts of cycles */
        d.weight = known;
    for (uint32_t i = 1; i < sg->blocks_count; i++)
        b->block_caused[i] = deal(&d, b->block_parts[i]);
    for (uint32_t i = 1; i < sg->sites_count; i++)
        b->sites[i].caused[SG_BLAME_SERIAL] = deal(&d, (unsigned __int128)b->sites[i].alone * SG_PARTS);
    b->sites[0].caused[SG_BLAME_SERIAL] = d.total - d.dealt;
}

void sg_blame_settle(void)
{
    if (sg->lone != NULL)
        sg_blame_end(sg->lone->clock);
    join_sites();
    deal_to_regions();
    deal_to_sites();
}

void sg_blame_check(char *fault, size_t size)
{
    struct sg_blames *b = sg->blame;
    uint64_t waited[SG_BLAME_COUNT] = {0}, caused[SG_BLAME_COUNT] = {0}, in_code[SG_BLAME_COUNT] = {0};
    sg_blame_settle();
    for (uint32_t i = 0; i < b->regions_count; i++)
        for (int k = 0; k < SG_BLAME_COUNT; k++) {
            caused[k] += b->regions[i].caused[k];
            for (int leaf = 0; leaf < SG_LEAF_COUNT; leaf++)
                waited[k] += b->regions[i].waited[k][leaf];
        }
    for (uint32_t i = 1; i < sg->blocks_count; i++)
        in_code[SG_BLAME_SERIAL] += b->block_caused[i];
    for (uint32_t i = 0; i < sg->sites_count; i++)
        for (int k = 0; k < SG_BLAME_COUNT; k++)
            in_code[k] += b->sites[i].caused[k];
    for (int k = 0; k < SG_BLAME_COUNT && fault[0] == 0; k++)
        if (waited[k] != caused[k] || waited[k] != in_code[k])
            snprintf(
                fault, size, "waiting of %llu cycles is charged to regions with %llu and to lines with %llu",
                (unsigned long long)waited[k], (unsigned long long)caused[k], (unsigned long long)in_code[k]);
}

uint64_t sg_blame_put(struct sg_writer *w)
{
    const struct sg_blames *b = sg->blame;
    uint64_t count = 0;
    for (uint32_t region = 0; region < b->regions_count; region++)
        for (uint32_t k = 0; k < SG_BLAME_COUNT; k++) {
            const place *at = &b->regions[region];
            sg_blame record = {.region = region, .cause = k, .caused = at->caused[k]};
            uint64_t any = record.caused;
            for (int leaf = 0; leaf < SG_LEAF_COUNT; leaf++)
                any |= record.waited[leaf] = at->waited[k][leaf];
            if (any == 0)
                continue;
            sg_put(w, &record, sizeof record);
            count++;
        }
    return count;
}

uint64_t sg_blamed_site_put(struct sg_writer *w)
{
    const struct sg_blames *b = sg->blame;
    uint64_t count = 0;
    for (uint32_t i = 1; i < sg->blocks_count; i++) {
        sg_blamed_site record = {.address = sg->block_address[i]};
        if ((record.caused[SG_BLAME_SERIAL] = b->block_caused[i]) == 0)
            continue;
        sg_put(w, &record, sizeof record);
        count++;
    }
    for (uint32_t i = 0; i < sg->sites_count; i++) {
        sg_blamed_site record = {
            .address = sg->sites[i].address, .waited = b->sites[i].waited, .region = b->sites[i].region};
        uint64_t any = record.waited | record.region;
        for (int k = 0; k < SG_BLAME_COUNT; k++)
            any |= record.caused[k] = b->sites[i].caused[k];
        if (any == 0)
            continue;
        sg_put(w, &record, sizeof record);
        count++;
    }
    return count;
}

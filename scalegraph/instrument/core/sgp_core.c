/* Executes one round of a loop on a processor: the model described in instrument/pipeline.py, which packs the
 * steps and unpacks the results. It is in C because a program has some million steps; sums are formed in
 * instruction order, so that results are bitwise identical on every computer. */
#include <stdlib.h>
#include <string.h>

#include "sgp_core.h"

/* ---- units ---- */

/* When work of `cost` cycles that is ready at `ready` begins. */
static double take(core *c, unit *u, double ready, double cost)
{
    int64_t cycle = (int64_t)ready > u->full ? (int64_t)ready : u->full;
    while (cycle < u->room && u->used[cycle] > 1 - EPSILON)
        cycle++;
    double begin = larger(ready, (double)cycle);
    while (cost > EPSILON) {
        if (!HOLD(c, u->used, u->room, cycle + 1))
            return begin;
        double left = 1 - u->used[cycle], part = cost < left ? cost : left;
        u->used[cycle] = 1 - left + part;
        cost -= part;
        cycle++;
    }
    while (u->full < u->room && u->used[u->full] > 1 - EPSILON)
        u->full++;
    return begin;
}

static double take_class(core *c, int64_t class, double ready, double cost)
{
    return take(c, &c->units[class == c->p->root_class ? c->p->divide_class : class], ready, cost);
}

/* ---- a step ---- */

/* Closes the current fetch group, unless none of it has been issued yet. */
static void end_group(core *c)
{
    if (c->jumped)
        return;
    c->follows = c->group + c->p->taken;
    c->jumped = true;
}

static void push_waiting(core *c, double begun)
{
    if (!HOLD(c, c->waiting, c->waiting_room, c->in_scheduler + 1))
        return;
    int64_t i = c->in_scheduler++;
    for (; i > 0 && c->waiting[(i - 1) / 2] > begun; i = (i - 1) / 2)
        c->waiting[i] = c->waiting[(i - 1) / 2];
    c->waiting[i] = begun;
}

static double pop_waiting(core *c)
{
    double least = c->waiting[0], last = c->waiting[--c->in_scheduler];
    int64_t i = 0, count = c->in_scheduler;
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child + 1 < count && c->waiting[child + 1] < c->waiting[child])
            child++;
        if (child >= count || c->waiting[child] >= last)
            break;
        c->waiting[i] = c->waiting[child];
        i = child;
    }
    c->waiting[i] = last;
    return least;
}

/* Effect of a step on branch prediction: calls and returns, taken jumps, jumps into libraries. For a call to
 * an unknown library function the return is part of the step. */
static void predict(core *c, const step *s)
{
    const sgp_processor *p = c->p;
    bool far = s->of->flags & FAR, taken = s->of->flags & TAKEN;
    if (far)
        c->predicted += p->far;
    for (int64_t i = 0; i < s->of->works; i++) {
        if (s->works[i] == p->call_class)
            c->predicted += p->costs[p->call_class] * (far ? 2 : 1);
        else if (taken && !far && s->works[i] == p->branch_class)
            c->predicted += p->taken;
    }
}

/* Issues the next instruction: when it is its turn and there is room for it. */
static void issue(core *c, double slots)
{
    c->issued = larger(c->issued + slots * c->p->slot, c->follows);
    if (c->jumped && c->p->far > 0)
        c->issued = larger(c->issued, c->predicted);
    if (c->in_window >= c->p->window) {
        c->issued = larger(c->issued, c->under_way[c->first]);
        c->first = (c->first + 1) % (c->p->window + 1);
        c->in_window--;
    }
    while (c->in_scheduler > 0 && c->waiting[0] <= c->issued)
        pop_waiting(c);
    if (c->in_scheduler >= c->p->scheduler)
        c->issued = larger(c->issued, pop_waiting(c));
    if (c->jumped) {
        c->group = c->issued;
        c->jumped = false;
    }
}

/* Performs operations one after the other; the first begins at `*first`. */
static double work(core *c, const step *s, double ready, double *first)
{
    double begin = ready;
    *first = ready;
    for (int64_t i = 0; i < s->of->works; i++) {
        int64_t class = s->works[i];
        double at = take_class(c, class, begin, c->p->costs[class]);
        if (c->p->mixed > 0 && (c->p->mixed_classes >> class & 1))
            at = larger(at, take(c, &c->both, at, c->p->mixed));
        if (i == 0)
            *first = at;
        begin = at + c->p->latencies[class];
    }
    return begin;
}

static void write_registers(core *c, const step *s, double done)
{
    const head *h = s->of;
    value source = h->flags & COPIES ? sgp_value(c, h->copy_from) : (value){0, 0};
    for (int64_t i = 0; i < h->writes; i++) {
        c->written[s->writes[i]] = true;
        c->ready[s->writes[i]] = done;
        c->known[s->writes[i]] = false;
    }
    if (h->flags & COPIES) {
        c->values[h->copy_to] =
            (value){source.number, (int64_t)((uint64_t)source.more + (uint64_t)h->copy_more)};
        c->known[h->copy_to] = true;
    }
    for (int64_t i = 0; i < h->clobbers; i++) {
        c->written[s->clobbers[i]] = true;
        c->ready[s->clobbers[i]] = done;
        c->known[s->clobbers[i]] = false;
    }
}

/* When a load can get its value from an earlier store to the same place; 0 if there is none. */
static double forwarded(const core *c, const head *h, const key *place)
{
    const stored *s = sgp_stored(c, *place);
    return s == NULL ? 0.0 : s->time + (h->flags & IS_VECTOR ? c->p->forward_fp : c->p->forward);
}

static void execute(core *c, const step *s)
{
    const head *h = s->of;
    const sgp_processor *p = c->p;
    if (h->line != c->line) {
        if (!c->jumped)
            c->predicted += p->taken;
        end_group(c);
        c->line = h->line;
    }
    if (h->slots > 0)
        issue(c, h->slots);
    if (h->flags & STATUS)
        c->issued += p->status;
    double ready = c->issued;
    for (int64_t i = 0; i < h->reads; i++)
        ready = larger(ready, c->ready[s->reads[i]]);
    key at_place;
    const key *place = NULL;
    if (h->flags & HAS_PLACE) {
        at_place = sgp_place(c, h);
        place = &at_place;
    }
    double begun = ready;
    if (place != NULL && (h->flags & (LOADS | STORES))) {
        double at = larger(larger(c->issued, c->ready[h->base]), c->ready[h->index]);
        if (h->flags & LOADS) {
            at = take_class(c, p->load_class, at, p->costs[p->load_class]);
            begun = at;
            at = larger(at + p->load, forwarded(c, h, place));
        }
        ready = larger(ready, at);
    }
    if ((h->flags & SELECTS) && p->selecting > 0)
        ready = take_class(c, p->branch_class, ready, p->selecting);
    if ((h->flags & COMPARES) && p->comparing > 0)
        ready = take_class(c, p->branch_class, ready, p->comparing);
    double first;
    c->done = work(c, s, ready, &first);
    double done = c->done;
    if (h->slots > 0 && !(h->flags & LOADS))
        begun = first;
    if ((h->flags & STORES) && place != NULL) {
        take_class(c, p->store_class, done, p->costs[p->store_class]);
        stored *kept = sgp_store(c, *place);
        if (kept != NULL)
            kept->time = done;
    }
    if (c->follows_loads)
        sgp_follow(c, s, place);
    write_registers(c, s, done);
    if (h->slots > 0) {
        push_waiting(c, begun);
        c->retired = larger(c->retired, done);
        c->under_way[(c->first + c->in_window++) % (p->window + 1)] = c->retired;
    }
    predict(c, s);
    if (h->flags & TAKEN)
        end_group(c);
}

/* Enters a function: its arguments have long been ready, and are the same as in its previous call. So a store
 * in one call and a load in the next through the same pointer are known to access the same place. */
static void enter(core *c)
{
    memset(c->ready, 0, sizeof c->ready);
    memset(c->known, 0, sizeof c->known);
    memset(c->written, 0, sizeof c->written);
    for (int i = 0; i < REGISTERS; i++)
        c->from[i].count = 0;
}

/* ---- the whole ---- */

static void unpack(const int64_t *words, step *steps, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const head *h = (const head *)words;
        step *s = &steps[i];
        s->of = h;
        s->reads = words + sizeof *h / sizeof *words;
        s->writes = s->reads + h->reads;
        s->clobbers = s->writes + h->writes;
        s->works = s->clobbers + h->clobbers;
        s->sites = s->works + h->works;
        words = s->sites + h->sites;
    }
}

/* The returned numbers: each list preceded by its length. */
typedef struct sgp_result {
    double *numbers;
    int64_t count, room;
} sgp_result;

static void give(core *c, sgp_result *r, double number)
{
    if (!HOLD(c, r->numbers, r->room, r->count + 1))
        return;
    r->numbers[r->count++] = number;
}

static void give_origins(core *c, sgp_result *r, const origin *at, int count)
{
    give(c, r, count);
    for (int i = 0; i < count; i++) {
        give(c, r, (double)at[i].site);
        give(c, r, at[i].cycles);
    }
}

static void run(core *c, const step *steps, const int64_t *lengths, int64_t bodies, int64_t rounds,
                bool enters, double *taken, double *early, merge *branches)
{
    for (int64_t number = 0; number < 2 * rounds && !c->lacks_memory; number++) {
        c->follows_loads = number >= 2 * rounds - 2; /* enough for what one round passes to the next */
        if (enters)
            enter(c);
        const step *s = steps;
        for (int64_t i = 0; i < bodies; i++) {
            double before = c->retired;
            for (const step *end = s + lengths[i]; s < end; s++)
                execute(c, s);
            if (lengths[i] > 0 && c->follows_loads) {
                branches[i] = sgp_merged(c, s[-1].reads, s[-1].of->reads);
                early[i] = c->retired - c->done;
            }
            if (number >= rounds)
                taken[i] += c->retired - before;
        }
    }
}

static void report(core *c, sgp_result *r, int64_t bodies, const double *taken, const double *early,
                   const merge *branches)
{
    for (int64_t i = 0; i < bodies; i++) {
        give(c, r, taken[i]);
        give(c, r, early[i]);
        give_origins(c, r, branches[i].at, branches[i].count);
    }
    for (int64_t i = 0; i < c->sites_count; i++) {
        const found *f = &c->sites[i];
        give(c, r, (double)f->site);
        give(c, r, f->recurs);
        give(c, r, f->cycles);
        give(c, r, f->has_address);
        give_origins(c, r, f->address.at, f->address.count);
    }
}

/* Executes `bodies` of packed steps `rounds` times to fill the window and as often again; returns 0, or -1 if
 * the host is out of memory. */
int sgp_execute(const sgp_processor *processor, const int64_t *words, const int64_t *lengths, int64_t bodies,
                int64_t rounds, int enters, sgp_result *result)
{
    int64_t count = 0;
    for (int64_t i = 0; i < bodies; i++)
        count += lengths[i];
    core *c = calloc(1, sizeof *c);
    step *steps = calloc((size_t)count + 1, sizeof *steps);
    double *sums = calloc(2 * (size_t)bodies + 1, sizeof *sums);
    merge *branches = calloc((size_t)bodies + 1, sizeof *branches);
    double *under_way = calloc((size_t)processor->window + 1, sizeof *under_way);
    *result = (sgp_result){0};
    bool lacks = c == NULL || steps == NULL || sums == NULL || branches == NULL || under_way == NULL;
    if (!lacks) {
        c->p = processor;
        c->jumped = true;
        c->under_way = under_way;
        unpack(words, steps, count);
        run(c, steps, lengths, bodies, rounds, enters != 0, sums, sums + bodies, branches);
        report(c, result, bodies, sums, sums + bodies, branches);
        lacks = c->lacks_memory;
        for (int i = 0; i < CLASSES; i++)
            free(c->units[i].used);
        free(c->both.used);
        free(c->memory);
        free(c->sites);
        free(c->waiting);
    }
    free(c);
    free(steps);
    free(sums);
    free(branches);
    free(under_way);
    return lacks ? -1 : 0;
}

void sgp_free(sgp_result *result)
{
    free(result->numbers);
}

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

static void push_waiting(core *c, queue *q, double begun)
{
    if (!HOLD(c, q->at, q->room, q->count + 1))
        return;
    int64_t i = q->count++;
    for (; i > 0 && q->at[(i - 1) / 2] > begun; i = (i - 1) / 2)
        q->at[i] = q->at[(i - 1) / 2];
    q->at[i] = begun;
}

static double pop_waiting(queue *q)
{
    double least = q->at[0], last = q->at[--q->count];
    int64_t i = 0, count = q->count;
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child + 1 < count && q->at[child + 1] < q->at[child])
            child++;
        if (child >= count || q->at[child] >= last)
            break;
        q->at[i] = q->at[child];
        i = child;
    }
    q->at[i] = last;
    return least;
}

/* When the next operation that comes at `at` has room in a scheduler of `size`. */
static double has_room(queue *q, int64_t size, double at)
{
    while (q->count > 0 && q->at[0] <= at)
        pop_waiting(q);
    return q->count >= size ? larger(at, pop_waiting(q)) : at;
}

/* Whether a step waits in the scheduler of floating-point operations. */
static bool is_fp(const core *c, const step *s)
{
    return c->p->fp_scheduler > 0 && s->of->works > 0 && (c->p->fp_classes >> s->works[0] & 1);
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

/* Issues the next instruction: when it is its turn and there is room for it. A floating-point operation that
 * finds its own scheduler full holds up those of its kind only: it waits before it. */
static void issue(core *c, double slots, bool fp)
{
    c->issued = larger(c->issued + slots * c->p->slot, c->follows);
    if (c->jumped && c->p->far > 0)
        c->issued = larger(c->issued, c->predicted);
    if (c->in_window >= c->p->window) {
        c->issued = larger(c->issued, c->under_way[c->first]);
        c->first = (c->first + 1) % (c->p->window + 1);
        c->in_window--;
    }
    if (fp)
        c->fp_entered = has_room(&c->fp_waiting, c->p->fp_scheduler, larger(c->issued, c->fp_entered));
    else
        c->issued = has_room(&c->waiting, c->p->scheduler, c->issued);
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
    if (s->of->works > 0 && s->works[s->of->works - 1] == c->p->add_class)
        begin += c->p->add_on;
    return begin;
}

/* Whether what a step writes comes from an addition, by moves between registers, too. */
static bool is_sum(const core *c, const step *s)
{
    if (s->of->works > 0)
        return s->works[s->of->works - 1] == c->p->add_class;
    return s->of->reads == 1 && c->added[s->reads[0]];
}

static void write_registers(core *c, const step *s, double done)
{
    const head *h = s->of;
    bool adds = is_sum(c, s);
    value source = h->flags & COPIES ? sgp_value(c, h->copy_from) : (value){0, 0};
    for (int64_t i = 0; i < h->writes; i++) {
        c->written[s->writes[i]] = true;
        c->ready[s->writes[i]] = done;
        c->added[s->writes[i]] = adds;
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
        c->added[s->clobbers[i]] = false;
        c->known[s->clobbers[i]] = false;
    }
}

/* When a load can get its value from an earlier store to the same place; 0 if there is none. */
static double forwarded(const core *c, const head *h, const key *place)
{
    const stored *s = sgp_stored(c, *place);
    return s == NULL ? 0.0 : s->time + (h->flags & IS_VECTOR ? c->p->forward_fp : c->p->forward);
}

/* When all registers that a step reads are there; an addition has the result of another one sooner than
 * operations of other units do. */
static double operands_of(const core *c, const step *s, double ready)
{
    const head *h = s->of;
    bool adds = h->works > 0 && s->works[0] == c->p->add_class && !(h->flags & COMPARES);
    for (int64_t i = 0; i < h->reads; i++) {
        double sooner = adds && c->added[s->reads[i]] ? c->p->add_on : 0;
        ready = larger(ready, c->ready[s->reads[i]] - sooner);
    }
    return ready;
}

static void execute(core *c, const step *s)
{
    const head *h = s->of;
    const sgp_processor *p = c->p;
    if (h->line != c->line) {
        if (!c->jumped)
            c->predicted += p->line;
        end_group(c);
        c->line = h->line;
    }
    const bool fp = is_fp(c, s);
    if (h->slots > 0)
        issue(c, h->slots, fp);
    if (h->flags & STATUS)
        c->issued += p->status;
    double ready = operands_of(c, s, fp && h->slots > 0 ? c->fp_entered : c->issued);
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
        push_waiting(c, fp ? &c->fp_waiting : &c->waiting, fp ? first : begun);
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
    memset(c->added, 0, sizeof c->added);
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
                sgp_merge(c, s[-1].reads, s[-1].of->reads, &branches[i]);
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
        free(c->waiting.at);
        free(c->fp_waiting.at);
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

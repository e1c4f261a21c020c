/* Sampling: of a phase that the program repeats, some visits are simulated and the others run without
 * simulation (skimmed: core/sg_skim.c). docs/SIMULATOR.md, "Sampling", says what is estimated and how
 * well.
 *
 * A phase runs from one boundary to the next: a boundary is where the outermost team starts, where all its
 * members have reached a barrier, or where it ends. A phase is identified by the boundary at which it
 * starts. A sampling cycle: a skimmed stretch; one that warms up the caches until a boundary recurs; a
 * measured one, likewise. What a measured visit adds to all counts of the run is added again for the
 * skimmed visits, an integer number of times, in proportion to the work of their basic blocks: one half of
 * a skimmed stretch by the visit measured before it, the other half by the one after it. So the parts of
 * all accounts still add up.
 *
 * The clocks do not include what is skipped: sg->skipped is added to them when the program reads them and
 * in the result. Time that primitives add to them in a skimmed stretch is taken back. */
#include <math.h>
#include <stdio.h>

#include "sg_array.h"
#include "sg_cells.h"
#include "sg_observers.h"
#include "sg_sample_cost.h"
#include "sg_sample_long.h"
#include "sg_skim.h"
#include "sg_table.h"

enum {
    LEAST = 4,          /* measured visits of a phase before others are skipped */
    FIRST_SKIPPED = 10, /* periods in the first skimmed stretch; each is this much longer */
    MOST_SKIPPED = 40,  /* than the previous one, up to this: a twentieth is then simulated */
    GROWTH = 4,         /* growth factor while the confidence interval is narrow */
    MOST_IN_VAIN = 256, /* measured visits in a row without a phase to skip: give up */
    MOST_BEHIND = 64,   /* visits of a measured stretch that waits for a phase of the skimmed one */
    MOST_PHASES = 4096,
};

/* Stretches grow faster while half the confidence interval of the time, including the next stretch, is at
 * most this fraction of the time; the 95 % interval takes this many standard errors with few samples. */
#define NARROW 0.01
#define REACH  2.4

enum mode { WAITING, WARMING, MEASURING, SKIMMING, GIVEN_UP };

/* Skipped visits, and their work. */
typedef struct skipped {
    uint64_t visits, work;
} skipped;

typedef struct phase {
    sg_sampled_phase record;
    uint32_t stretch;     /* of its last visit */
    uint64_t boundary;    /* at which that visit began */
    uint32_t last_sample; /* + 1 */
    sg_sample_cost by_work, by_visit;
    skipped now, behind; /* in this stretch; covered by the next sample */
    double whole;        /* time of all visits so far, by the measured mean */
    double squares;      /* of the visits covered by each sample */
    double due;          /* visits or work not yet covered by copies, as a fraction of the last sample */
    bool known;          /* may its visits be skipped? `difference` is that of its last sample only then, */
    sg_difference difference; /* or if skipped visits are covered by the sample */
} phase;

static struct {
    enum mode mode;
    sg_table number; /* of a phase, + 1, by its place */
    phase *phases;
    uint32_t count, phases_room;
    sg_sample *samples;
    uint32_t samples_count, samples_room;
    uint32_t current;    /* phase, + 1; 0: before the first boundary */
    uint32_t stretch;    /* number of the stretch */
    uint64_t boundaries; /* so far */
    uint64_t visits;     /* of the stretch */
    uint64_t quota;      /* visits in a skimmed stretch */
    uint32_t periods;    /* in a skimmed stretch */
    uint32_t in_vain;
    double whole;   /* of all phases together */
    bool marked;    /* a snapshot of the counts was taken at the start of this visit */
    uint64_t begin; /* clock at that time, and at the start of the skimmed stretch */
    sg_cost totals; /* of all processors, at that time; and their work */
    uint64_t work;
} sampling = {.mode = WAITING};

static bool takes_part(void)
{
    bool unasked = !(sg->config.collect & SG_COLLECT_SAMPLES);
    if (unasked && !(sg->config.collect & SG_COLLECT_LONG))
        return false;
    sampling.mode = unasked ? WAITING : WARMING;
    if (sg->config.ranks > 0 || sg->lockstep || sg->config.scale_path[0] != 0 ||
        sg->config.trace_file[0] != 0 || sg_observed.filter != NULL) {
        if (!unasked)
            sg_warn("the run is not sampled: programs that pass messages, traces, classes of misses and "
                    "virtual speedups need the whole run");
        return false;
    }
    return true;
}

/* ---- clocks ---- */

/* The first charge of `p` once its thread continues: it is waiting. */
static uint64_t *waiting_of(sg_processor *p)
{
    const sg_thread *t = p->thread != NULL ? p->thread : p->last;
    if (p->thread != NULL)
        return &p->account->rest.categories[SG_CATEGORY_IDLE_BARRIER];
    if (t == NULL || t->state != SG_BLOCKED || t->processor != p)
        return &sg_account_of(p, 0)
                    ->rest.categories[p->worked ? SG_CATEGORY_IDLE_SERIAL : SG_CATEGORY_IDLE_NOT_STARTED];
    enum sg_category category = t->wait_category;
    if (category == SG_CATEGORY_IDLE_NOT_STARTED)
        category = SG_CATEGORY_IDLE_SERIAL;
    return &sg_account_of(p, sg_region(t))->rest.categories[category];
}

/* Brings the accounts of all processors to the clock `when`, or back (`sign` -1). */
static void level(uint64_t when, int sign)
{
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        *waiting_of(p) += (uint64_t)sign * (when - p->clock);
    }
}

/* ---- cost of a visit ---- */

static void add_cost(sg_cost *sum, const sg_cost *one)
{
    for (int i = 0; i < SG_CATEGORY_COUNT; i++)
        sum->categories[i] += one->categories[i];
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        sum->counters[i] += one->counters[i];
}

/* Returns the parts of cycles that blocks have cost so far. */
static uint64_t totals(sg_cost *sum)
{
    uint64_t work = 0;
    *sum = (sg_cost){.processor = 0};
    for (uint32_t i = 0; i < sg->processors; i++)
        for (uint32_t region = 0; region < sg->processor[i].accounts_size; region++) {
            const sg_account *a = sg->processor[i].accounts[region];
            sg_cost one;
            if (a == NULL)
                continue;
            sg_account_total(a, &one);
            add_cost(sum, &one);
            work += a->busy[0] + a->busy[1] + a->busy[2] + a->busy[3];
        }
    return work;
}

/* Makes the current counts the start of a visit. */
static void mark(void)
{
    sampling.begin = sg_latest();
    level(sampling.begin, 1);
    sg_cells_copy();
    sampling.work = totals(&sampling.totals);
    level(sampling.begin, -1);
    sampling.marked = true;
}

/* Estimates the time of all visits of `p` so far; called after a new visit or measurement. */
static void weigh(phase *p)
{
    uint64_t n = p->record.measured;
    double now = n > 0 ? p->by_visit.sum / (double)n * (double)p->record.visits : 0;
    sampling.whole += now - p->whole;
    p->whole = now;
}

/* The fraction of the time spent in visits of `p`. */
static double part_of(const phase *p)
{
    return sampling.whole > 0 ? p->whole / sampling.whole : 1;
}

/* Does a visit's work predict its time better than the mean visit does? */
static bool goes_by_work(const phase *p)
{
    return sg_sample_spread(&p->by_work, p->record.measured) <
           sg_sample_spread(&p->by_visit, p->record.measured);
}

/* Adds the last sample of `p` for skipped visits. */
static void stand_for(phase *p, skipped what)
{
    sg_sample *sample = &sampling.samples[p->last_sample - 1];
    double stood = (double)sample->skipped, stands = stood + (double)what.visits;
    p->squares += stands * stands - stood * stood;
    sample->skipped += what.visits;
    sample->skipped_work += what.work;
    p->due += goes_by_work(p) ? (double)what.work / (double)(sample->work + SG_PARTS) : (double)what.visits;
    double times = floor(p->due + 0.5);
    if (times <= 0)
        return;
    p->due -= times;
    sample->copies += (uint64_t)times;
    sg_cells_multiply(&p->difference, (uint64_t)times);
    sg->skipped += (int64_t)(sample->cycles * (uint64_t)times);
}

/* The better predictor of the time of a visit of `p`. */
static const sg_sample_cost *best_of(const phase *p)
{
    return goes_by_work(p) ? &p->by_work : &p->by_visit;
}

/* A measured visit of `p` ends here: takes its sample. A new snapshot of the counts exists. */
static void take_sample(phase *p, const sg_cost *before, uint64_t work, uint64_t begin)
{
    SG_ARRAY_HOLD(sampling.samples, sampling.samples_room, sampling.samples_count, 64);
    sg_sample *sample = &sampling.samples[sampling.samples_count++];
    const sg_cost *now = &sampling.totals;
    *sample = (sg_sample){.phase = (uint32_t)(p - sampling.phases),
                          .work = sampling.work - work,
                          .cycles = sampling.begin - begin};
    for (int i = 0; i < SG_CATEGORY_COUNT; i++)
        sample->categories[i] = now->categories[i] - before->categories[i];
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        sample->counters[i] = now->counters[i] - before->counters[i];
    uint64_t n = p->record.measured++;
    sg_sample_add(&p->by_work, (double)sample->cycles / (double)(sample->work + SG_PARTS), n);
    sg_sample_add(&p->by_visit, (double)sample->cycles, n);
    p->last_sample = sampling.samples_count;
    weigh(p);
    p->known = n + 1 >= LEAST && sg_sample_steady(best_of(p), n + 1, part_of(p));
    if (p->known || p->behind.visits > 0)
        sg_cells_differ(&p->difference);
}

/* Is the confidence interval still narrow after a stretch with `periods` more? Estimated as in
 * link/sampled.py from the samples so far: the samples before and after the stretch cover half of it each. */
static bool stays_narrow(uint32_t periods)
{
    double squares = 0, time = 0;
    for (uint32_t i = 0; i < sampling.count; i++) {
        const phase *p = &sampling.phases[i];
        uint64_t n = p->record.measured;
        double visits = p->stretch == sampling.stretch ? periods : 0;
        if (n < LEAST)
            continue;
        double each = p->by_visit.sum / (double)n, differs = sg_sample_variance(best_of(p), n);
        squares += differs * each * each * (p->squares + visits * visits / 2 + visits);
        time += each * ((double)p->record.visits + visits);
    }
    return REACH * sqrt(squares) <= NARROW * time;
}

/* ---- stretches ---- */

static void begin_stretch(enum mode mode)
{
    sampling.mode = mode;
    sampling.stretch++;
    sampling.visits = 0;
}

/* No memory references, and inlined code is skipped: meanwhile the filter serves everything. */
static bool answer(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
{
    (void)p, (void)address, (void)size, (void)kind, (void)site;
    return true;
}

static const sg_observer skimmer = {.name = "skimming", .filter = answer};

static void give_up(void)
{
    sampling.mode = GIVEN_UP, sampling.marked = false;
}

static void begin_skimming(uint64_t period)
{
    if (!sg_skim_can() || !sg_skim(true)) {
        sg_warn(
            "the run is not sampled: the hooks of the program are not in its code (gcc for x86-64 puts them "
            "there, unless SCALEGRAPH_INLINE is 0)");
        give_up();
        return;
    }
    sg->config.ideal |= SG_SKIMMING;
    sg_observer_register(&skimmer);
    if (sampling.periods > 0 && stays_narrow(GROWTH * sampling.periods))
        sampling.periods *= GROWTH;
    else if (sampling.periods < MOST_SKIPPED)
        sampling.periods += FIRST_SKIPPED;
    else
        sampling.periods = MOST_SKIPPED;
    sampling.quota = sampling.periods * period;
    begin_stretch(SKIMMING);
    sampling.marked = false;
}

/* Restores the state at the start of the stretch, then adds what the stretch would have cost. */
static void end_skimming(void)
{
    sg_skim(false);
    sg->config.ideal &= ~(uint32_t)SG_SKIMMING;
    sg_observer_withdraw(&skimmer);
    sg_cells_restore();
    uint64_t now = sg_latest();
    level(now, -1);
    sg->skipped -= (int64_t)(now - sampling.begin);
    for (uint32_t i = 0; i < sampling.count; i++) {
        phase *p = &sampling.phases[i];
        skipped before = {p->now.visits / 2, p->now.work / 2};
        if (p->now.visits == 0)
            continue;
        p->record.skipped += p->now.visits;
        p->behind.visits += p->now.visits - before.visits;
        p->behind.work += p->now.work - before.work;
        p->now = (skipped){0, 0};
        stand_for(p, before);
    }
}

/* `p` has a new sample: it covers the second half of what was skipped before. */
static void catch_up(phase *p)
{
    skipped behind = p->behind;
    p->behind = (skipped){0, 0};
    if (behind.visits == 0)
        return;
    stand_for(p, behind);
    mark();
}

/* ---- boundaries ---- */

static phase *phase_at(uint64_t place)
{
    sg_table_entry *entry = sg_table_make(&sampling.number, place, 64);
    if (entry->number == 0) {
        SG_ARRAY_HOLD(sampling.phases, sampling.phases_room, sampling.count, 16);
        sampling.phases[sampling.count].record.address = place >> 2;
        sampling.phases[sampling.count].record.kind = place & 3;
        entry->number = ++sampling.count;
    }
    return &sampling.phases[entry->number - 1];
}

/* The simulated visit ends. */
static void end_simulated(phase *p)
{
    if (!sampling.marked)
        return;
    sg_cost before = sampling.totals;
    uint64_t work = sampling.work, begin = sampling.begin;
    mark();
    take_sample(p, &before, work, begin);
    catch_up(p);
}

/* Are all phases of the measured stretch known, and has it samples of those that were skipped? */
static bool is_complete(void)
{
    bool complete = true;
    for (uint32_t i = 0; i < sampling.count; i++) {
        const phase *p = &sampling.phases[i];
        if (p->stretch == sampling.stretch && !p->known)
            return false;
        complete &= p->behind.visits == 0;
    }
    return complete || sampling.visits >= MOST_BEHIND;
}

/* Decides what to do with the visit that begins with `next`, a phase new in this stretch or recurring
 * (`recurs`). */
static void choose(const phase *next, bool recurs)
{
    if (sampling.mode == SKIMMING) {
        if (next->known && sampling.visits < sampling.quota)
            return;
        end_skimming();
        begin_stretch(WARMING);
    } else if (recurs && sampling.mode == WARMING) {
        begin_stretch(MEASURING);
    } else if (recurs && sampling.mode == MEASURING) {
        if (is_complete()) {
            if (!sampling.marked)
                mark();
            sampling.in_vain = 0;
            begin_skimming(sampling.boundaries - next->boundary);
            return;
        }
        if (++sampling.in_vain == MOST_IN_VAIN)
            give_up();
    }
}

static void come_to(uint64_t place)
{
    if (sampling.mode == GIVEN_UP || sampling.count == MOST_PHASES)
        return;
    if (sampling.mode == WAITING && !sg_sample_long())
        return;
    sampling.mode = sampling.mode == WAITING ? WARMING : sampling.mode;
    if (sg->lone != NULL)
        sg_observe_lone_ends(sg_now->clock);
    phase *next = phase_at(place),
          *last = sampling.current > 0 ? &sampling.phases[sampling.current - 1] : NULL;
    if (last != NULL && sampling.mode == SKIMMING) {
        last->now.visits++;
        last->now.work += sg_skim_work();
    } else if (last != NULL) {
        end_simulated(last);
    }
    bool recurs = next->stretch == sampling.stretch && next->record.visits > 0;
    choose(next, recurs);
    sampling.current = (uint32_t)(next - sampling.phases) + 1;
    sampling.visits++;
    next->stretch = sampling.stretch;
    next->boundary = sampling.boundaries++;
    next->record.visits++;
    weigh(next);
    bool rare = next->record.visits > 2 && !next->known;
    bool measured = sampling.mode == MEASURING || (sampling.mode == WARMING && rare);
    if (measured && !sampling.marked)
        mark();
    sampling.marked = measured;
}

/* ---- the end ---- */

static void close_samples(void)
{
    if (sg->lone != NULL)
        sg_observe_lone_ends(sg_now->clock);
    if (sampling.mode == SKIMMING) {
        phase *last = &sampling.phases[sampling.current - 1];
        last->now.visits++;
        last->now.work += sg_skim_work();
        end_skimming();
    }
    for (uint32_t i = 0; i < sampling.count; i++) {
        phase *p = &sampling.phases[i];
        if (p->behind.visits > 0)
            stand_for(p, p->behind);
        p->behind = (skipped){0, 0};
    }
    sampling.mode = GIVEN_UP;
}

/* Waiting is estimated per processor and may come out negative, if the processor was late in a sample but not
 * in other visits. Sets it to zero and reduces the processor's largest category instead. */
static void mend(sg_processor *p)
{
    uint64_t *most = NULL;
    for (uint32_t region = 0; region < p->accounts_size; region++)
        for (int i = 0; p->accounts[region] != NULL && i < SG_CATEGORY_COUNT; i++) {
            uint64_t *one = &p->accounts[region]->rest.categories[i];
            if (most == NULL || (int64_t)*one > (int64_t)*most)
                most = one;
        }
    for (uint32_t region = 0; region < p->accounts_size; region++)
        for (int i = 0; p->accounts[region] != NULL && i < SG_CATEGORY_COUNT; i++) {
            uint64_t *one = &p->accounts[region]->rest.categories[i];
            if ((int64_t)*one < 0) {
                *most += *one;
                *one = 0;
            }
        }
}

static void end(uint64_t clock)
{
    (void)clock;
    for (uint32_t i = 0; i < sg->processors && sg->skipped != 0; i++)
        mend(&sg->processor[i]);
}

static uint64_t put_phases(struct sg_writer *w)
{
    for (uint32_t i = 0; i < sampling.count; i++)
        sg_put(w, &sampling.phases[i].record, sizeof sampling.phases[i].record);
    return sampling.count;
}

static uint64_t put_samples(struct sg_writer *w)
{
    sg_put(w, sampling.samples, sampling.samples_count * sizeof *sampling.samples);
    return sampling.samples_count;
}

static const sg_result_part parts[] = {
    {SG_SECTION_SAMPLED_PHASES, sizeof(sg_sampled_phase), put_phases},
    {SG_SECTION_SAMPLES, sizeof(sg_sample), put_samples},
};

const sg_observer sg_observer_sample = {
    .name = "samples",
    .takes_part = takes_part,
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .phase = come_to,
    .closes = close_samples,
    .ends = end,
};

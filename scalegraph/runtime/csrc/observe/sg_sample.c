/* Sampling: of a phase that the program repeats, some visits are simulated and the others run without
 * simulation (skimmed: core/sg_skim.c). docs/SIMULATOR_DETAILS.md, "Sampling", says what is estimated and how
 * well.
 *
 * A phase runs from one boundary to the next: a boundary is where the outermost team starts, where all its
 * members have reached a barrier, or where it ends. A sampling cycle: a skimmed stretch; one that warms up
 * the caches until a boundary recurs; a measured one, likewise. A phase whose visits are not known to be
 * alike is simulated in the skimmed stretch, too, between visits that are skipped.
 *
 * What a measured visit adds to all counts of the run is added again for the skimmed visits, an integer
 * number of times, in proportion to the work of their basic blocks: one half of a skimmed stretch by the
 * visit measured before it, the other half by the one after it. So the parts of all accounts still add up.
 *
 * The clocks do not include what is skipped: sg->skipped is added to them when the program reads them and in
 * the result. The program's clocks also include sg->expected: visits that no measured visit covers yet. Time
 * that primitives add to them in a skimmed stretch is taken back. */
#include <stdio.h>

#include "sg_sample_long.h"
#include "sg_sample_phase.h"
#include "sg_skim.h"

enum {
    FIRST_SKIPPED = 10,  /* periods in the first skimmed stretch; each is this much longer */
    MOST_SKIPPED = 40,   /* than the previous one, up to this: a twentieth is then simulated */
    GROWTH = 4,          /* growth factor while the confidence interval is narrow, */
    LONGEST = 8,         /* up to this part of all visits so far: what changes later is seen soon */
    MOST_IN_VAIN = 8192, /* measured visits in a row without phases to skip: then wait */
    MOST_BEHIND = 64,    /* visits of a measured stretch that waits for a phase of the skimmed one */
};

/* Nothing is skipped unless phases with this fraction of the time of those that recur can be. */
#define WORTH 0.2

/* Waiting for the run to become long; ..; simulating a visit amid a skimmed stretch. */
enum mode { WAITING, WARMING, MEASURING, SKIMMING, ALONE, GIVEN_UP };

static struct {
    enum mode mode;
    uint32_t current;    /* phase, + 1; 0: before the first boundary */
    uint32_t stretch;    /* number of the stretch */
    uint64_t boundaries; /* so far */
    uint64_t visits;     /* of the stretch */
    uint64_t quota;      /* visits in a skimmed stretch */
    uint32_t periods;    /* in a skimmed stretch */
    uint32_t in_vain;
    uint64_t left;   /* of that, when a visit with other work ended the stretch */
    uint32_t random; /* last number */
    uint64_t cut;    /* work of the part of this visit that was skipped; 0: none was */
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

/* ---- skimming ---- */

/* No memory references, and inlined code is skipped: meanwhile the filter serves everything. */
static bool answer(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
{
    (void)p, (void)address, (void)size, (void)kind, (void)site;
    return true;
}

/* Work of library functions counts, too. */
static bool add_library(uint64_t cycles)
{
    if (sampling.mode == SKIMMING && sg_skim_library(cycles * SG_PARTS))
        return true;
    sg_sampled.library += cycles * SG_PARTS;
    return false;
}

static void simulate_rest(void);
static const sg_observer skimmer = {
    .name = "skimming", .filter = answer, .ahead = sg_skim_since, .exceeds = simulate_rest};

/* Starts skimming, from the counts that were marked. False: that is impossible. */
static bool skim(void)
{
    sg_cells_complete();
    if (!sg_skim_can() || !sg_skim(true)) {
        sg_warn(
            "the run is not sampled: the hooks of the program are not in its code (gcc for x86-64 puts them "
            "there, unless SCALEGRAPH_INLINE is 0)");
        sampling.mode = GIVEN_UP;
        return false;
    }
    sg->config.ideal |= SG_SKIMMING;
    sg_observer_register(&skimmer);
    sampling.mode = SKIMMING;
    return true;
}

/* Restores the state at which skimming began. What the skipped visits would have cost is added at the end of
 * the stretch; clocks that the program reads include it already. */
static void end_skimming(void)
{
    sg_skim(false);
    sg->config.ideal &= ~(uint32_t)SG_SKIMMING;
    sg_observer_withdraw(&skimmer);
    sg_cells_restore();
    uint64_t now = sg_latest();
    sg_phase_level(now, -1);
    sg->skipped -= (int64_t)(now - sg_sampled.begin);
}

/* The skipped visits of a stretch: the first half is covered by the samples before it, the rest by those
 * after it. */
static void count_skipped(void)
{
    bool any = false;
    for (uint32_t i = 0; i < sg_sampled.count; i++) {
        sg_phase *p = &sg_sampled.phase[i];
        sg_left_out before = {p->now.visits / 2, p->now.work / 2, p->now.usual / 2};
        if (p->now.visits == 0)
            continue;
        any = true;
        p->behind.visits += p->now.visits - before.visits;
        p->behind.work += p->now.work - before.work;
        p->behind.usual += p->now.usual - before.usual;
        p->now = (sg_left_out){0, 0, 0};
        sg_phase_stand_for(p, before);
        sg_phase_expect(p);
    }
    sg->expected = sg_sampled.expected;
    if (any)
        sg_phase_mark();
}

/* ---- stretches ---- */

static void begin_stretch(enum mode mode)
{
    if (sampling.left == 0) /* if not, the skipped stretch goes on */
        count_skipped();
    sampling.mode = mode;
    sampling.stretch++;
    sampling.visits = 0;
}

/* Up to a quarter more, at random but the same in each run: a stretch must not keep step with a loop around
 * it, or all samples would be of the same turn. */
static uint64_t varied(uint32_t periods)
{
    sampling.random = sampling.random * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
    return periods + ((uint64_t)sampling.random * (periods / 4 + 1) >> 32);
}

static void begin_skimming(uint64_t period)
{
    if (!skim())
        return;
    uint32_t most = GROWTH * (sampling.periods > 0 ? sampling.periods : FIRST_SKIPPED);
    uint64_t longest = sampling.boundaries / LONGEST / period;
    if (most > longest && most > MOST_SKIPPED)
        most = longest > MOST_SKIPPED ? (uint32_t)longest : MOST_SKIPPED;
    if (sg_phase_stays_narrow(sampling.stretch, most))
        sampling.periods = most;
    else if (sampling.periods < MOST_SKIPPED)
        sampling.periods += FIRST_SKIPPED;
    else
        sampling.periods = MOST_SKIPPED;
    sampling.quota = varied(sampling.periods) * period;
    sampling.in_vain = 0;
    begin_stretch(SKIMMING);
}

/* `next` recurs: are all phases since its last visit known or refused, is it worth while to skip the known
 * ones, and has the stretch samples of those that were skipped? */
static bool is_complete(const sg_phase *next)
{
    bool complete = true;
    double known = 0, round = 0;
    for (uint32_t i = 0; i < sg_sampled.count; i++) {
        const sg_phase *p = &sg_sampled.phase[i];
        bool recurs = p->stretch == sampling.stretch && p->boundary >= next->boundary;
        if (recurs && p->record.measured < SG_LEAST)
            return false;
        complete &= p->behind.visits == 0;
        round += recurs ? p->whole : 0;
        known += recurs && p->known ? p->whole : 0;
    }
    return (complete || sampling.visits >= MOST_BEHIND) && known >= WORTH * round;
}

/* Is this visit of a phase as long as the mean visit of all, or longer? */
static bool matters(uint64_t cycles)
{
    return (double)cycles * (double)sampling.boundaries >= sg_sampled.whole;
}

/* A visit of `p` amid a skimmed stretch has ended: a phase that is new and matters ends the stretch. */
static void end_alone(sg_phase *p)
{
    if (sampling.cut > 0) {
        p->unlike = p->record.visits;
        sg_phase_cut(p);
        sg_phase_end(p, SG_SAMPLE_UNLIKE);
        sg_sampled.last_work += sampling.cut;
        sampling.cut = 0;
        sampling.left = sampling.quota > sampling.visits ? sampling.quota - sampling.visits : 0;
        begin_stretch(WARMING); /* the caches hold what was there when skipping began */
        return;
    }
    uint64_t cycles = sg_phase_end(p, SG_SAMPLE_ALONE);
    if (p->record.why == SG_SAMPLES_FEW && matters(cycles))
        begin_stretch(WARMING);
}

/* In a skimmed stretch: is the visit that begins with `next` skipped, simulated, or does the stretch end? */
static void go_on(const sg_phase *next)
{
    bool skips = (next->known || next->stale) && sampling.visits < sampling.quota;
    if (skips && sampling.mode == ALONE)
        skim();
    if (skips || sampling.mode == GIVEN_UP)
        return;
    if (sampling.mode == SKIMMING) {
        end_skimming();
        sg_phase_mark();
    }
    sampling.mode = ALONE;
    if (sampling.visits >= sampling.quota)
        begin_stretch(WARMING);
}

static void wait_for_more(void)
{
    sampling.mode = WAITING;
    sampling.current = sampling.in_vain = 0;
    sg_sample_later();
}

/* Decides what to do with the visit that begins with `next`, a phase new in this stretch or recurring
 * (`recurs`). */
static void choose(const sg_phase *next, bool recurs)
{
    if (sampling.mode == SKIMMING || sampling.mode == ALONE) {
        go_on(next);
    } else if (recurs && sampling.mode == WARMING && sampling.left > 0) {
        begin_stretch(ALONE);
        sampling.quota = sampling.left;
        sampling.left = 0;
        go_on(next);
    } else if (recurs && sampling.mode == WARMING) {
        begin_stretch(MEASURING);
    } else if (recurs && sampling.mode == MEASURING) {
        if (is_complete(next))
            begin_skimming(sampling.boundaries - next->boundary);
        else if (++sampling.in_vain == MOST_IN_VAIN)
            wait_for_more();
    }
}

/* ---- boundaries ---- */

static void end_skipped(sg_phase *p)
{
    uint64_t work = sg_sampled.last_work = sg_phase_unspun(p, sg_skim_work());
    if (sg_phase_is_empty(p, work)) {
        p->record.skipped++;
        return;
    }
    sg_phase_skipped(p, work);
    sg_phase_expect(p);
    sg->expected = sg_sampled.expected;
}

/* A skipped visit has more work than the samples tell of: its beginning counts as one, the rest is simulated.
 */
static void simulate_rest(void)
{
    if (sg->lone != NULL)
        sg_observe_lone_ends(sg_now->clock);
    uint64_t work = sg_skim_work();
    sg_phase_skipped(&sg_sampled.phase[sampling.current - 1], work);
    sampling.cut = work + 1; /* it may be 0 before a library function */
    end_skimming();
    sg_phase_mark();
    sampling.mode = ALONE;
}

static void end_visit(sg_phase *p)
{
    if (sampling.mode == SKIMMING) {
        end_skipped(p);
    } else if (sampling.mode == ALONE) {
        end_alone(p);
    } else {
        bool rare = p->record.visits > 2 && !p->known;
        sg_phase_end(p, sampling.mode == MEASURING || rare ? SG_SAMPLE_STANDS : SG_SAMPLE_WARMS);
    }
}

/* The run has become long: its caches are warm. */
static void begin(void)
{
    begin_stretch(MEASURING);
    sg_phase_forget();
    sg_phase_mark();
}

static void come_to(uint64_t place)
{
    if (sampling.mode == GIVEN_UP || (sampling.mode == WAITING && !sg_sample_long()))
        return;
    if (sg->lone != NULL)
        sg_observe_lone_ends(sg_now->clock);
    if (sampling.mode == WAITING)
        begin();
    sg_phase *last = sampling.current > 0 ? &sg_sampled.phase[sampling.current - 1] : NULL;
    if (last != NULL)
        end_visit(last);
    else if (!sg_sampled.marked)
        sg_phase_mark();
    sg_sampled.passes = sg_skim_passes();
    sg_phase *next = sg_phase_at(place);
    if (next == NULL) {
        if (sampling.mode == SKIMMING)
            end_skimming();
        sampling.mode = GIVEN_UP;
        return;
    }
    choose(next, next->stretch == sampling.stretch && next->record.visits > 0);
    if (sampling.mode == MEASURING || !next->known)
        sg_cells_complete(); /* this visit may be a sample */
    sampling.visits++;
    next->stretch = sampling.stretch;
    next->boundary = sampling.boundaries++;
    next->record.visits++;
    sg_phase_weigh(next);
    if (sampling.mode == SKIMMING)
        sg_phase_skip(next);
    if (sampling.mode == WAITING || sampling.mode == GIVEN_UP)
        sampling.current = 0;
    else
        sampling.current = (uint32_t)(next - sg_sampled.phase) + 1;
}

/* ---- the end ---- */

static void close_samples(void)
{
    bool began = sg_sampled.count > 0; /* if not, nothing is observed otherwise than without sampling */
    if (began && sg->lone != NULL)
        sg_observe_lone_ends(sg_now->clock);
    if (sampling.mode == SKIMMING) {
        end_skipped(&sg_sampled.phase[sampling.current - 1]);
        end_skimming();
    }
    count_skipped();
    for (uint32_t i = 0; i < sg_sampled.count; i++) {
        sg_phase *p = &sg_sampled.phase[i];
        if (p->behind.visits > 0)
            sg_phase_stand_for(p, p->behind);
        p->behind = (sg_left_out){0, 0, 0};
    }
    sg->expected = 0;
    sampling.mode = GIVEN_UP;
}

/* The largest category of `p` in one account, or the smallest one. */
static uint64_t *extreme(const sg_processor *p, bool smallest)
{
    uint64_t *found = NULL;
    for (uint32_t region = 0; region < p->accounts_size; region++)
        for (int i = 0; p->accounts[region] != NULL && i < SG_CATEGORY_COUNT; i++) {
            uint64_t *one = &p->accounts[region]->rest.categories[i];
            if (found == NULL || ((int64_t)*one < (int64_t)*found) == smallest)
                found = one;
        }
    return found;
}

/* Waiting is estimated per processor and may come out negative, if the processor was late in a sample but not
 * in other visits. Sets it to zero and reduces the processor's largest categories instead. */
static void mend(const sg_processor *p)
{
    for (;;) {
        uint64_t *least = extreme(p, true), *most = extreme(p, false);
        if (least == NULL || (int64_t)*least >= 0 || (int64_t)*most <= 0)
            return;
        uint64_t lacks = -*least, taken = lacks < *most ? lacks : *most;
        *least += taken;
        *most -= taken;
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
    for (uint32_t i = 0; i < sg_sampled.count; i++)
        sg_put(w, &sg_sampled.phase[i].record, sizeof sg_sampled.phase[i].record);
    return sg_sampled.count;
}

static uint64_t put_samples(struct sg_writer *w)
{
    sg_put(w, sg_sampled.samples, sg_sampled.samples_count * sizeof *sg_sampled.samples);
    return sg_sampled.samples_count;
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
    .library = add_library,
};

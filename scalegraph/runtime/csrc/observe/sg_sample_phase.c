/* Phases of a sampled run, see sg_sample_phase.h. */
#include "sg_sample_phase.h"

#include <math.h>

#include "sg_array.h"
#include "sg_inline.h"
#include "sg_skim.h"

/* Stretches grow faster while half the confidence interval of the time, including the next stretch, is at
 * most this fraction of the time; the 95 % interval takes this many standard errors with few samples. */
#define NARROW 0.01
#define REACH  2.4
/* Visits that are simulated alone are like others if they cost at most this fraction more or less on average.
 */
#define MOST_OTHERWISE 0.25
/* A skipped visit may have this many times the work of any sample, besides 256 cycles: what it does beyond is
 * simulated, since no sample tells what that costs. */
#define MOST_WORK  2
#define LEAST_WORK (256 * SG_PARTS)
/* A phase is refused if one of so many skipped visits is not skipped to its end. */
#define MOST_CUT 4
/* Work predicts the time if the time of visits varies by more than this fraction, and the time for each unit
 * of work by less than this part of that. */
#define LEAST_SPREAD 0.01
#define PREDICTS     0.7
/* Work of one round of a loop in which a thread waits. */
#define SPINNING (64 * SG_PARTS)
/* Little work: 16,384 cycles of all processors together. */
#define SMALL (1ull << 24)

sg_phases sg_sampled = {.count = 0};
static sg_table number = {0}; /* of a phase, + 1 */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15ull;
    return a ^ a >> 29;
}

/* The power of four; little work, as between two boundaries next to each other, does not matter. */
static uint64_t size_of(uint64_t work)
{
    return work < SMALL ? 0 : (uint64_t)(63 - __builtin_clzll(work)) / 2;
}

void sg_phase_forget(void)
{
    sg_sampled.before[0] = sg_sampled.before[1] = 0;
}

sg_phase *sg_phase_at(uint64_t place)
{
    uint64_t *before = sg_sampled.before;
    if (before[0] != 0) /* now its work is known */
        before[0] = mix(before[0], size_of(sg_sampled.last_work));
    uint64_t key = mix(mix(place, before[0]), before[1]);
    before[1] = before[0];
    before[0] = place;
    sg_table_entry *entry = sg_table_make(&number, key, 64);
    if (entry->number == 0) {
        if (sg_sampled.count == SG_MOST_PHASES)
            return NULL;
        SG_ARRAY_HOLD(sg_sampled.phase, sg_sampled.room, sg_sampled.count, 16);
        sg_sampled.phase[sg_sampled.count].record.address = place >> 2;
        sg_sampled.phase[sg_sampled.count].record.kind = place & 3;
        sg_sampled.phase[sg_sampled.count].record.why = SG_SAMPLES_FEW;
        entry->number = ++sg_sampled.count;
    }
    return &sg_sampled.phase[entry->number - 1];
}

/* ---- clocks ---- */

/* The account and the category of the first charge of `p` once its thread continues: it is waiting. */
static sg_account *waiting_in(sg_processor *p, enum sg_category *category)
{
    const sg_thread *t = p->thread != NULL ? p->thread : p->last;
    *category = SG_CATEGORY_IDLE_BARRIER;
    if (p->thread != NULL)
        return p->account;
    bool blocked = t != NULL && t->state == SG_BLOCKED && t->processor == p;
    *category = blocked ? t->wait_category : SG_CATEGORY_IDLE_NOT_STARTED;
    if (*category == SG_CATEGORY_IDLE_NOT_STARTED && (blocked || p->worked))
        *category = SG_CATEGORY_IDLE_SERIAL;
    return sg_account_of(p, blocked ? sg_region(t) : 0);
}

void sg_phase_level(uint64_t when, int sign)
{
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        enum sg_category category;
        sg_account *a = waiting_in(p, &category);
        a->rest.categories[category] += (uint64_t)sign * (when - p->clock);
        sg_account_change(a, SG_SUMS_CHANGED);
    }
}

/* ---- cost of a visit ---- */

/* Work so far, measured as in skipped visits (sg_skim_work): without branches. The accounts are settled. */
static uint64_t work_so_far(void)
{
    uint64_t work = sg_sampled.library;
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        work += sg->blocks[i].executions * sg->speed[0].blocks[i].parts;
    return work;
}

void sg_phase_mark(void)
{
    sg_sampled.begin = sg_latest();
    sg_phase_level(sg_sampled.begin, 1);
    sg_cells_copy(&sg_sampled.totals);
    sg_sampled.work = work_so_far();
    sg_phase_level(sg_sampled.begin, -1);
    sg_sampled.marked = true;
}

void sg_phase_weigh(sg_phase *p)
{
    uint64_t n = p->record.measured;
    double now = n > 0 ? p->by_visit.sum / (double)n * (double)p->record.visits : 0;
    sg_sampled.whole += now - p->whole;
    p->whole = now;
}

/* The fraction of the time spent in visits of `p`. */
static double part_of(const sg_phase *p)
{
    return sg_sampled.whole > 0 ? p->whole / sg_sampled.whole : 1;
}

/* Does a visit's work predict its time better than the mean visit does? */
static bool goes_by_work(const sg_phase *p)
{
    double each = sg_sample_spread(&p->by_visit, p->record.measured);
    return each > LEAST_SPREAD && sg_sample_spread(&p->by_work, p->record.measured) < PREDICTS * each;
}

/* Can a sample with this work stand for other visits by their work? What a visit with little of it costs is
 * mostly not due to it, so that it must not be multiplied. */
static bool is_typical(const sg_phase *p, uint64_t work)
{
    return work >= p->works / p->record.measured / 2;
}

/* The last sample of `p`, if any, stands for other visits by their work. */
static bool multiplies_work(const sg_phase *p)
{
    return goes_by_work(p) && is_typical(p, sg_sampled.samples[p->last_sample - 1].work);
}

/* The last sample of `p` for `what`: as a number of visits. */
static double copies_for(const sg_phase *p, const sg_left_out *what)
{
    const sg_sample *sample = &sg_sampled.samples[p->last_sample - 1];
    return multiplies_work(p) ? (double)what->usual / (double)(sample->work + SG_PARTS)
                              : (double)what->visits;
}

/* The largest work of visits that the samples of `p` stand for. */
static uint64_t usual_work(const sg_phase *p)
{
    return multiplies_work(p) || !goes_by_work(p) ? p->most_work
                                                  : sg_sampled.samples[p->last_sample - 1].work;
}

/* The work that a visit like the samples may have. */
static uint64_t most_work(uint64_t usual)
{
    return MOST_WORK * usual + LEAST_WORK;
}

/* Has this visit so much work, unlike the one before, that it is no sample of others? */
static bool is_unlike(sg_phase *p, uint64_t work)
{
    if (p->record.measured < SG_LEAST || work <= most_work(p->most_work))
        return false;
    uint64_t last = p->unlike;
    p->unlike = p->record.visits;
    return last + 1 != p->unlike;
}

/* Passes since the last visit ended. */
static uint64_t passes_now(void)
{
    return sg_skim_passes() - sg_sampled.passes;
}

uint64_t sg_phase_unspun(const sg_phase *p, uint64_t work)
{
    uint64_t usual = sg_sampled.samples[p->last_sample - 1].work, passes = passes_now();
    bool spun = passes < p->passes && work < usual && usual - work <= (p->passes - passes) * SPINNING;
    return spun && !goes_by_work(p) ? usual : work;
}

void sg_phase_skip(const sg_phase *p)
{
    const sg_sample *sample = &sg_sampled.samples[p->last_sample - 1];
    sg_skim_visit(sg_sampled.begin, (double)sample->cycles / (double)(sample->work + SG_PARTS),
                  most_work(usual_work(p)));
}

void sg_phase_skipped(sg_phase *p, uint64_t work)
{
    uint64_t usual = MOST_WORK * usual_work(p) + SG_PARTS;
    p->record.skipped++;
    p->now.visits++;
    p->now.work += work;
    p->now.usual += work < usual ? work : usual;
}

void sg_phase_cut(sg_phase *p)
{
    p->cuts++;
    if (p->cuts < 2 || p->record.skipped > MOST_CUT * p->cuts)
        return;
    p->refused = true;
    p->known = p->stale = false;
    p->record.why = SG_SAMPLES_DIFFER;
}

void sg_phase_expect(sg_phase *p)
{
    if (p->last_sample == 0)
        return;
    double copies = p->due + copies_for(p, &p->now) + copies_for(p, &p->behind);
    int64_t expected = (int64_t)(copies * (double)sg_sampled.samples[p->last_sample - 1].cycles);
    sg_sampled.expected += expected - p->expected;
    p->expected = expected;
}

void sg_phase_stand_for(sg_phase *p, sg_left_out what)
{
    sg_sample *sample = &sg_sampled.samples[p->last_sample - 1];
    double stood = (double)sample->skipped, stands = stood + (double)what.visits;
    p->squares += stands * stands - stood * stood;
    sample->skipped += what.visits;
    sample->skipped_work += what.work;
    p->due += copies_for(p, &what);
    double times = floor(p->due + 0.5);
    if (times <= 0)
        return;
    p->due -= times;
    sample->copies += (uint64_t)times;
    sg_cells_multiply(&p->difference, (uint64_t)times);
    sg->skipped += (int64_t)(sample->cycles * (uint64_t)times);
}

/* The better predictor of the time of a visit of `p`. */
static const sg_sample_cost *best_of(const sg_phase *p)
{
    return goes_by_work(p) ? &p->by_work : &p->by_visit;
}

bool sg_phase_is_empty(const sg_phase *p, uint64_t work)
{
    return work < SMALL && sg_sampled.samples[p->last_sample - 1].work > 16 * SMALL;
}

/* Adds the record of a visit that ends now. */
static sg_sample *new_sample(const sg_phase *p, enum sg_sample_how how, const sg_cost *before, uint64_t work,
                             uint64_t begin)
{
    SG_ARRAY_HOLD(sg_sampled.samples, sg_sampled.samples_room, sg_sampled.samples_count, 64);
    sg_sample *sample = &sg_sampled.samples[sg_sampled.samples_count++];
    const sg_cost *now = &sg_sampled.totals;
    *sample = (sg_sample){.phase = (uint32_t)(p - sg_sampled.phase),
                          .how = how,
                          .visit = p->record.visits,
                          .simulated = p->record.visits - p->record.skipped,
                          .work = sg_sampled.work - work,
                          .cycles = sg_sampled.begin - begin};
    for (int i = 0; i < SG_CATEGORY_COUNT; i++)
        sample->categories[i] = now->categories[i] - before->categories[i];
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        sample->counters[i] = now->counters[i] - before->counters[i];
    return sample;
}

/* `sample` stands for visits that are skipped from now on, or were since the previous one. */
static void use_sample(sg_phase *p, const sg_sample *sample)
{
    uint64_t n = p->record.measured++;
    sg_sample_add(&p->by_work, (double)sample->cycles / (double)(sample->work + SG_PARTS), n);
    sg_sample_add(&p->by_visit, (double)sample->cycles, n);
    p->works += sample->work;
    if (sample->work > p->most_work)
        p->most_work = sample->work;
    sg_phase_weigh(p);
    if (!p->refused)
        p->record.why = n + 1 < SG_LEAST ? SG_SAMPLES_FEW
                                         : sg_sample_unsteady(&p->by_visit, &p->by_work, n + 1, part_of(p));
    p->known = p->record.why == SG_SAMPLES_STEADY;
    if (p->last_sample == 0 || !goes_by_work(p) || is_typical(p, sample->work)) {
        p->last_sample = sg_sampled.samples_count;
        p->passes = passes_now();
        sg_cells_complete();
        sg_cells_differ(&p->difference);
    }
    sg_left_out behind = p->behind;
    p->behind = (sg_left_out){0, 0, 0};
    if (behind.visits > 0) {
        sg_phase_stand_for(p, behind);
        sg_phase_mark();
        sg_phase_expect(p);
        sg->expected = sg_sampled.expected;
    }
}

/* `sample`, of a visit simulated alone, was taken: do these visits cost otherwise than others on average? */
static bool is_stale(sg_phase *p, const sg_sample *sample)
{
    const sg_sample_cost *best = best_of(p);
    double mean = best->sum / (double)p->record.measured,
           cost = (double)sample->cycles / (best == &p->by_work ? (double)(sample->work + SG_PARTS) : 1.0);
    p->alone++;
    p->alone_costs += cost / mean;
    double count = (double)p->alone, noise = 2 * sg_sample_spread(best, p->record.measured) / sqrt(count);
    return p->alone >= SG_LEAST && fabs(p->alone_costs / count - 1) > MOST_OTHERWISE + noise;
}

uint64_t sg_phase_end(sg_phase *p, enum sg_sample_how how)
{
    sg_cost before = sg_sampled.totals;
    uint64_t work = sg_sampled.work, begin = sg_sampled.begin;
    sg_phase_mark();
    sg_sample *sample = new_sample(p, how, &before, work, begin);
    uint64_t cycles = sample->cycles;
    sg_sampled.last_work = sample->work;
    if (is_unlike(p, sample->work))
        how = sample->how = SG_SAMPLE_UNLIKE;
    if (how == SG_SAMPLE_STANDS || (how == SG_SAMPLE_ALONE && p->record.measured < SG_LEAST))
        use_sample(p, sample);
    else if (how == SG_SAMPLE_ALONE)
        p->stale = is_stale(p, sample) && !p->refused;
    return cycles;
}

bool sg_phase_stays_narrow(uint32_t stretch, uint32_t periods)
{
    double squares = 0, time = 0;
    for (uint32_t i = 0; i < sg_sampled.count; i++) {
        const sg_phase *p = &sg_sampled.phase[i];
        uint64_t n = p->record.measured;
        double visits = p->stretch == stretch && p->known ? periods : 0;
        if (n < SG_LEAST)
            continue;
        double each = p->by_visit.sum / (double)n, differs = sg_sample_variance(best_of(p), n);
        squares += differs * each * each * (p->squares + visits * visits / 2 + visits);
        time += each * ((double)p->record.visits + visits);
    }
    return REACH * sqrt(squares) <= NARROW * time;
}

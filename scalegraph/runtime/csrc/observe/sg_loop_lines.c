/* Which lines the iterations of a loop use on a processor, and which of them the processor did not use in the
 * execution before: the data sets of section 3.1 of the loop-scheduling paper. Only when run.collect requests
 * the classes of misses, because it needs every reference, as these do. What the runtime itself references is
 * left out.
 * The observer of the classes reports what the hooks' filter would have answered. */
#include "sg_observers.h"
#include "sg_omp.h"
#include "sg_table.h"

#define LEAST        (1u << 8) /* entries of a table */
#define ACCOUNT_BITS 12u       /* of a key; there are no more loops with an account */

/* By processor: to a line and a loop the number of the execution, from 1 on, in which it was used last. */
static sg_table *used = NULL;
static uint32_t line_shift = 0;

static bool open_lines(void)
{
    if (!(sg->config.collect & SG_COLLECT_CLASSES))
        return false;
    used = sg_new(sg->processors * sizeof *used);
    line_shift = (uint32_t)__builtin_ctzll(sg_line_bytes());
    return true;
}

void sg_loop_lines_use(const sg_processor *p, uint64_t address)
{
    const sg_thread *t = p->coroutine->thread; /* another one may run, and make the reference for it */
    if (t == NULL || t->turn.running == 0 || t->work == NULL || t->work->scheduled.account == 0)
        return;
    const sg_scheduled *s = &t->work->scheduled;
    uint64_t key = (address >> line_shift) << ACCOUNT_BITS | (s->account - 1);
    uint64_t execution = (uint64_t)s->number + 1;
    sg_table_entry *entry = sg_table_make(&used[p->id], key, LEAST);
    if (entry->number == execution)
        return;
    sg_loop_part *part = sg_loop_part_of(s->account, p->id);
    part->lines++;
    part->fresh += execution > 1 && entry->number != execution - 1;
    entry->number = execution;
}

static void note_hit(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
{
    (void)size, (void)kind, (void)site; /* within a line */
    sg_loop_lines_use(p, address);
}

static void note_reference(sg_processor *p, const sg_pending *r, const sg_outcome *o)
{
    (void)o;
    if (r->cause == SG_CAUSE_COMPUTATION || r->cause == SG_CAUSE_ATOMIC)
        sg_loop_lines_use(p, r->address);
}

const sg_observer sg_observer_loop_lines = {
    .name = "lines of loops",
    .takes_part = open_lines,
    .hits = note_hit,
    .referenced = note_reference,
};

/* Which lines a loop's iterations use on a processor, and which of them the processor did not use in the
 * previous execution: the data sets of section 3.1 of the loop-scheduling paper. Only when run.collect asks
 * for miss classes, because both need every reference. References of the runtime itself are ignored. The
 * class observer reports what the hooks' filter would have served. */
#include "sg_observers.h"
#include "sg_omp.h"
#include "sg_table.h"

#define LEAST        (1u << 8) /* entries of a table */
#define ACCOUNT_BITS 12u       /* of a key; no more loops than this have an account */

/* By processor: for a line and a loop, the number (from 1) of the last execution that used it. */
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
    const sg_thread *t =
        p->coroutine->thread; /* another thread may be running and perform the reference for it */
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

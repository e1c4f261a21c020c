/* Start of the simulation: the processors, and the first thread on the first of them. */
#include <sys/mman.h>

#include "sg_arch.h"
#include "sg_inline.h"
#include "sg_run_queue.h"
#include "sg_tick.h"

void sg_sched_open(void)
{
    uint32_t n = sg->processors;
    sg->running = n == 1 || sg->lockstep; /* nobody waits for it: no processor is ever alone */
    sg->processor = sg_new(n * sizeof(sg_processor));
    sg->coroutine = sg_new(n * sizeof(sg_coroutine));
    sg_thread_open();
    sg_run_queue_open(n);
    sg_tick_begin();
    sg->timer = UINT64_MAX;
    sg->first_variable = sg_variables_of(n, SG_OWN_QUEUE);
    sg_idle_processor.block_of = sg->no_block_index - sg->text_low;
    sg_idle_processor.block_parts = sg->block_parts;
    sg->fast_thread_pointer = sg_arch_sets_thread_pointer();
    for (uint32_t i = 0; i < n; i++) {
        sg_processor *p = &sg->processor[i];
        const sg_filter *filter = sg_mem_filter(sg->mem, i);
        p->id = i;
        p->coroutine = &sg->coroutine[i];
        p->filter = filter->first;
        p->rest = filter->rest;
        p->rest_ways = filter->rest_ways;
        p->hit_cycles = filter->hit_cycles;
        p->mask = filter->mask;
        p->shift = filter->shift;
        p->quick = &sg_quick_none;
        p->block_of = sg->block_index - sg->text_low;
        p->block_parts = sg_speed_of(i)->parts;
        p->time_limit = SG_TRAP_PARTS - 1;
        p->account = sg_account_of(p, 0);
        sg_inline_count_apart(p, false);
        sg->idle[i / 64] |= 1ull << i % 64;
    }
}

/* ---- machines without a data cache ----
 *
 * References take no time, and nothing can miss. A processor's filter then holds pages instead of lines. It
 * hits for all but the first reference to a page, which goes to the observers: one of them reports pointers
 * to another rank's memory. */

/* The filter fits in the host's first-level cache, and most programs reach each page once. */
enum { PAGES = 512, PAGE_SHIFT = 12 };

/* Does an observer want references that hit in caches? */
static bool is_watched(void)
{
    return sg_observed.filter != NULL || sg_observed.hits != NULL || sg_observed.counts != NULL ||
           sg_observed.references != NULL || sg_observed.scales != NULL || sg_observed.hit != NULL;
}

const sg_filter *sg_uncached_begin(void)
{
    if (is_watched())
        return sg_mem_filter(sg->mem, 0);
    static sg_filter geometry = {NULL, PAGES - 1, PAGE_SHIFT, NULL, 0, 0};
    sg->pages_only = true;
    size_t bytes = sg->processors * PAGES * sizeof(uint64_t);
    uint64_t *all = sg_reserve(bytes, "the pages that programs have used");
    madvise(all, bytes, MADV_HUGEPAGE); /* each processor uses its page */
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        p->filter = &all[(size_t)i * PAGES];
        p->mask = geometry.mask;
        p->shift = geometry.shift;
        p->rest = geometry.rest;
        p->rest_ways = geometry.rest_ways;
    }
    return &geometry;
}

/* ---- the first thread ---- */

void sg_sched_enter(void (*entry)(void))
{
    sg_thread *t = sg_thread_new();
    sg_thread_adopt_data(t);
    t->stack_pointer = sg_arch_new_stack(t->stack_pointer, entry);
    sg->host_thread = sg_arch_thread_pointer();
    sg_sched_resume_first(sg_sched_first(t));
}

/* Start of thread 0's stack, if it runs on the host's until main begins. */
static void *own_stack = NULL;

void sg_sched_begin(void)
{
    sg_thread *t = sg_thread_new();
    own_stack = t->stack_pointer;
    /* Keeps what constructors have written to thread-local data, at the addresses that others may know. */
    t->thread_pointer = sg->host_thread = sg_arch_thread_pointer();
    sg_now = sg_sched_first(t);
    sg_refresh_limit(sg_now);
}

void sg_sched_continue(void (*entry)(void))
{
    sg_arch_switch(&sg->host_stack, sg_arch_new_stack(own_stack, entry));
    __builtin_unreachable();
}

/* A rank's references to another rank's memory, which it could not reach on a real host: a pointer was sent
 * in a message. Heaps and stacks are separate, so the address tells the owner; static data are at the same
 * addresses in all ranks, so a pointer to them counts as the rank's own and is not reported. Only the first
 * reference to a line is seen (without a data cache, to a page), before a rank's caches have it. No cycle
 * depends on this. */
#include <stdio.h>

#include "sg_alloc.h"
#include "sg_observers.h"
#include "sg_rank.h"

enum { PLACES = 4 }; /* places in the program that are reported */

static struct {
    uint64_t heap;   /* of rank 0: its allocations are here or above */
    uint64_t stride; /* between stacks */
    const void *site[PLACES];
    uint32_t named;
} found = {.named = 0};

/* The rank whose heap or stack holds an address; NULL: none. */
static const sg_rank *owner_of(uint64_t address, const char **part)
{
    if (address >= SG_RANK_HEAP_BASE) {
        uint64_t rank = (address - SG_RANK_HEAP_BASE) / SG_RANK_HEAP_BYTES;
        *part = "heap";
        return rank < sg->ranks ? sg->all_ranks[rank] : NULL;
    }
    if (address < SG_STACK_BASE) {
        *part = "heap";
        return address >= found.heap ? sg->all_ranks[0] : NULL;
    }
    if (address >= SG_STACK_BASE + sg->most_threads * found.stride)
        return NULL;
    const sg_thread *t = sg->thread[(address - SG_STACK_BASE) / found.stride];
    *part = "stack";
    return t != NULL ? t->rank : NULL;
}

static bool was_named(const void *site)
{
    for (uint32_t i = 0; i < found.named; i++)
        if (found.site[i] == site)
            return true;
    return false;
}

static void note_referenced(sg_processor *p, const sg_pending *r, const sg_outcome *o)
{
    (void)o;
    const char *part = "";
    if (r->address < found.heap || r->cause != SG_CAUSE_COMPUTATION || r->category >= 0)
        return;
    const sg_rank *own = p->coroutine->thread->rank, *other = owner_of(r->address, &part);
    if (other == NULL || own == NULL || own == other || found.named == PLACES || sg_ranks_have_shared() ||
        was_named(p->site))
        return;
    char text[200];
    found.site[found.named++] = p->site;
    snprintf(text, sizeof text,
             "rank %u %s memory of rank %u, on its %s, at 0x%llx: a pointer means nothing "
             "to another rank",
             own->number, r->kind == SG_READ ? "reads" : "writes", other->number, part,
             (unsigned long long)(uintptr_t)p->site);
    sg_warn(text);
}

static bool takes_part(void)
{
    uint64_t high;
    sg_alloc_ahead(&found.heap, &high); /* libraries have already started */
    found.stride = sg_stack_stride();
    return sg->config.ranks > 1;
}

const sg_observer sg_observer_foreign = {
    .name = "memory of other ranks",
    .takes_part = takes_part,
    .referenced = note_referenced,
};

/* Buffers that the program must not read, or not change, until an operation has completed. While there are
 * any, the program's references are checked against them. This takes host time, so each call's buffers are
 * watched for a limited number of references; simulated time does not depend on it. */
#include <stdio.h>

#include "sg_mpi_watch.h"
#include "sg_rank.h"
#include "sg_watch.h"

enum {
    WATCHED = 64,        /* at a time, per rank */
    CALLS = 64,          /* call sites whose buffers are watched */
    CREDIT = 1000 * 1000 /* references checked per call site */
};

typedef struct watched {
    const void *of;
    uint64_t low, high; /* its address range */
    bool reads, writes;
    const char *call, *ends;
    const void *site;
    int64_t *credit;
} watched;

typedef struct watching {
    const sg_rank *rank;
    uint32_t count;
    uint64_t low, high; /* range of all of them */
    watched list[WATCHED];
    const uint64_t *fast[]; /* filter tables of the rank's processors, swapped out while watching */
} watching;

static watching **of_rank = NULL; /* by rank number */
static uint32_t watching_ranks = 0;
static struct {
    const void *site;
    int64_t left;
} credits[CALLS] = {{NULL, 0}};

static int64_t *credit_of(const void *site)
{
    uint32_t at = 0;
    while (at < CALLS && credits[at].site != NULL && credits[at].site != site)
        at++;
    if (at == CALLS)
        return NULL;
    if (credits[at].site == NULL) {
        credits[at].site = site;
        credits[at].left = CREDIT;
    }
    return credits[at].left > 0 ? &credits[at].left : NULL;
}

static void tell(const sg_rank *rank, const watched *w, enum sg_access kind, const void *site)
{
    char text[400];
    if (!sg_mpi_first_time(w->site, site))
        return;
    snprintf(text, sizeof text,
             "rank %u: the buffer of %s at 0x%llx is %s at 0x%llx before %s completes it: %s", rank->number,
             w->call, (unsigned long long)(uintptr_t)w->site, kind == SG_READ ? "read" : "changed",
             (unsigned long long)(uintptr_t)site, w->ends,
             w->reads ? "what is there then depends on time" : "what is sent then depends on time");
    sg_warn(text);
}

static bool overlaps(const watched *w, uint64_t address, uint64_t size)
{
    return address < w->high && w->low < address + size;
}

static sg_processor *processor_of(const watching *all, uint32_t i)
{
    return &sg->processor[all->rank->first_processor + i];
}

static void leave(watching *all, uint32_t at)
{
    all->list[at] = all->list[--all->count];
    if (all->count > 0)
        return;
    for (uint32_t i = 0; i < sg->own_processors; i++)
        processor_of(all, i)->fast = all->fast[i];
    if (--watching_ranks == 0)
        sg_watch = NULL;
}

static bool hear(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
{
    if (p->thread == NULL || p->thread->rank == NULL)
        return false;
    watching *all = of_rank[p->thread->rank->number];
    if (all == NULL || all->count == 0)
        return false;
    for (uint32_t i = all->count; i-- > 0;) {
        watched *w = &all->list[i];
        if (overlaps(w, address, size) && (kind == SG_READ ? w->reads : w->writes))
            tell(all->rank, w, kind, site);
        if (--*w->credit <= 0)
            leave(all, i);
    }
    return (address ^ (address + size - 1)) >> p->shift == 0 && sg_filtered(p, address, kind);
}

static void begin_to_hear(watching *all)
{
    for (uint32_t i = 0; i < sg->own_processors; i++) {
        all->fast[i] = processor_of(all, i)->fast;
        processor_of(all, i)->fast = sg_idle_processor.fast;
    }
    watching_ranks++;
    sg_watch = hear;
}

static watching *of_this_rank(void)
{
    sg_rank *rank = sg_rank_self();
    if (of_rank == NULL)
        of_rank = sg_new(sg->ranks * sizeof(watching *));
    watching **all = &of_rank[rank->number];
    if (*all == NULL) {
        *all = sg_new(sizeof(watching) + sg->own_processors * sizeof(uint64_t *));
        (*all)->rank = rank;
    }
    return *all;
}

void sg_watch_begin(const void *of, const void *buffer, int64_t count, const sg_type *type, bool reads,
                    bool writes, const char *ends)
{
    const struct sg_mpi *m = sg_mpi_self();
    if (type == NULL || count * type->size == 0 || !sg_type_flat(type, count) || sg->pages_only)
        return;
    watching *all = of_this_rank();
    int64_t *credit = credit_of(m->site);
    if (credit == NULL || all->count == WATCHED)
        return;
    uint64_t low = (uint64_t)(uintptr_t)buffer + (uint64_t)type->true_lb;
    all->list[all->count] = (watched){
        of, low, low + (uint64_t)(count * type->size), reads, writes, m->call, ends, m->site, credit};
    if (all->count++ == 0)
        begin_to_hear(all);
}

void sg_watch_end(const sg_rank *rank, const void *of)
{
    watching *all = of_rank != NULL ? of_rank[rank->number] : NULL;
    for (uint32_t i = all != NULL ? all->count : 0; i-- > 0;)
        if (all->list[i].of == of)
            leave(all, i);
}

/* Detects unordered accesses to the same memory, at least one of them a write: the result depends on timing.
 * Two accesses between the same two fences are unordered; so are others while the earlier one is not complete
 * at its target. The latest accesses to each rank's memory are remembered. */
#include <stdio.h>

#include "sg_mpi_window.h"

enum { KEPT = 256, RUNS = 32 /* runs of an access with gaps; with more it is not checked */ };

typedef struct touched {
    const char *low, *high;
    enum sg_access_kind kind;
    uintptr_t op;
    uint32_t rank;           /* that made the access */
    const sg_window *window; /* as seen by that rank */
    const sg_target *target; /* as seen by that rank */
    bool fenced;
    uint64_t completions; /* of window and target, when it was issued */
    const char *call;
    const void *site;
} touched;

/* Latest accesses to the memory that one rank of a window exposes. */
typedef struct record {
    uint64_t fences;
    uint32_t context, count, next;
    touched access[KEPT];
} record;

static sg_table records = {NULL, 0, 0}; /* by the address of the exposure */

static bool accumulates(enum sg_access_kind kind)
{
    return kind == SG_ACCUMULATE || kind == SG_GET_ACCUMULATE || kind == SG_COMPARE_AND_SWAP;
}

static bool are_in_conflict(const touched *one, const touched *other)
{
    if (one->low >= other->high || other->low >= one->high || (one->kind == SG_GET && other->kind == SG_GET))
        return false;
    return !accumulates(one->kind) || !accumulates(other->kind);
}

/* Is `earlier` unordered with `later`? If both are in a fence epoch, it is the same epoch. */
static bool is_open(const touched *earlier, const touched *later)
{
    if (earlier->fenced && later->fenced)
        return true;
    return earlier->window->completions + earlier->target->completions == earlier->completions;
}

static void tell(const touched *one, const touched *other, const sg_remote *a)
{
    static bool told = false;
    char text[400];
    if (told)
        return;
    told = true;
    const char *when =
        one->fenced && other->fenced ? "between two fences" : "while nothing orders one before the other";
    snprintf(text, sizeof text,
             "rank %u (%s at 0x%llx) and rank %u (%s at 0x%llx) access the same bytes of rank %u %s: "
             "what is there afterwards depends on time",
             other->rank, other->call, (unsigned long long)(uintptr_t)other->site, one->rank, one->call,
             (unsigned long long)(uintptr_t)one->site, a->to->number, when);
    sg_warn(text);
}

/* A contiguous run of an access being checked. */
typedef struct checking {
    record *r;
    const sg_remote *a;
    touched as;
    uint32_t known; /* entries of the record before this access, which does not conflict with itself */
} checking;

static void check_run(char *at, size_t bytes, void *context)
{
    checking *c = context;
    record *r = c->r;
    touched fresh = c->as;
    fresh.low = at;
    fresh.high = at + bytes;
    for (uint32_t i = 0; i < c->known; i++)
        if (are_in_conflict(&fresh, &r->access[i]) && is_open(&r->access[i], &fresh))
            tell(&fresh, &r->access[i], c->a);
    if (r->count == KEPT && c->known == KEPT) { /* replace the oldest */
        r->access[r->next] = fresh;
        r->next = (r->next + 1) % KEPT;
    } else if (r->count < KEPT)
        r->access[r->count++] = fresh;
}

static void count_run(char *at, size_t bytes, void *context)
{
    (void)at, (void)bytes;
    *(uint32_t *)context += 1;
}

void sg_conflict_check(const sg_window *w, const sg_remote *a, const sg_target *t)
{
    uint32_t runs = 0;
    if (a->count <= 0 || a->type->size == 0)
        return;
    if (sg_type_flat(a->type, a->count))
        runs = 1;
    else if (a->count <= RUNS && a->type->elements <= 1024)
        sg_type_runs(a->type, a->at, a->count, count_run, &runs);
    if (runs == 0 || runs > RUNS)
        return;
    sg_table_entry *entry = sg_table_make(&records, (uint64_t)(uintptr_t)&w->all->of[a->target], 64);
    if (entry->pointer == NULL)
        entry->pointer = sg_new(sizeof(record));
    record *r = entry->pointer;
    if (r->context != w->comm->context || (w->fenced && r->fences != w->fences))
        r->count = r->next = 0;
    r->fences = w->fences;
    r->context = w->comm->context;
    checking c = {.r = r, .a = a, .known = r->count};
    c.as = (touched){NULL,
                     NULL,
                     a->kind,
                     a->op,
                     a->from->number,
                     w,
                     t,
                     w->fenced,
                     w->completions + t->completions,
                     sg_self()->call,
                     sg_now->site};
    sg_type_runs(a->type, a->at, a->count, check_run, &c);
}

void sg_conflict_forget(const sg_exposure *e)
{
    const sg_table_entry *entry = sg_table_find(&records, (uint64_t)(uintptr_t)e);
    if (entry != NULL)
        ((record *)entry->pointer)->count = ((record *)entry->pointer)->next = 0;
}

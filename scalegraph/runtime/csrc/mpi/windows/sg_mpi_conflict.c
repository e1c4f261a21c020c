/* Accesses between two fences that touch the same memory, of which at least one writes: what is there
 * afterwards depends on time. The latest accesses to each rank's memory are remembered. */
#include <stdio.h>

#include "sg_mpi_window.h"

enum { KEPT = 256 };

typedef struct touched {
    const char *low, *high;
    enum sg_access_kind kind;
    uintptr_t op;
    uint32_t rank; /* that accessed it */
    const char *call;
    const void *site;
} touched;

/* Of the memory that one rank of a window exposes. */
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

static void tell(const touched *one, const touched *other, const sg_remote *a)
{
    static bool told = false;
    char text[400];
    if (told)
        return;
    told = true;
    snprintf(text, sizeof text,
             "rank %u (%s at 0x%llx) and rank %u (%s at 0x%llx) access the same bytes of rank %u between two "
             "fences: "
             "what is there afterwards depends on time",
             other->rank, other->call, (unsigned long long)(uintptr_t)other->site, one->rank, one->call,
             (unsigned long long)(uintptr_t)one->site, a->to->number);
    sg_warn(text);
}

void sg_conflict_check(const sg_window *w, const sg_remote *a)
{
    if (!w->fenced || a->count <= 0 || a->type->size == 0 || !sg_type_flat(a->type, a->count))
        return;
    sg_table_entry *entry = sg_table_make(&records, (uint64_t)(uintptr_t)&w->all->of[a->target], 64);
    if (entry->pointer == NULL)
        entry->pointer = sg_new(sizeof(record));
    record *r = entry->pointer;
    const char *low = a->at + a->type->true_lb;
    touched fresh = {
        low, low + a->count * a->type->size, a->kind, a->op, a->from->number, sg_self()->call, sg_now->site};
    if (r->fences != w->fences || r->context != w->comm->context)
        r->count = r->next = 0;
    r->fences = w->fences;
    r->context = w->comm->context;
    for (uint32_t i = 0; i < r->count; i++)
        if (are_in_conflict(&fresh, &r->access[i]))
            tell(&fresh, &r->access[i], a);
    r->access[r->next] = fresh;
    r->next = (r->next + 1) % KEPT;
    r->count += r->count < KEPT;
}

/* What accesses do to their target's memory. */
#include "sg_mpi_window.h"

void sg_each_value(const sg_type *t, char *base, int64_t count,
                   void (*visit)(const sg_type *t, char *at, int64_t count, void *context), void *context)
{
    if (t->basic || t->class != SG_CLASS_NONE) {
        visit(t, base, count, context);
        return;
    }
    for (int64_t i = 0; i < count; i++, base += sg_type_extent(t))
        for (uint32_t k = 0; k < t->part_count; k++) {
            const sg_piece *part = &t->parts[k];
            char *at = base + part->displacement;
            for (int64_t r = 0; r < part->repeat; r++, at += part->stride)
                sg_each_value(part->type, at, part->count, visit, context);
        }
}

/* ---- copies, not charged ---- */

static void read_run(char *at, size_t bytes, void *context)
{
    char **to = context;
    memcpy(*to, at, bytes);
    *to += bytes;
}

static void write_run(char *at, size_t bytes, void *context)
{
    const char **from = context;
    memcpy(at, *from, bytes);
    *from += bytes;
}

/* ---- accumulation ---- */

typedef struct accumulation {
    uintptr_t op;
    const char *from; /* packed */
} accumulation;

#define LARGEST 64 /* bytes of a value */

/* Combines values that may be unaligned, one at a time, through aligned memory. */
static void combine_one(accumulation *a, const sg_type *t, char *at)
{
    _Alignas(LARGEST) char in[LARGEST], out[LARGEST];
    char *to = out;
    sg_type_runs(t, in, 1, write_run, &a->from);
    memcpy(out, at, (size_t)sg_type_extent(t));
    sg_op_values(a->op, t->class, in, to, 1);
    memcpy(at, out, (size_t)sg_type_extent(t));
}

static void combine(const sg_type *t, char *at, int64_t count, void *context)
{
    accumulation *a = context;
    bool aligned = ((uintptr_t)at | (uintptr_t)a->from) % t->alignment == 0;
    if (aligned && sg_type_flat(t, count)) {
        sg_op_values(a->op, t->class, a->from, at, count);
        a->from += count * t->size;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        combine_one(a, t, at + i * sg_type_extent(t));
}

static void accumulate(const sg_remote *a)
{
    accumulation c = {a->op, a->data};
    const char *from = a->data;
    if (a->op == (uintptr_t)MPI_REPLACE)
        sg_type_runs(a->type, a->at, a->count, write_run, &from);
    else if (a->op != (uintptr_t)MPI_NO_OP)
        sg_each_value(a->type, a->at, a->count, combine, &c);
}

static void apply(sg_remote *a)
{
    char *to = a->answer;
    const char *from = a->data;
    if (a->result_type != NULL)
        sg_type_runs(a->type, a->at, a->count, read_run, &to);
    switch (a->kind) {
    case SG_PUT:
        sg_type_runs(a->type, a->at, a->count, write_run, &from);
        break;
    case SG_ACCUMULATE:
    case SG_GET_ACCUMULATE:
        accumulate(a);
        break;
    case SG_COMPARE_AND_SWAP:
        if (memcmp(a->answer, a->data + a->answer_bytes, a->answer_bytes) == 0)
            memcpy(a->at, a->data, a->answer_bytes);
        break;
    default:
        break;
    }
}

/* Finds the first and the end of the bytes that the items occupy. */
static void span(const sg_type *t, char *at, int64_t count, char **low, char **high)
{
    int64_t far = (count - 1) * sg_type_extent(t);
    *low = at + t->true_lb + (far < 0 ? far : 0);
    *high = at + t->true_ub + (far > 0 ? far : 0);
}

void sg_access_apply(sg_remote *a)
{
    char *low, *high;
    sg_rank *mapped = sg->rank;
    if (a->count == 0 || a->type->size == 0)
        return;
    span(a->type, a->at, a->count, &low, &high);
    bool elsewhere = a->to != mapped && sg_image_holds(low, high);
    if (elsewhere)
        sg->turn_to(a->to, false);
    apply(a);
    if (elsewhere)
        sg->turn_to(mapped, false);
}

/* ---- checks ---- */

typedef struct question {
    uintptr_t op;
    const sg_exposure *exposure;
    bool yes;
} question;

static void ask_class(const sg_type *t, char *at, int64_t count, void *context)
{
    question *q = context;
    (void)at, (void)count;
    q->yes = q->yes && t->class != SG_CLASS_NONE && sg_op_values(q->op, t->class, NULL, NULL, 0);
}

bool sg_accumulates(uintptr_t op, const sg_type *t)
{
    question q = {op, NULL, true};
    if (op == (uintptr_t)MPI_REPLACE || op == (uintptr_t)MPI_NO_OP)
        return true;
    sg_each_value(t, NULL, 1, ask_class, &q);
    return q.yes;
}

/* Attached regions may adjoin. */
static bool attached(const sg_exposure *e, const char *low, const char *high)
{
    while (low < high) {
        const char *end = low;
        for (uint32_t i = 0; i < e->region_count; i++) {
            const sg_attached *r = &e->regions[i];
            if (low >= r->base && low < r->base + r->size)
                end = r->base + r->size;
        }
        if (end == low)
            return false;
        low = end;
    }
    return true;
}

static void ask_attached(char *at, size_t bytes, void *context)
{
    question *q = context;
    q->yes = q->yes && attached(q->exposure, at, at + bytes);
}

bool sg_exposes(const sg_exposure *e, bool dynamic, char *at, int64_t count, const sg_type *t)
{
    char *low, *high;
    if (count == 0 || t->size == 0)
        return true;
    span(t, at, count, &low, &high);
    if (!dynamic)
        return low >= e->base && high <= e->base + e->size;
    if (attached(e, low, high))
        return true;
    question q = {0, e, true};
    sg_type_runs(t, at, count, ask_attached, &q);
    return q.yes;
}

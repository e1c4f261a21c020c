/* Reductions by published algorithms. */
#include "sg_mpi_collective.h"

/* One buffer holds the reduction so far, one receives; they swap. */
typedef struct pair {
    char *acc, *other;
    int64_t count;
    sg_type *type;
} pair;

/* Combines the received part with the rank's own; `theirs_first`: it comes from lower ranks. */
static void combine(sg_schedule *s, pair *p, bool theirs_first)
{
    if (theirs_first) {
        sg_add_combine(s, p->other, p->acc, p->count, p->type);
    } else {
        sg_add_combine(s, p->acc, p->other, p->count, p->type);
        char *acc = p->other;
        p->other = p->acc;
        p->acc = acc;
    }
    sg_add_wait(s);
}

static char *item(const pair *p, char *buffer, int64_t at)
{
    return buffer + at * sg_type_extent(p->type);
}

static int power_below(int size)
{
    int power = 1;
    while (2 * power <= size)
        power *= 2;
    return power;
}

/* ---- reducing the number of ranks to a power of two ---- */

/* The first ranks form pairs; one rank of each pair goes on (the root, if it is in the pair). */
typedef struct folded {
    int ranks, pairs; /* ranks that go on; pairs at the beginning */
    int me;           /* number among those that go on; -1: it waits for the result */
    int root;
} folded;

static int unfold(const folded *f, int number)
{
    if (number >= f->pairs)
        return number + f->pairs;
    return 2 * number == f->root ? 2 * number : 2 * number + 1;
}

static folded fold(sg_schedule *s, pair *p, int root)
{
    int size = s->view->size, rank = s->view->rank;
    folded f = {.ranks = power_below(size), .root = root};
    f.pairs = size - f.ranks;
    if (rank >= 2 * f.pairs) {
        f.me = rank - f.pairs;
        return f;
    }
    int stays = unfold(&f, rank / 2);
    if (rank != stays) {
        sg_add_send(s, p->acc, p->count, p->type, stays);
        f.me = -1;
    } else {
        sg_add_receive(s, p->other, p->count, p->type, rank ^ 1);
        f.me = rank / 2;
    }
    sg_add_wait(s);
    if (rank == stays)
        combine(s, p, (rank ^ 1) < rank);
    return f;
}

/* Sends the result to the ranks that waited. */
static void unfold_result(sg_schedule *s, const folded *f, pair *p)
{
    int rank = s->view->rank;
    if (rank >= 2 * f->pairs)
        return;
    if (f->me < 0)
        sg_add_receive(s, p->acc, p->count, p->type, rank ^ 1);
    else
        sg_add_send(s, p->acc, p->count, p->type, rank ^ 1);
    sg_add_wait(s);
}

/* First item of a rank's part when `count` items are divided equally among `ranks`. */
static int64_t part(const folded *f, int64_t count, int number)
{
    return count * number / f->ranks;
}

/* Recursive halving: in the end the rank has reduced its own part. In step `bit`, from half of the ranks
 * down, each partner keeps the half that contains its part. */
static void halve(sg_schedule *s, const folded *f, pair *p)
{
    for (int bit = f->ranks / 2; bit > 0; bit /= 2) {
        int other = f->me ^ bit, mine = f->me & ~(bit - 1), theirs = other & ~(bit - 1);
        int64_t keep = part(f, p->count, mine), keep_end = part(f, p->count, mine + bit);
        int64_t give = part(f, p->count, theirs), give_end = part(f, p->count, theirs + bit);
        sg_add_receive(s, item(p, p->other, keep), keep_end - keep, p->type, unfold(f, other));
        sg_add_send(s, item(p, p->acc, give), give_end - give, p->type, unfold(f, other));
        sg_add_wait(s);
        sg_add_combine(s, item(p, p->other, keep), item(p, p->acc, keep), keep_end - keep, p->type);
        sg_add_wait(s);
    }
}

/* ---- reduce ---- */

static void *binomial_reduce(sg_schedule *s, pair *p, int root)
{
    bool commutes = s->op->commutes;
    int size = s->view->size, first = commutes ? root : 0;
    int me = (s->view->rank - first + size) % size;
    for (int bit = 1; bit < size; bit *= 2) {
        if (me & bit) {
            sg_add_send(s, p->acc, p->count, p->type, (me - bit + first) % size);
            sg_add_wait(s);
            break;
        }
        if (me + bit < size) {
            sg_add_receive(s, p->other, p->count, p->type, (me + bit + first) % size);
            sg_add_wait(s);
            combine(s, p, false);
        }
    }
    if (root != first && s->view->rank == first)
        sg_add_send(s, p->acc, p->count, p->type, root);
    if (root != first && s->view->rank == root)
        sg_add_receive(s, p->acc, p->count, p->type, first);
    sg_add_wait(s);
    return p->acc;
}

/* Rabenseifner: each rank reduces one part, then the parts are gathered at the root. */
static void *parts_reduce(sg_schedule *s, pair *p, int root)
{
    folded f = fold(s, p, root);
    if (f.me < 0)
        return p->acc;
    halve(s, &f, p);
    int goal = root < 2 * f.pairs ? root / 2 : root - f.pairs;
    for (int bit = 1; bit < f.ranks; bit *= 2) {
        int other = f.me ^ bit, mine = f.me & ~(bit - 1), theirs = other & ~(bit - 1);
        int64_t own = part(&f, p->count, mine), own_end = part(&f, p->count, mine + bit);
        int64_t got = part(&f, p->count, theirs), got_end = part(&f, p->count, theirs + bit);
        if ((f.me & bit) != (goal & bit)) {
            sg_add_send(s, item(p, p->acc, own), own_end - own, p->type, unfold(&f, other));
            sg_add_wait(s);
            break;
        }
        sg_add_receive(s, item(p, p->acc, got), got_end - got, p->type, unfold(&f, other));
        sg_add_wait(s);
    }
    return p->acc;
}

void *sg_algorithm_reduce(sg_schedule *s, void *acc, int64_t count, sg_type *type, int root)
{
    int size = s->view->size;
    if (size < 2 || count == 0)
        return acc;
    if (sg_by_hardware(s, SG_REDUCE, count, type)) {
        sg_add_hardware(s, SG_REDUCE, acc, s->view->rank == root ? acc : NULL, count, type);
        return acc;
    }
    void *result = sg_nodes_reduce(s, acc, count, type, root);
    if (result != NULL)
        return result;
    pair p = {acc, sg_schedule_items(s, count, type), count, type};
    bool simple = s->op->commutes && count >= power_below(size);
    if (sg_choose(s, SG_REDUCE, count * type->size, simple) == SG_RABENSEIFNER)
        return parts_reduce(s, &p, root);
    return binomial_reduce(s, &p, root);
}

/* ---- allreduce ---- */

static void doubling_allreduce(sg_schedule *s, pair *p)
{
    folded f = fold(s, p, -1);
    for (int bit = 1; f.me >= 0 && bit < f.ranks; bit *= 2) {
        int other = f.me ^ bit;
        sg_add_receive(s, p->other, p->count, p->type, unfold(&f, other));
        sg_add_send(s, p->acc, p->count, p->type, unfold(&f, other));
        sg_add_wait(s);
        combine(s, p, other < f.me);
    }
    unfold_result(s, &f, p);
}

static void parts_allreduce(sg_schedule *s, pair *p)
{
    folded f = fold(s, p, -1);
    if (f.me >= 0)
        halve(s, &f, p);
    for (int bit = 1; f.me >= 0 && bit < f.ranks; bit *= 2) {
        int other = f.me ^ bit, mine = f.me & ~(bit - 1), theirs = other & ~(bit - 1);
        int64_t own = part(&f, p->count, mine), own_end = part(&f, p->count, mine + bit);
        int64_t got = part(&f, p->count, theirs), got_end = part(&f, p->count, theirs + bit);
        sg_add_receive(s, item(p, p->acc, got), got_end - got, p->type, unfold(&f, other));
        sg_add_send(s, item(p, p->acc, own), own_end - own, p->type, unfold(&f, other));
        sg_add_wait(s);
    }
    unfold_result(s, &f, p);
}

/* Twice around the ring: parts are reduced in the first pass, and the reduced parts are distributed in the
 * second. */
static void ring_allreduce(sg_schedule *s, pair *p)
{
    int size = s->view->size, me = s->view->rank;
    folded f = {.ranks = size};
    int next = (me + 1) % size, before = (me - 1 + size) % size;
    for (int step = 0; step < 2 * (size - 1); step++) {
        bool reduces = step < size - 1;
        int out = (me - step + 2 * size) % size, in = (me - step - 1 + 2 * size) % size;
        int64_t gone = part(&f, p->count, out), gone_end = part(&f, p->count, out + 1);
        int64_t got = part(&f, p->count, in), got_end = part(&f, p->count, in + 1);
        char *into = reduces ? p->other : p->acc;
        sg_add_receive(s, item(p, into, got), got_end - got, p->type, before);
        sg_add_send(s, item(p, p->acc, gone), gone_end - gone, p->type, next);
        sg_add_wait(s);
        if (reduces)
            sg_add_combine(s, item(p, p->other, got), item(p, p->acc, got), got_end - got, p->type);
        sg_add_wait(s);
    }
}

void sg_algorithm_allreduce(sg_schedule *s, void *acc, int64_t count, sg_type *type)
{
    int size = s->view->size;
    if (size < 2 || count == 0)
        return;
    if (sg_by_hardware(s, SG_ALLREDUCE, count, type)) {
        sg_add_hardware(s, SG_ALLREDUCE, acc, acc, count, type);
        return;
    }
    if (sg_nodes_allreduce(s, acc, count, type))
        return;
    pair p = {acc, sg_schedule_items(s, count, type), count, type};
    bool simple = s->op->commutes && count >= power_below(size);
    enum sg_algorithm how = sg_choose(s, SG_ALLREDUCE, count * type->size, simple);
    if (how == SG_RABENSEIFNER)
        parts_allreduce(s, &p);
    else if (how == SG_RING)
        ring_allreduce(s, &p);
    else
        doubling_allreduce(s, &p);
    if (p.acc != acc)
        sg_add_copy(s, p.acc, count, type, acc, count, type);
    sg_add_wait(s);
}

/* ---- reduce-scatter ---- */

/* Each part goes directly to its rank, from one rank after another. */
static void pairwise(sg_schedule *s, pair *p, const int64_t *at)
{
    int size = s->view->size, me = s->view->rank;
    for (int step = 1; step < size; step++) {
        int to = (me + step) % size, from = (me - step + size) % size;
        sg_add_receive(s, item(p, p->other, at[me]), at[me + 1] - at[me], p->type, from);
        sg_add_send(s, item(p, p->acc, at[to]), at[to + 1] - at[to], p->type, to);
        sg_add_wait(s);
        sg_add_combine(s, item(p, p->other, at[me]), item(p, p->acc, at[me]), at[me + 1] - at[me], p->type);
        sg_add_wait(s);
    }
}

/* Recursive halving of the ranks' parts. The rank that goes on for a pair has the parts of both. */
static void halving(sg_schedule *s, pair *p, const int64_t *at)
{
    folded f = fold(s, p, -1);
    int rank = s->view->rank;
#define EDGE(number) at[(number) < f.pairs ? 2 * (number) : (number) + f.pairs]
    for (int bit = f.ranks / 2; f.me >= 0 && bit > 0; bit /= 2) {
        int other = f.me ^ bit, mine = f.me & ~(bit - 1), theirs = other & ~(bit - 1);
        int64_t keep = EDGE(mine), keep_end = EDGE(mine + bit), give = EDGE(theirs),
                give_end = EDGE(theirs + bit);
        sg_add_receive(s, item(p, p->other, keep), keep_end - keep, p->type, unfold(&f, other));
        sg_add_send(s, item(p, p->acc, give), give_end - give, p->type, unfold(&f, other));
        sg_add_wait(s);
        sg_add_combine(s, item(p, p->other, keep), item(p, p->acc, keep), keep_end - keep, p->type);
        sg_add_wait(s);
    }
#undef EDGE
    if (rank < 2 * f.pairs && f.me < 0)
        sg_add_receive(s, item(p, p->acc, at[rank]), at[rank + 1] - at[rank], p->type, rank ^ 1);
    else if (rank < 2 * f.pairs)
        sg_add_send(s, item(p, p->acc, at[rank ^ 1]), at[(rank ^ 1) + 1] - at[rank ^ 1], p->type, rank ^ 1);
    sg_add_wait(s);
}

void sg_algorithm_reduce_scatter(sg_schedule *s, char *acc, void *result, const int64_t *counts,
                                 sg_type *type)
{
    int size = s->view->size, rank = s->view->rank;
    int64_t *at = sg_schedule_memory(s, (int64_t)sizeof *at * (size + 1));
    for (int i = 0; i < size; i++)
        at[i + 1] = at[i] + counts[i];
    pair p = {acc, sg_schedule_items(s, at[size], type), at[size], type};
    enum sg_algorithm how = sg_choose(s, SG_REDUCE_SCATTER, at[size] * type->size, s->op->commutes);
    if (size > 1 && how == SG_HALVING)
        halving(s, &p, at);
    else if (size > 1 && how == SG_PAIRWISE)
        pairwise(s, &p, at);
    else if (size > 1)
        doubling_allreduce(s, &p); /* preserves the order for operations that do not commute */
    sg_add_copy(s, item(&p, p.acc, at[rank]), counts[rank], type, result, counts[rank], type);
    sg_add_wait(s);
}

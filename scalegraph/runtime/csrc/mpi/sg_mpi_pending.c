/* Buffers of active requests, ordered by address. Items with gaps are left out: the gaps may hold other data.
 * If a buffer's contents have changed when its request completes, the program has changed them: received data
 * is only stored then, not earlier. */
#include <stdio.h>

#include "sg_mpi_pending.h"
#include "sg_mpi_watch.h"
#include "sg_rank.h"

typedef struct range {
    uintptr_t begin, end;
    const sg_request *of;
    uint64_t digest; /* of its contents */
    bool shared;     /* another operation uses it too, and this has been reported */
} range;

typedef struct ranges {
    range *of;
    size_t count, room;
    uintptr_t longest; /* of all ranges so far */
} ranges;

struct sg_buffers {
    ranges sends, receives;
};

static struct sg_buffers *pending(void)
{
    struct sg_mpi *m = sg_mpi_self();
    if (m->buffers == NULL)
        m->buffers = sg_mpi_new(sizeof *m->buffers);
    return m->buffers;
}

static bool range_of(const void *buffer, int64_t count, const sg_type *t, range *r)
{
    if (t == NULL || count * t->size == 0 || !sg_type_flat(t, count))
        return false;
    r->begin = (uintptr_t)buffer + (uintptr_t)t->true_lb;
    r->end = r->begin + (uintptr_t)(count * t->size);
    return true;
}

/* Index of the first range that begins at `address` or later. */
static size_t place(const ranges *list, uintptr_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->of[middle].begin < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of long buffers only the two ends, so that a message does not take twice the host time. */
static uint64_t digest_of(const range *r)
{
    enum { END = 1024 };
    size_t bytes = r->end - r->begin;
    uint64_t digest = bytes;
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        if (i == END && bytes > 2 * END)
            i = bytes - END;
        memcpy(&word, (const char *)r->begin + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
        digest ^= digest >> 29;
    }
    return digest;
}

static range *overlapping(const ranges *list, const range *r)
{
    uintptr_t first = r->begin > list->longest ? r->begin - list->longest : 0;
    for (size_t i = place(list, first); i < list->count && list->of[i].begin < r->end; i++)
        if (list->of[i].end > r->begin)
            return &list->of[i];
    return NULL;
}

static void warn(bool receives, bool other_receives, const range *r, const range *other)
{
    const struct sg_mpi *m = sg_mpi_self();
    uintptr_t from = r->begin > other->begin ? r->begin : other->begin;
    uintptr_t to = r->end < other->end ? r->end : other->end;
    const void *site = other->of != NULL ? other->of->site : m->site;
    char text[300];
    if (!sg_mpi_first_time(m->site, site))
        return;
    snprintf(text, sizeof text, "rank %u: %s at 0x%llx %s %llu bytes that %s at 0x%llx %s", sg_mpi_number(),
             m->call, (unsigned long long)(uintptr_t)m->site, receives ? "receives into" : "sends from",
             (unsigned long long)(to - from), other->of != NULL ? other->of->call : "the same call",
             (unsigned long long)(uintptr_t)site,
             other_receives ? "still receives into" : "still sends from");
    sg_warn(text);
}

static void warn_of_change(const range *r)
{
    const struct sg_mpi *m = sg_mpi_self();
    char text[300];
    if (!sg_mpi_first_time(r->of->site, r->of->site))
        return;
    snprintf(text, sizeof text,
             "rank %u: the buffer of %s at 0x%llx was changed before %s at 0x%llx completed it",
             sg_mpi_number(), r->of->call, (unsigned long long)(uintptr_t)r->of->site, m->call,
             (unsigned long long)(uintptr_t)m->site);
    sg_warn(text);
}

static void check(bool receives, range *r)
{
    const struct sg_buffers *p = pending();
    range *other = overlapping(&p->receives, r);
    bool other_receives = other != NULL;
    if (other == NULL && receives)
        other = overlapping(&p->sends, r);
    if (other == NULL)
        return;
    warn(receives, other_receives, r, other);
    other->shared = r->shared = true;
}

void sg_pending_check(bool receives, const void *buffer, int64_t count, const sg_type *type)
{
    range r = {0};
    if (range_of(buffer, count, type, &r))
        check(receives, &r);
}

void sg_pending_apart(const void *out, int64_t out_count, const sg_type *sent, const void *in,
                      int64_t in_count, const sg_type *got)
{
    range a = {0}, b = {0};
    if (!range_of(out, out_count, sent, &a) || !range_of(in, in_count, got, &b))
        return;
    if (a.begin < b.end && b.begin < a.end)
        warn(true, false, &b, &a);
}

void sg_pending_add(const sg_request *r)
{
    struct sg_buffers *p = pending();
    bool receives = r->kind == SG_REQUEST_RECEIVE;
    ranges *list = receives ? &p->receives : &p->sends;
    range own = {.of = r};
    if (!range_of(r->buffer, r->count, r->type, &own))
        return;
    own.digest = digest_of(&own);
    check(receives, &own);
    if (receives) /* changes show up on completion */
        sg_watch_begin(r, r->buffer, r->count, r->type, true, false, "MPI_Wait or MPI_Test");
    if (list->count == list->room) {
        list->room = list->room > 0 ? 2 * list->room : 8;
        list->of = sg_mpi_resize(list->of, list->room * sizeof *list->of);
    }
    size_t at = place(list, own.begin);
    memmove(&list->of[at + 1], &list->of[at], (list->count++ - at) * sizeof own);
    list->of[at] = own;
    if (own.end - own.begin > list->longest)
        list->longest = own.end - own.begin;
}

void sg_pending_remove(const sg_request *r)
{
    struct sg_buffers *p = pending();
    ranges *list = r->kind == SG_REQUEST_RECEIVE ? &p->receives : &p->sends;
    range own = {.of = r};
    if (r->kind == SG_REQUEST_RECEIVE)
        sg_watch_end(sg_rank_self(), r);
    if (list->count == 0 || !range_of(r->buffer, r->count, r->type, &own))
        return;
    size_t at = place(list, own.begin);
    while (at < list->count && list->of[at].begin == own.begin && list->of[at].of != r)
        at++;
    if (at == list->count || list->of[at].of != r)
        return;
    const range *found = &list->of[at];
    bool cancelled = r->cancelled || (r->receive != NULL && r->receive->cancelled);
    if (!found->shared && !cancelled && digest_of(found) != found->digest)
        warn_of_change(found);
    memmove(&list->of[at], &list->of[at + 1], (--list->count - at) * sizeof own);
}

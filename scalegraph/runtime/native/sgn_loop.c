/* Loops of a team under schedules. A team may be in several at once, because members need not wait at the end
 * of a nowait loop: the n-th loop of one member is the n-th loop of the others. */
#include <inttypes.h>
#include <omp.h>
#include <sched.h>
#include <stdlib.h>

#include "sgn.h"

struct sgn_record {
    sgn_record *next;
    uint64_t number; /* of the loop in its team */
    const schedule *schedule;
    schedule_loop loop;
    sgn_memory *memory;
    uint64_t start, end, step;
    uint32_t finished, left; /* members that found no more iterations, and that have left */
    uint64_t given;          /* iterations */
    bool ordered;
    uint64_t turn; /* ordered: all iterations before this one are done */
};

/* The thread outside any team, which may still reach worksharing loops. */
static _Thread_local sgn_team alone_team __attribute__((tls_model("initial-exec")));
static _Thread_local sgn_member alone __attribute__((tls_model("initial-exec")));
static _Thread_local sgn_member *current __attribute__((tls_model("initial-exec")));

sgn_member *sgn_self(void)
{
    uint32_t members = (uint32_t)omp_get_num_threads();
    if (current == NULL && members == 1) {
        alone = (sgn_member){.team = &alone_team, .members = 1};
        current = &alone;
    }
    return current != NULL && current->members == members ? current : NULL;
}

sgn_member *sgn_in_loop(void)
{
    return current != NULL && current->record != NULL ? current : NULL;
}

sgn_member *sgn_become(sgn_member *member)
{
    sgn_member *before = current;
    current = member;
    return before;
}

/* The team's lock is held. */
static sgn_record *open_record(const sgn_member *m, const sgn_loop *wanted, uint64_t number)
{
    const sg_chosen *chosen = wanted->chosen;
    sgn_record *r = sg_new(sizeof *r);
    r->number = number;
    r->schedule = chosen->schedule;
    r->start = wanted->start;
    r->end = wanted->end;
    r->step = wanted->step;
    r->ordered = wanted->ordered;
    r->loop = (schedule_loop){.iterations = wanted->total,
                              .members = m->members,
                              .chunk = wanted->chunk,
                              .line_words = SGN_LINE_WORDS,
                              .host = &sgn_host};
    sg_schedules_values(chosen, &r->loop);
    r->memory = sgn_memory_take(&r->loop, r->schedule, wanted->site);
    if (r->schedule->begin != NULL)
        r->schedule->begin(&r->loop);
    r->next = m->team->records;
    m->team->records = r;
    return r;
}

void sgn_begin(sgn_member *m, const sgn_loop *loop)
{
    sgn_team *team = m->team;
    uint64_t number = m->loops++;
    sgn_acquire(&team->lock);
    sgn_record *r = team->records;
    while (r != NULL && r->number != number)
        r = r->next;
    if (r == NULL)
        r = open_record(m, loop, number);
    sgn_release(&team->lock);
    m->record = r;
    m->self = (schedule_member){.number = m->number};
    m->left = m->running = m->given = 0;
    m->finished = false;
    if (r->schedule->enter != NULL)
        r->schedule->enter(&r->loop, &m->self);
}

static void finish(sgn_member *m)
{
    sgn_record *r = m->record;
    m->finished = true;
    __atomic_fetch_add(&r->given, m->given, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&r->finished, 1, __ATOMIC_ACQ_REL) < r->loop.members)
        return;
    if (r->schedule->end != NULL)
        r->schedule->end(&r->loop);
    uint64_t given = __atomic_load_n(&r->given, __ATOMIC_RELAXED);
    if (given != r->loop.iterations)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the schedule %s gave %" PRIu64 " of the %" PRIu64 " iterations of a loop", r->schedule->name,
                given, r->loop.iterations);
}

static bool take(sgn_member *m)
{
    sgn_record *r = m->record;
    schedule_chunk *c = &m->chunk;
    if (!r->schedule->next(&r->loop, &m->self, c))
        return false;
    uint64_t n = r->loop.iterations;
    if (c->count == 0 || c->step == 0 || c->first >= n || (c->count - 1) > (n - 1 - c->first) / c->step)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the schedule %s gave %" PRIu64 " iterations from %" PRIu64 " on, step %" PRIu64
                ", of a loop of %" PRIu64,
                r->schedule->name, c->count, c->first, c->step, n);
    sgn_memory_see(r->memory, c);
    m->position = c->first;
    m->left = c->count;
    m->given += c->count;
    return true;
}

/* The member's first iteration. */
static uint64_t first_of(const sgn_member *m)
{
    return m->position - m->chunk.step;
}

void sgn_wait_turn(const sgn_member *m)
{
    for (unsigned tries = 1; __atomic_load_n(&m->record->turn, __ATOMIC_ACQUIRE) != first_of(m); tries++)
        if (tries % SGN_SPINS == 0)
            sched_yield();
}

/* Also waits for iterations that skip their ordered region, as libgomp does. */
static void pass_turn(const sgn_member *m)
{
    sgn_wait_turn(m);
    __atomic_store_n(&m->record->turn, first_of(m) + m->running, __ATOMIC_RELEASE);
}

bool sgn_next(sgn_member *m, uint64_t *from, uint64_t *to)
{
    sgn_record *r = m->record;
    const schedule_chunk *c = &m->chunk;
    bool learns = r->schedule->done != NULL;
    if (m->finished)
        return false;
    if (m->running > 0 && r->ordered)
        pass_turn(m);
    if (m->running > 0 && learns)
        r->schedule->done(&r->loop, &m->self, c, m->running, sgn_ticks() - m->since);
    m->running = 0;
    if (m->left == 0 && !take(m)) {
        finish(m);
        return false;
    }
    m->running = c->single || c->step != 1 ? 1 : c->count;
    uint64_t last = m->position + m->running;
    *from = r->start + m->position * r->step;
    *to = last == r->loop.iterations ? r->end : r->start + last * r->step;
    m->position += c->step;
    m->left -= m->running;
    if (learns)
        m->since = sgn_ticks();
    return true;
}

static void close_record(sgn_record *r)
{
    sgn_memory_give(r->memory, r->finished == r->loop.members);
    free(r);
}

void sgn_leave(sgn_member *m)
{
    sgn_team *team = m->team;
    sgn_record *r = m->record;
    m->record = NULL;
    sgn_acquire(&team->lock);
    bool last = ++r->left == r->loop.members;
    if (last) {
        sgn_record **at = &team->records;
        while (*at != r)
            at = &(*at)->next;
        *at = r->next;
    }
    sgn_release(&team->lock);
    if (last)
        close_record(r);
}

void sgn_disband(sgn_team *team)
{
    for (sgn_record *r = team->records, *next; r != NULL; r = next) {
        next = r->next;
        close_record(r); /* of a cancelled region */
    }
}

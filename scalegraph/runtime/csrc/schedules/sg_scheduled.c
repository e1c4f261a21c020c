/* A loop under a schedule: its memory in the simulated machine, and handing out the chunks. */
#include <inttypes.h>
#include <string.h>

#include "sg_schedules.h"
#include "sg_sync.h"

/* Memory of one loop and team size, reused by later executions. */
struct sg_loop_memory {
    sg_loop_memory *next;
    const void *site;
    const sg_rank *rank;
    const schedule *schedule;
    uint32_t members;
    uint64_t iterations; /* of the previous execution */
    uint64_t executions;
    uint32_t shared_words, area_words; /* allocated room */
    uint64_t numbers;                  /* number of entries below: */
    int64_t *number;                   /* the shared ones, then each member's */
    uint64_t *lock;        /* sg_lock of the number at the same index; NULL before its first use */
    uint64_t shared, area; /* addresses in the simulated machine */
    uint64_t stride;       /* between the members' areas there: whole pages */
    uint64_t *seen;        /* bit set of iterations handed out by a user's own schedule */
    uint64_t seen_words;
};

enum { MOST_SEEN = 1 << 28 }; /* for longer loops only the number of iterations is checked */

static sg_loop_memory *spare = NULL;

/* ---- the memory in the simulated machine ---- */

static uint64_t address_of(const sg_scheduled *s, const int64_t *at)
{
    const sg_loop_memory *m = s->memory;
    if (m == NULL)
        return s->address;
    uint64_t i = (uint64_t)(at - m->number);
    if (i < m->shared_words)
        return m->shared + i * sizeof(int64_t);
    i -= m->shared_words;
    return m->area + i / m->area_words * m->stride + i % m->area_words * sizeof(int64_t);
}

static const sg_scheduled *of(const schedule_loop *loop)
{
    return (const sg_scheduled *)((const char *)loop - offsetof(sg_scheduled, loop));
}

static void touch(schedule_loop *loop, const int64_t *at, enum sg_access kind)
{
    sg_touch(sg_now, address_of(of(loop), at), kind, SG_CATEGORY_PRIM_SCHEDULE);
}

static int64_t host_read(schedule_loop *loop, const int64_t *at)
{
    touch(loop, at, SG_READ);
    return *at;
}

static void host_write(schedule_loop *loop, int64_t *at, int64_t value)
{
    touch(loop, at, SG_WRITE);
    *at = value;
}

static int64_t host_add(schedule_loop *loop, int64_t *at, int64_t value)
{
    touch(loop, at, SG_RMW);
    sg_branch_await(sg_now);
    int64_t before = *at;
    *at = before + value;
    return before;
}

static int64_t host_apply(schedule_loop *loop, int64_t *at, int64_t (*function)(int64_t, const void *),
                          const void *argument)
{
    touch(loop, at, SG_RMW);
    sg_branch_await(sg_now);
    int64_t before = *at;
    *at = function(before, argument);
    return before;
}

static sg_lock *lock_of(const schedule_loop *loop, const int64_t *at)
{
    const sg_scheduled *s = of(loop);
    uint64_t *lock = &s->memory->lock[at - s->memory->number];
    if (*lock == 0)
        *lock = (uint64_t)(uintptr_t)sg_lock_new(address_of(s, at));
    return (sg_lock *)(uintptr_t)*lock;
}

static void host_lock(schedule_loop *loop, int64_t *at)
{
    const sg_account *account = sg_now->account;
    const uint64_t *waited = &account->rest.categories[SG_CATEGORY_IDLE_LOCK], before = *waited;
    sg_lock_spin(lock_of(loop, at), SG_CATEGORY_PRIM_SCHEDULE, SG_CATEGORY_IDLE_LOCK);
    if (sg_now->account == account)
        sg_self()->turn.spent.lock += *waited - before;
}

static void host_unlock(schedule_loop *loop, int64_t *at)
{
    sg_lock_unspin(lock_of(loop, at), SG_CATEGORY_PRIM_SCHEDULE);
}

static void host_work(schedule_loop *loop, uint64_t instructions)
{
    (void)loop;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_SCHEDULE, instructions);
}

static uint64_t host_clock(schedule_loop *loop)
{
    (void)loop;
    return sg_now->clock;
}

static const schedule_host host = {.read = host_read,
                                   .write = host_write,
                                   .add = host_add,
                                   .apply = host_apply,
                                   .lock = host_lock,
                                   .unlock = host_unlock,
                                   .work = host_work,
                                   .clock = host_clock};

/* ---- memory of a loop ---- */

static uint32_t words(uint32_t (*count)(const schedule_loop *), const schedule_loop *loop)
{
    uint32_t wanted = count != NULL ? count(loop) : 0;
    return (wanted + loop->line_words - 1) / loop->line_words * loop->line_words;
}

static sg_loop_memory *make_memory(const sg_scheduled *s, uint32_t shared_words, uint32_t area_words)
{
    const schedule_loop *loop = &s->loop;
    uint64_t line = sg_line_bytes(), page = sg->config.page_bytes;
    sg_loop_memory *m = sg_new(sizeof *m);
    m->numbers = shared_words + (uint64_t)loop->members * area_words;
    m->shared_words = shared_words;
    m->area_words = area_words > 0 ? area_words : 1;
    m->number = sg_new(m->numbers * sizeof *m->number);
    m->lock = sg_new(m->numbers * sizeof *m->lock);
    /* whole pages, so that a member's area is local to the member that first touches it */
    m->stride = (area_words * sizeof(int64_t) + page - 1) / page * page;
    m->shared = sg_variables_of((shared_words * sizeof(int64_t) + line - 1) / line, SG_OWN_LOOP);
    uint64_t bytes = loop->members * m->stride + page;
    m->area = area_words > 0 ? sg_variables_of((bytes + line - 1) / line, SG_OWN_LOOP) : 0;
    m->area = (m->area + page - 1) / page * page;
    return m;
}

static sg_loop_memory *get_memory(const sg_scheduled *s, uint32_t shared_words, uint32_t area_words,
                                  const void *site)
{
    const schedule_loop *loop = &s->loop;
    for (sg_loop_memory **at = &spare; *at != NULL; at = &(*at)->next) {
        sg_loop_memory *m = *at;
        if (m->site == site && m->rank == sg_self()->rank && m->schedule == s->schedule &&
            m->members == loop->members && m->shared_words == shared_words && m->area_words >= area_words) {
            *at = m->next;
            return m;
        }
    }
    sg_loop_memory *m = make_memory(s, shared_words, area_words);
    m->site = site;
    m->rank = sg_self()->rank;
    m->schedule = s->schedule;
    m->members = loop->members;
    return m;
}

/* What was learned does not apply to the next execution. */
static void forget(sg_loop_memory *m)
{
    memset(m->number, 0, m->numbers * sizeof *m->number);
    m->executions = 0;
}

static void clear_seen(sg_loop_memory *m, uint64_t iterations)
{
    uint64_t words = iterations < MOST_SEEN ? iterations / 64 + 1 : 0;
    if (m->seen_words < words) {
        m->seen = sg_new(words * sizeof *m->seen);
        m->seen_words = words;
    }
    for (uint64_t i = 0; i < words; i++)
        m->seen[i] = 0;
}

static void see(const sg_scheduled *s, const schedule_chunk *c)
{
    uint64_t *seen = s->memory->seen;
    for (uint64_t i = 0, at = c->first; i < c->count; i++, at += c->step) {
        if (seen[at / 64] >> at % 64 & 1)
            sg_stop(SG_STATUS_UNSUPPORTED, "the schedule %s gave iteration %" PRIu64 " of a loop twice",
                    s->schedule->name, at);
        seen[at / 64] |= 1ull << at % 64;
    }
}

/* ---- one execution ---- */

void sg_scheduled_open(sg_scheduled *s, const sg_chosen *chosen, uint64_t chunk, uint64_t iterations,
                       uint32_t members, uint64_t line, const void *site)
{
    const schedule *schedule = chosen->schedule;
    *s = (sg_scheduled){.schedule = schedule, .chosen = chosen, .site = site, .address = line};
    schedule_loop *loop = &s->loop;
    *loop = (schedule_loop){.iterations = iterations,
                            .members = members,
                            .chunk = chunk,
                            .shared = s->line,
                            .line_words = (uint32_t)(sg_line_bytes() / sizeof(int64_t)),
                            .host = &host};
    sg_schedules_values(chosen, loop);
    uint32_t shared_words = words(schedule->shared_words, loop),
             area_words = words(schedule->member_words, loop);
    bool own = sg_schedules_is_own(schedule);
    if (shared_words + area_words == 0 && !own)
        return;
    if (shared_words == 0)
        shared_words = loop->line_words;
    sg_loop_memory *m = s->memory = get_memory(s, shared_words, area_words, site);
    if (m->iterations != iterations) { /* another loop */
        forget(m);
        m->iterations = iterations;
    }
    if (schedule->shared_words == NULL)
        m->number[0] = 0; /* a number specific to this execution */
    if (own)
        clear_seen(m, iterations);
    loop->executions = m->executions++;
    loop->shared = m->number;
    loop->area = m->number + m->shared_words;
    loop->area_words = m->area_words;
}

static void give_back(sg_scheduled *s)
{
    if (s->memory != NULL) {
        s->memory->next = spare;
        spare = s->memory;
        s->memory = NULL;
    }
}

__attribute__((noinline)) void sg_turn_reset(sg_loop_turn *turn)
{
    *turn = (sg_loop_turn){.left = 0};
}

void sg_scheduled_close(sg_scheduled *s)
{
    sg_loop_memory *m = s->memory;
    if (m != NULL) /* cancelled: the schedule has not written what the next execution reads */
        forget(m);
    give_back(s);
    s->open = false;
}

static void finish(sg_scheduled *s, sg_loop_turn *turn)
{
    bool last = ++s->finished == s->loop.members;
    if (last && s->schedule->end != NULL)
        s->schedule->end(&s->loop);
    turn->spent.asking += sg_now->clock - turn->asked;
    turn->spent.end = turn->asked;
    sg_observe_loop(SG_LOOP_LEFT, s, turn);
    if (!last)
        return;
    if (s->given != s->loop.iterations)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the schedule %s gave %" PRIu64 " of the %" PRIu64 " iterations of a loop", s->schedule->name,
                s->given, s->loop.iterations);
    give_back(s);
}

/* Takes iterations by the schedule; false: none are left for this member. */
static bool take(sg_scheduled *s, sg_loop_turn *turn)
{
    schedule_chunk *c = &turn->chunk;
    if (!s->schedule->next(&s->loop, &turn->member, c))
        return false;
    uint64_t n = s->loop.iterations;
    if (c->count == 0 || c->step == 0 || c->first >= n || (c->count - 1) > (n - 1 - c->first) / c->step)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the schedule %s gave %" PRIu64 " iterations from %" PRIu64 " on, step %" PRIu64
                ", of a loop of %" PRIu64,
                s->schedule->name, c->count, c->first, c->step, n);
    turn->position = c->first;
    turn->left = c->count;
    if (s->memory != NULL && s->memory->seen != NULL && n < MOST_SEEN)
        see(s, c);
    s->given += c->count;
    sg_count(sg_now, SG_COUNTER_CHUNKS, 1);
    sg_observe_marks(SG_MARK_CHUNK, c->count);
    sg_observe_loop(SG_LOOP_TAKEN, s, turn);
    return true;
}

/* Waits while another member writes the schedule's initial numbers, which takes time: before that, the
 * previous execution's numbers would be used. */
static void wait_for_begin(sg_scheduled *s, sg_loop_turn *turn)
{
    const sg_processor *p = sg_now;
    uint64_t from = p->clock;
    while (!s->begun) {
        sg_queue_add(&s->waiting, sg_self());
        sg_suspend(SG_CATEGORY_IDLE_LOCK, s->address, -1);
    }
    if (sg_now == p)
        turn->spent.lock += p->clock - from;
}

static void enter(sg_scheduled *s, sg_loop_turn *turn, uint32_t number)
{
    turn->entered = true;
    turn->member.number = number;
    if (!s->open) {
        s->open = true;
        sg_observe_loop(SG_LOOP_OPENS, s, turn);
        if (s->schedule->begin != NULL)
            s->schedule->begin(&s->loop);
        s->begun = true;
        sg_wake_all(&s->waiting, sg_now->clock);
    } else if (!s->begun) {
        wait_for_begin(s, turn);
    }
    if (s->schedule->enter != NULL)
        s->schedule->enter(&s->loop, &turn->member);
}

/* ---- cost ---- */

static uint64_t stalls_of(const sg_processor *p)
{
    uint64_t sum = 0;
    for (uint32_t region = 0; region < p->accounts_size; region++)
        for (unsigned k = 0; p->accounts[region] != NULL && k < SG_STALLS; k++)
            sum += p->accounts[region]->stall[k];
    return sum;
}

/* The thread asks again: its iterations are done. */
static void note_done(sg_scheduled *s, sg_loop_turn *turn)
{
    if (turn->running == 0)
        return;
    turn->spent.body += turn->asked - turn->since;
    if (turn->on == sg_now)
        turn->spent.stall += stalls_of(sg_now) - turn->stalled;
    if (turn->left > 0)
        return;
    turn->spent.end = turn->asked;
    sg_observe_loop(SG_LOOP_DONE, s, turn);
    turn->spent = (sg_chunk_spent){.begin = 0};
}

/* The thread has got iterations and is about to execute them. */
static void note_given(sg_loop_turn *turn)
{
    turn->since = sg_now->clock;
    turn->spent.asking += turn->since - turn->asked;
    if (turn->spent.begin == 0)
        turn->spent.begin = turn->since;
    turn->stalled = stalls_of(sg_now);
    turn->on = sg_now;
}

bool sg_scheduled_next(sg_scheduled *s, uint32_t number, uint64_t *first, uint64_t *last)
{
    sg_loop_turn *turn = &sg_self()->turn;
    schedule_chunk *c = &turn->chunk;
    if (turn->finished)
        return false;
    note_done(s, turn);
    if (!turn->entered)
        enter(s, turn, number);
    if (turn->running > 0 && s->schedule->done != NULL)
        s->schedule->done(&s->loop, &turn->member, c, turn->running, sg_now->clock - turn->since);
    turn->running = 0;
    if (turn->left == 0 && !take(s, turn)) {
        turn->finished = true;
        finish(s, turn);
        return false;
    }
    bool single = c->single || c->step != 1;
    turn->running = single ? 1 : c->count;
    *first = turn->position;
    *last = *first + turn->running;
    turn->position += c->step;
    turn->left -= turn->running;
    note_given(turn);
    return true;
}

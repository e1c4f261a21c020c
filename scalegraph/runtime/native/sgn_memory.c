/* The memory of loops on the real computer: kept by loop, schedule and number of members, as in the
 * simulator. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sgn.h"

enum { MOST_SEEN = 1 << 28 }; /* for longer loops only the number of iterations is checked */

static int64_t lock;
static sgn_memory *spare;

static uint32_t words(uint32_t (*count)(const schedule_loop *), const schedule_loop *loop)
{
    uint32_t wanted = count != NULL ? count(loop) : 0;
    return (wanted + SGN_LINE_WORDS - 1) / SGN_LINE_WORDS * SGN_LINE_WORDS;
}

static size_t numbers(const sgn_memory *m)
{
    return m->shared_words + (size_t)m->members * m->area_words;
}

static sgn_memory *find(const sgn_memory *wanted)
{
    sgn_memory *found = NULL;
    sgn_acquire(&lock);
    for (sgn_memory **at = &spare; *at != NULL && found == NULL;) {
        sgn_memory *m = *at;
        if (m->site == wanted->site && m->schedule == wanted->schedule && m->members == wanted->members &&
            m->shared_words == wanted->shared_words && m->area_words >= wanted->area_words) {
            *at = m->next;
            found = m;
        } else {
            at = &m->next;
        }
    }
    sgn_release(&lock);
    return found;
}

static void clear_seen(sgn_memory *m)
{
    uint64_t wanted = m->iterations < MOST_SEEN ? m->iterations / 64 + 1 : 0;
    if (m->seen_words < wanted) {
        free((void *)m->seen);
        m->seen = sg_new(wanted * sizeof *m->seen);
        m->seen_words = wanted;
    }
    for (uint64_t i = 0; i < wanted; i++)
        atomic_store_explicit(&m->seen[i], 0, memory_order_relaxed);
}

sgn_memory *sgn_memory_take(schedule_loop *loop, const schedule *schedule, const void *site)
{
    uint32_t shared = words(schedule->shared_words, loop), area = words(schedule->member_words, loop);
    sgn_memory wanted = {.site = site,
                         .schedule = schedule,
                         .members = loop->members,
                         .shared_words = shared > 0 ? shared : SGN_LINE_WORDS,
                         .area_words = area > 0 ? area : SGN_LINE_WORDS,
                         .iterations = loop->iterations};
    sgn_memory *m = find(&wanted);
    if (m == NULL) {
        m = sg_new(sizeof *m);
        *m = wanted;
        m->number = sg_new(numbers(m) * sizeof *m->number);
    } else if (m->iterations != loop->iterations) { /* another loop: what was learned does not apply */
        memset(m->number, 0, numbers(m) * sizeof *m->number);
        m->executions = 0;
        m->iterations = loop->iterations;
    }
    if (schedule->shared_words == NULL)
        m->number[0] = 0; /* a number specific to this execution */
    if (sg_schedules_is_own(schedule))
        clear_seen(m);
    loop->executions = m->executions++;
    loop->shared = m->number;
    loop->area = m->number + m->shared_words;
    loop->area_words = m->area_words;
    return m;
}

void sgn_memory_give(sgn_memory *m, bool whole)
{
    if (!whole) {
        memset(m->number, 0, numbers(m) * sizeof *m->number);
        m->executions = 0;
    }
    sgn_acquire(&lock);
    m->next = spare;
    spare = m;
    sgn_release(&lock);
}

void sgn_memory_see(sgn_memory *m, const schedule_chunk *c)
{
    if (m->seen == NULL || m->iterations >= MOST_SEEN)
        return;
    for (uint64_t i = 0, at = c->first; i < c->count; i++, at += c->step) {
        uint64_t bit = 1ull << at % 64;
        if (atomic_fetch_or_explicit(&m->seen[at / 64], bit, memory_order_relaxed) & bit)
            sg_stop(SG_STATUS_UNSUPPORTED, "the schedule %s gave iteration %" PRIu64 " of a loop twice",
                    m->schedule->name, at);
    }
}

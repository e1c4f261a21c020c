/* Waiting at an address, or until a time. */
#include <math.h>

#include "sg_posix.h"
#include "sg_table.h"

/* ---- queues by address; they are never removed ---- */

sg_queue *sg_futex_queue(const void *address)
{
    sg_table_entry *entry = sg_table_make(&sg->futexes, (uint64_t)(uintptr_t)address, 64);
    if (entry->pointer == NULL)
        entry->pointer = sg_new(sizeof(sg_queue));
    return entry->pointer;
}

bool sg_grant(sg_queue *queue)
{
    sg_thread *t = sg_queue_take(queue);
    if (t == NULL)
        return false;
    t->granted = true;
    if (t->state == SG_BLOCKED)
        sg_wake(t, sg_now->clock);
    return true;
}

bool sg_wait_granted(enum sg_category category, uint64_t object, uint64_t deadline)
{
    sg_thread *self = sg_self();
    if (!self->granted)
        sg_suspend_until(category, object, -1, deadline);
    return self->granted;
}

/* ---- deadlines ---- */

static uint64_t to_clock(double ns)
{
    double cycles = ceil(ns * sg->config.clock_hz / 1e9);
    return cycles < 0 ? 0 : cycles > 1e15 ? SG_NEVER : (uint64_t)cycles;
}

/* No run is long enough for a running clock to reach the date, so the value itself tells which clock it is
 * from. */
uint64_t sg_deadline(const struct timespec *time)
{
    time_t seconds = time->tv_sec >= SG_DATE_S ? time->tv_sec - SG_DATE_S : time->tv_sec;
    uint64_t clock = to_clock((double)seconds * 1e9 + (double)time->tv_nsec);
    int64_t ahead = sg_clock_ahead();
    if (ahead == 0 || clock == SG_NEVER)
        return clock;
    int64_t left = (int64_t)clock - ahead; /* the program's clocks are ahead of the simulator's */
    return left > 0 ? (uint64_t)left : 0;
}

uint64_t sg_deadline_in(const struct timespec *duration)
{
    uint64_t cycles = to_clock((double)duration->tv_sec * 1e9 + (double)duration->tv_nsec);
    return cycles == SG_NEVER ? SG_NEVER : sg_now->clock + cycles;
}

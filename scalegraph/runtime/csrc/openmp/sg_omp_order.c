/* The order of iterations: `ordered` regions. */
#include "sg_omp.h"

/* ---- ordered ---- */

/* Waits until all chunks before that of `t` are done. */
static void ordered_wait(sg_thread *t, sg_work *work)
{
    if (!work->ordered || !t->in_ordered)
        return;
    sg_touch(sg_now, work->address, SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    while (work->ordered_turn != t->ordered_chunk) {
        sg_queue_add(&work->ordered_waiting, t);
        sg_suspend(SG_CATEGORY_IDLE_ORDER, work->address, -1);
        sg_touch(sg_now, work->address, SG_READ, SG_CATEGORY_PRIM_SCHEDULE);
    }
}

void sg_order_pass(sg_thread *t, sg_work *work, uint64_t last)
{
    if (!work->ordered || !t->in_ordered)
        return;
    ordered_wait(t, work);
    sg_touch(sg_now, work->address, SG_WRITE, SG_CATEGORY_PRIM_SCHEDULE);
    work->ordered_turn = last;
    t->in_ordered = false;
    sg_wake_all(&work->ordered_waiting, sg_now->clock);
}

SG_API void GOMP_ordered_start(void)
{
    sg_thread *t = sg_member(SG_CALLER);
    ordered_wait(t, t->work);
}

SG_API void GOMP_ordered_end(void)
{
}

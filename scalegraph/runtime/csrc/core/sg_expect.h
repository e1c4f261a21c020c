/* What a switch prefetches into the host's cache, one switch ahead. Private to sg_sched.c. */
#ifndef SG_EXPECT_H
#define SG_EXPECT_H

#include "sg_branch_state.h"
#include "sg_run_queue.h"

/* Ranks suspend themselves deep in the library and share nothing, so all of a rank's state is cold. */
static inline void expect_rank(const sg_coroutine *next)
{
    const char *stack = next->stack_pointer, *needs = next->needs, *thread = (const char *)next->thread;
    const char *account = (const char *)next->account;
    for (int line = 3; line < 12; line++)
        __builtin_prefetch(stack + 64 * line, 1);
    for (int line = 0; line < 3; line++) {
        __builtin_prefetch(thread + 64 * line, 1);
        __builtin_prefetch(needs + 64 * line, 1);
        __builtin_prefetch(account + 64 * line, 1);
    }
}

/* What must be read of a processor before its other needs are known; two switches ahead. */
static SG_ASKS void expect_second(uint64_t next)
{
    uint64_t id = next < SG_TIMER ? sg_run_queue_after((uint32_t)next) : UINT64_MAX;
    if (id >= SG_TIMER)
        return;
    const char *processor = (const char *)&sg->processor[id];
    __builtin_prefetch(&sg->coroutine[id], 1);
    __builtin_prefetch(processor, 1);
    __builtin_prefetch(processor + 64, 1);
    sg_branch_expect_second((uint32_t)id);
}

/* The processor after the next one is known now, and its memory will be cold: prefetches its account, its
 * stack, and what its pending reference will look up. Returns it if it has a pending reference. */
static const sg_coroutine *expect_next(void)
{
    uint64_t id = sg_run_queue_next();
    if (id >= SG_TIMER) /* a timed wait, or none */
        return NULL;
    const sg_coroutine *next = &sg->coroutine[id];
    const char *stack = next->stack_pointer, *account = (const char *)next->account;
    expect_second(id);
    __builtin_prefetch(stack, 1);
    __builtin_prefetch(stack + 64, 1);
    __builtin_prefetch(stack + 128, 1);
    sg_branch_expect(&sg->processor[id]);
    if (sg->ranks != 0)
        expect_rank(next);
    __builtin_prefetch(account, 1);
    __builtin_prefetch(account + 64, 1);
    __builtin_prefetch(account + 128, 1);
    if (next->pending.address == 0)
        return NULL;
    sg_mem_expect(sg->mem, (uint32_t)id, next->pending.address);
    return next;
}

/* What expect_next prefetched has arrived and shows what else the reference of `next` will look up. */
static inline void expect_shared(const sg_coroutine *next)
{
    if (next != NULL)
        sg_mem_expect_shared(sg->mem, (uint32_t)(next - sg->coroutine), next->pending.address);
}

#endif

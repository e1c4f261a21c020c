/* Waiting for the first of several sends and receives. */
#include <stdlib.h>

#include "sg_message.h"

static const sg_completion *earlier(const sg_completion *a, const sg_completion *b)
{
    return a == NULL || b->clock < a->clock ? b : a;
}

/* The completion with the earliest clock. */
static const sg_completion *first_of(sg_send *const *sends, size_t send_count, sg_receive *const *receives,
                                     size_t receive_count)
{
    const sg_completion *first = NULL;
    for (size_t i = 0; i < send_count; i++)
        first = earlier(first, &sends[i]->completion);
    for (size_t i = 0; i < receive_count; i++)
        first = earlier(first, &receives[i]->completion);
    return first;
}

/* Sleeps until one completion is known, and returns it; its clock is 0 if another thread has already finished
 * it. `known`, if not NULL, is the earliest completion already known. */
static sg_completion sleep_for(sg_send *const *sends, size_t send_count, sg_receive *const *receives,
                               size_t receive_count, const sg_completion *known)
{
    const sg_completion *first = NULL;
    size_t count = send_count + receive_count;
    sg_waiter *own = sg_message_memory((count + 1) * sizeof *own);
    for (size_t i = 0; i < send_count; i++)
        sg_waiter_add(&sends[i]->waiters, &own[i]);
    for (size_t i = 0; i < receive_count; i++)
        sg_waiter_add(&receives[i]->waiters, &own[send_count + i]);
    /* sg_completion_wake records the partner */
    sg_completion_suspend_any(known);
    for (size_t i = 0; i < count; i++) {
        if (own[i].list == NULL)
            continue;
        first =
            earlier(first, i < send_count ? &sends[i]->completion : &receives[i - send_count]->completion);
        sg_waiter_remove(&own[i]);
    }
    free(own);
    return first != NULL && first->clock != SG_NEVER ? *first : (sg_completion){0};
}

/* Waits until at least one is complete: the first to become known. */
static void wait_any(sg_send *const *sends, size_t send_count, sg_receive *const *receives,
                     size_t receive_count, bool listed)
{
    bool before = sg_rank_go_away(); /* the lists are the library's own */
    sg_turn_of_all(sg_now);
    const sg_completion *first = first_of(sends, send_count, receives, receive_count);
    sg_completion known = {0}; /* a copy: another thread may take what is complete */
    if (first != NULL && first->clock != SG_NEVER)
        known = *first;
    else if (first != NULL || listed)
        known = sleep_for(sends, send_count, receives, receive_count, NULL);
    sg_completion_wait(&known);
    sg_rank_return(before);
}

/* On a SIMD machine, elements learn of messages only on arrival. */
void sg_message_wait_first(sg_send *const *sends, size_t send_count, sg_receive *const *receives,
                           size_t receive_count, bool listed)
{
    sg_thread *self = sg_self();
    bool before = sg_rank_go_away();
    sg_turn_of_all(sg_now);
    const sg_completion *first = first_of(sends, send_count, receives, receive_count);
    if (sg->lockstep || (first == NULL && !listed)) {
        wait_any(sends, send_count, receives, receive_count, listed);
    } else if (first == NULL || first->clock > sg_now->clock) {
        self->for_first = true;
        sleep_for(sends, send_count, receives, receive_count,
                  first != NULL && first->clock != SG_NEVER ? first : NULL);
        self->for_first = false;
    }
    sg_rank_return(before);
}

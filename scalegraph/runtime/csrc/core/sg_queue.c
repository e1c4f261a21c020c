/* Queues of waiting threads. */
#include "sg_runtime.h"

void sg_queue_add(sg_queue *queue, sg_thread *t)
{
    if (SG_UNLIKELY(t->queue != NULL))
        sg_stop(SG_STATUS_INTERNAL, "thread %u waits in two queues", t->id);
    t->next_waiting = NULL;
    t->granted = false;
    t->queue = queue;
    if (queue->tail != NULL)
        queue->tail->next_waiting = t;
    else
        queue->head = t;
    queue->tail = t;
}

void sg_queue_remove(sg_thread *t)
{
    sg_queue *queue = t->queue;
    if (queue == NULL)
        return;
    sg_thread *before = NULL;
    if (queue->head != t)
        for (before = queue->head; before->next_waiting != t;)
            before = before->next_waiting;
    if (before == NULL)
        queue->head = t->next_waiting;
    else
        before->next_waiting = t->next_waiting;
    if (queue->tail == t)
        queue->tail = before;
    t->queue = NULL;
}

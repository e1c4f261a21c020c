/* Wakes all threads in a queue. */
#include "sg_runtime.h"

void sg_wake_all(sg_queue *queue, uint64_t when)
{
    for (sg_thread *t; (t = sg_queue_take(queue)) != NULL;)
        sg_wake(t, when);
}

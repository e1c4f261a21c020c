/* The observers, in the order of their calls and of their parts in the result file. */
#include "sg_observers.h"

static const sg_observer *const observers[] = {
    &sg_observer_cause,      &sg_observer_class,  &sg_observer_variable, &sg_observer_resource,
    &sg_observer_blame,      &sg_observer_delay,  &sg_observer_part,     &sg_observer_whatif,
    &sg_observer_primitives, &sg_observer_race,   &sg_observer_message,  &sg_observer_loop,
    &sg_observer_loop_lines, &sg_observer_output, &sg_observer_foreign,  &sg_observer_sample,
    &sg_observer_trace, /* last: it may withdraw */
};

#define OBSERVERS (sizeof observers / sizeof *observers)

void sg_observers_open(void)
{
    for (size_t i = 0; i < OBSERVERS; i++) {
        if (observers[i]->open != NULL)
            observers[i]->open();
        if (observers[i]->takes_part == NULL)
            sg_observer_register(observers[i]);
    }
}

void sg_observers_begin(void)
{
    for (size_t i = 0; i < OBSERVERS; i++)
        if (observers[i]->takes_part != NULL && observers[i]->takes_part())
            sg_observer_register(observers[i]);
}

uint32_t sg_observers_parts(const sg_result_part **part, uint32_t most)
{
    uint32_t count = 0;
    for (size_t i = 0; i < OBSERVERS; i++)
        for (uint32_t k = 0; k < observers[i]->parts_count && count < most; k++)
            part[count++] = &observers[i]->parts[k];
    return count;
}

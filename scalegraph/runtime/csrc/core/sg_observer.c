/* Dispatches events to the observers: see sg_observer.h. */
#include "sg_runtime.h"

sg_observed_events sg_observed = {0};

enum { MOST = 8 }; /* observers per event */

/* NULL-terminated lists. */
#define DECLARE_LIST(name, parameters, arguments) void(*name[MOST + 1]) parameters;
static struct {
    SG_OBSERVED_EVENTS(DECLARE_LIST)
} lists = {0};

/* Optimising these for speed took five times as long as everything else in this file. */
#define RARE __attribute__((cold))

#define CALL_ALL(name, parameters, arguments)                                                                \
    static void call_##name parameters                                                                       \
    {                                                                                                        \
        for (void(**observer) parameters = lists.name; *observer != NULL; observer++)                        \
            (*observer) arguments;                                                                           \
    }                                                                                                        \
    RARE static void choose_##name(void)                                                                     \
    {                                                                                                        \
        sg_observed.name = lists.name[0] == NULL || lists.name[1] == NULL ? lists.name[0] : call_##name;     \
    }

SG_OBSERVED_EVENTS(CALL_ALL)

static void refuse(const char *event)
{
    sg_stop(SG_STATUS_INTERNAL, "too many observers of the event '%s'", event);
}

#define ADD_TO_LIST(name, parameters, arguments)                                                             \
    if (observer->name != NULL) {                                                                            \
        uint32_t count = 0;                                                                                  \
        while (count < MOST && lists.name[count] != NULL)                                                    \
            count++;                                                                                         \
        if (count == MOST)                                                                                   \
            refuse(#name);                                                                                   \
        lists.name[count] = observer->name;                                                                  \
        choose_##name();                                                                                     \
    }

#define SET_ANSWER(name, type, parameters)                                                                   \
    if (observer->name != NULL) {                                                                            \
        if (sg_observed.name != NULL)                                                                        \
            refuse(#name);                                                                                   \
        sg_observed.name = observer->name;                                                                   \
    }

RARE void sg_observer_register(const sg_observer *observer){SG_OBSERVED_EVENTS(ADD_TO_LIST)
                                                                SG_OBSERVED_ANSWERS(SET_ANSWER)}

#define TAKE_FROM_LIST(name, parameters, arguments)                                                          \
    for (uint32_t i = 0, kept = 0; i < MOST && observer->name != NULL; i++) {                                \
        void(*one) parameters = lists.name[i];                                                               \
        lists.name[i] = NULL;                                                                                \
        if (one != observer->name)                                                                           \
            lists.name[kept++] = one;                                                                        \
        choose_##name();                                                                                     \
    }

#define TAKE_ANSWER(name, type, parameters)                                                                  \
    if (observer->name != NULL && sg_observed.name == observer->name)                                        \
        sg_observed.name = NULL;

RARE void sg_observer_withdraw(const sg_observer *observer)
{
    SG_OBSERVED_EVENTS(TAKE_FROM_LIST)
    SG_OBSERVED_ANSWERS(TAKE_ANSWER)
}

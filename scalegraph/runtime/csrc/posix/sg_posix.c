/* A thread's state as the program sees it, and the setup of new threads. */
#include "sg_posix.h"

void *sg_main_values[SG_KEYS] = {0};

sg_posix *sg_posix_of(sg_thread *t)
{
    if (t->posix == NULL) {
        t->posix = sg_new(sizeof(sg_posix));
        t->posix->values = t->id == 0 ? sg_main_values : NULL;
    }
    return t->posix;
}

/* A new thread may reuse the number of an ended one. */
static void reset(sg_thread *t)
{
    const sg_thread *creator = sg_self();
    uint64_t blocked = creator != NULL && creator->posix != NULL ? creator->posix->blocked : 0;
    if (t->signalled) {
        t->signalled = false;
        sg->signals_due--;
    }
    if (t->posix == NULL && blocked == 0)
        return;
    void **values = sg_posix_of(t)->values;
    if (values != NULL)
        memset(values, 0, SG_KEYS * sizeof(void *));
    *t->posix = (sg_posix){.values = values, .blocked = blocked};
}

void sg_posix_open(void)
{
    static const sg_observer posix = {.name = "threads of the program", .thread_begins = reset};
    sg_observer_register(&posix);
}

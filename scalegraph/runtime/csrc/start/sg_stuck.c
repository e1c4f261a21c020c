/* Reports on runs that make no progress: who waits for what, and what ranks were doing at the time limit. */
#include <stdio.h>

#include "sg_rank.h"
#include "sg_start.h"

/* How the first rank that ended too early did so; NULL: none did. */
static const char *first_end(void)
{
    for (uint32_t i = 0; i < sg->ranks; i++)
        if (sg->all_ranks[i]->end != NULL)
            return sg->all_ranks[i]->end;
    return NULL;
}

/* Names the first thread that waits for something another one holds. */
static int name_holder(char *text, size_t size)
{
    for (uint32_t i = 0; i < sg->threads; i++) {
        const sg_thread *t = sg->thread[i];
        if (t->state == SG_BLOCKED && t->wait_holder >= 0)
            return snprintf(text, size, "; thread %u waits for what thread %d holds", i, t->wait_holder);
    }
    return 0;
}

/* The first threads that wait in system calls: "; thread 0 waits in read at 0x..". */
static void name_calls(char *text, size_t size)
{
    enum { SHOWN = 4 };
    for (uint32_t i = 0, shown = 0; i < sg->threads && shown < SHOWN; i++) {
        const sg_thread *t = sg->thread[i];
        if (t->state != SG_BLOCKED || t->wait_category != SG_CATEGORY_IDLE_WAIT || t->call == NULL)
            continue;
        int used = snprintf(text, size, "; thread %u waits in %s at 0x%llx, where nothing can come", i,
                            t->call, (unsigned long long)(uintptr_t)t->site);
        if (used < 0 || (size_t)used >= size)
            return;
        text += used;
        size -= (size_t)used;
        shown++;
    }
}

void sg_stop_deadlock(void)
{
    uint32_t count[SG_CATEGORY_COUNT] = {0}, waiting = 0;
    for (uint32_t i = 0; i < sg->threads; i++)
        if (sg->thread[i]->state == SG_BLOCKED) {
            count[sg->thread[i]->wait_category]++;
            waiting++;
        }
    waiting -= count[SG_CATEGORY_IDLE_NOT_STARTED] + count[SG_CATEGORY_IDLE_SERIAL];
    char text[1000];
    const char *end = first_end();
    int used = snprintf(text, sizeof text, "%s%sdeadlock: all %u working threads wait for each other",
                        end != NULL ? end : "", end != NULL ? "; then " : "", waiting);
    static const struct {
        enum sg_category category;
        const char *what;
    } kinds[] = {
        {SG_CATEGORY_IDLE_BARRIER, "at a barrier"},
        {SG_CATEGORY_IDLE_LOCK, "for a lock"},
        {SG_CATEGORY_IDLE_ORDER, "for their turn"},
        {SG_CATEGORY_IDLE_TASK, "for tasks"},
        {SG_CATEGORY_IDLE_WAIT, "for a signal"},
        {SG_CATEGORY_IDLE_LATE_SENDER, "to receive a message"},
        {SG_CATEGORY_IDLE_LATE_RECEIVER, "for the receiver of a message"},
        {SG_CATEGORY_IDLE_COLLECTIVE, "in collective operations"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (count[kinds[i].category] > 0 && used < (int)sizeof text)
            used += snprintf(text + used, sizeof text - (size_t)used, ", %u %s", count[kinds[i].category],
                             kinds[i].what);
    used += name_holder(text + used, sizeof text - (size_t)used);
    if (used < (int)sizeof text)
        name_calls(text + used, sizeof text - (size_t)used);
    used = (int)strlen(text);
    if (sg->explain_deadlock != NULL && used < (int)sizeof text)
        sg->explain_deadlock(text + used, sizeof text - (size_t)used);
    sg_stop(SG_STATUS_DEADLOCK, "%s", text);
}

/* The first ranks that compute, then those that wait. */
static void name_ranks(char *text, size_t size)
{
    enum { SHOWN = 3 };
    for (uint32_t i = 0, shown = 0; i < sg->ranks && shown < SHOWN; i++) {
        const sg_thread *t = sg->all_ranks[i]->main;
        if (t == NULL || (t->state != SG_RUNNING && t->state != SG_READY))
            continue;
        const void *site = t->state == SG_RUNNING ? t->processor->site : t->site;
        int used =
            snprintf(text, size, "; rank %u %s%s at 0x%llx", i, t->call != NULL ? "is in " : "computes",
                     t->call != NULL ? t->call : "", (unsigned long long)(uintptr_t)site);
        if (used < 0 || (size_t)used >= size)
            return;
        text += used;
        size -= (size_t)used;
        shown++;
    }
    if (sg->explain_deadlock != NULL)
        sg->explain_deadlock(text, size);
}

void sg_stop_timeout(void)
{
    char text[1000];
    const char *end = first_end();
    int used = snprintf(text, sizeof text, "the program was stopped at its time limit%s%s",
                        end != NULL ? "; " : "", end != NULL ? end : "");
    if (used > 0 && (size_t)used < sizeof text)
        name_ranks(text + used, sizeof text - (size_t)used);
    sg_stop(SG_STATUS_TIMEOUT, "%s", text);
}

/* What a deadlock report says about messages. */
#include <stdio.h>

#include "sg_message.h"

/* "; rank 3 waits in MPI_Recv for a message from rank 2 with tag 7 at 0x..." Returns the length of the
 * text. */
static int explain_wait(uint32_t rank, const sg_rank_wait *wait, char *text, size_t size)
{
    char other[40] = "any rank", tag[40] = "";
    const char *what = wait->sends ? "for a receive by " : "for a message from ", *call = wait->thread->call;
    if (wait->other >= 0)
        snprintf(other, sizeof other, "rank %d", wait->other);
    if (wait->tag >= 0)
        snprintf(tag, sizeof tag, " with tag %d", wait->tag);
    if (wait->what != NULL) {
        what = wait->what;
        other[0] = tag[0] = '\0';
    }
    return snprintf(text, size, "; rank %u waits in %s %s%s%s at 0x%llx", rank, call != NULL ? call : "MPI",
                    what, other, tag, (unsigned long long)(uintptr_t)wait->thread->site);
}

/* Explains why a message from the rank that a receive waits for does not match it. */
static int explain_mismatch(uint32_t rank, const sg_rank_wait *wait, char *text, size_t size)
{
    const struct sg_mailbox *box = sg->all_ranks[rank]->mailbox;
    const sg_receive *r = box->posted;
    while (r != NULL && (r->from != wait->other || r->tag != wait->tag))
        r = r->next;
    for (const sg_message *m = box->first; r != NULL && m != NULL; m = m->next) {
        if (m->tag < 0 || m->signature.site == NULL || (r->from >= 0 && (int32_t)m->from->number != r->from))
            continue;
        bool elsewhere = m->context != r->context;
        char tag[40] = "in another communicator";
        if (!elsewhere)
            snprintf(tag, sizeof tag, "with tag %d", m->tag);
        return snprintf(text, size, " (rank %u has sent it one %s, with %s at 0x%llx)", m->from->number, tag,
                        m->signature.call, (unsigned long long)(uintptr_t)m->signature.site);
    }
    return 0;
}

/* Explains the first few waiting threads. */
void sg_messages_explain(char *text, size_t size)
{
    enum { SHOWN = 4 };
    uint32_t shown = 0, more = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < sg->ranks; i++)
        for (const sg_rank_wait *wait = sg->all_ranks[i]->waits; wait != NULL; wait = wait->next) {
            if (shown++ >= SHOWN) {
                more++;
                continue;
            }
            int used = explain_wait(i, wait, text, size);
            if (used >= 0 && (size_t)used < size && !wait->sends && wait->what == NULL)
                used += explain_mismatch(i, wait, text + used, size - (size_t)used);
            if (used < 0 || (size_t)used >= size)
                return;
            text += used;
            size -= (size_t)used;
        }
    if (more > 0) {
        int used = snprintf(text, size, "; and %u more", more);
        text += used;
        size -= (size_t)used;
    }
}

void sg_messages_explain_left(char *text, size_t size)
{
    const sg_message *first = NULL;
    uint32_t left = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < sg->ranks; i++)
        for (const sg_message *m = sg->all_ranks[i]->mailbox->first; m != NULL; m = m->next)
            if (m->tag >= 0 && m->context % 2 == 0 && m->signature.site != NULL) { /* the program's own */
                left++;
                first = first == NULL ? m : first;
            }
    if (left > 0)
        snprintf(
            text, size,
            "rank %u ends MPI without having received %llu bytes with tag %d that rank %u has sent with %s "
            "at 0x%llx%s",
            first->to->number, (unsigned long long)first->bytes, first->tag, first->from->number,
            first->signature.call, (unsigned long long)(uintptr_t)first->signature.site,
            left > 1 ? ", the first of several such messages" : "");
}

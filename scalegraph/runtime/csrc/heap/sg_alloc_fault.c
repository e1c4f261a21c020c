/* Double frees, frees of pointers that are not blocks, and writes past the end of a block. */
#include <stdio.h>

#include "sg_alloc.h"
#include "sg_block.h"

extern char __executable_start, _end;

const void *(*sg_alloc_caller)(const void *site) = NULL;

static const void *caller_of(const void *site)
{
    return sg_alloc_caller != NULL ? sg_alloc_caller(site) : site;
}

#ifdef SG_FENCES
void sg_mark_end(sg_block_header *head)
{
    (void)head; /* a sanitizer checks this memory */
}

bool sg_is_whole(const sg_block_header *head, uint64_t top)
{
    (void)head, (void)top;
    return true;
}
#else
static const char mark[8] = {(char)0x9b, (char)0xd1, (char)0xc5, (char)0xe7,
                             (char)0xa3, (char)0xf1, (char)0x86, (char)0x4d};

static size_t mark_bytes(const sg_block_header *head)
{
    return head->slack == SG_SLACK_UNKNOWN ? 0 : head->slack < sizeof mark ? head->slack : sizeof mark;
}

void sg_mark_end(sg_block_header *head)
{
    memcpy((char *)(head + 1) + sg_requested(head), mark, mark_bytes(head));
}

/* After a small block comes another one, unused memory, or a new page. */
static bool is_header_or_empty(const sg_block_header *next, uint64_t top)
{
    static const sg_block_header empty = {.pages = 0};
    uint64_t at = (uint64_t)(uintptr_t)next;
    return at % SG_PAGE == 0 || at + sizeof *next > top || sg_is_sealed(next, false) ||
           sg_is_sealed(next, true) || memcmp(next, &empty, sizeof empty) == 0;
}

bool sg_is_whole(const sg_block_header *head, uint64_t top)
{
    if (memcmp((const char *)(head + 1) + sg_requested(head), mark, mark_bytes(head)) != 0)
        return false;
    if (head->size_class == SG_CLASSES || head->offset != sizeof *head || head->slack == SG_SLACK_UNKNOWN)
        return true;
    return is_header_or_empty((const sg_block_header *)((const char *)(head + 1) + sg_capacity(head)), top);
}
#endif

/* "0x4011d6", as in reports; `text` is the buffer. */
static const char *place(const void *site, char text[32])
{
    snprintf(text, 32, "0x%llx", (unsigned long long)(uintptr_t)site);
    return text;
}

/* " of 24 bytes, allocated at 0x..," */
static const char *describe(const sg_block_header *head, char text[96])
{
    char where[32];
    int used = snprintf(text, 96, " of %llu bytes", (unsigned long long)sg_requested(head));
    if (head->site != 0)
        snprintf(text + used, 96 - (size_t)used, ", allocated at %s",
                 place((void *)(uintptr_t)head->site, where));
    return text;
}

/* The header of the block that holds or ends at `end`, at most `far` bytes before it; NULL: none. */
static const sg_block_header *block_before(uint64_t end, uint64_t base, uint64_t far)
{
    for (uint64_t at = (end & ~15ull) - sizeof(sg_block_header); at >= base && end - at <= far; at -= 16) {
        const sg_block_header *head = (const sg_block_header *)at;
        bool sealed = sg_is_sealed(head, false) || sg_is_sealed(head, true);
        if (sealed && head->offset == sizeof *head && at + sizeof *head + sg_capacity(head) >= end)
            return head;
    }
    return NULL;
}

bool sg_block_exceeded(void *pointer, size_t bytes, uint64_t base, uint64_t top, char text[96])
{
    enum { FAR = 1 << 16 };
    uint64_t at = (uint64_t)(uintptr_t)pointer;
    sg_block_header *head = sg_header_of(pointer);
    if (at % 16 != 0 || at - sizeof *head < base || !sg_is_sealed(head, false) ||
        head->offset < sizeof *head) /* inside a block, whose data may look like a header */
        head = (sg_block_header *)(uintptr_t)block_before(at + 1, base, FAR);
    if (head == NULL || !sg_is_sealed(head, false))
        return false;
    uint64_t end = (uint64_t)(uintptr_t)(head + 1) + sg_requested(head);
    if (at >= end || at + bytes <= end || head->slack == SG_SLACK_UNKNOWN || at + bytes > top)
        return false;
    describe(head, text);
    head->slack = SG_SLACK_UNKNOWN;
    sg_seal(head, false);
    return true;
}

static void refuse_overrun(const sg_block_header *head, const char *verb, const char *here)
{
    char text[96];
    sg_stop(SG_STATUS_CRASHED,
            "the program wrote beyond the end of the block%s, as the call that %s it at %s shows",
            describe(head, text), verb, here);
}

void sg_refuse_pointer(void *pointer, const void *site, const char *verb, uint64_t base, uint64_t top)
{
    enum { FAR = 1 << 20 };
    sg_block_header *head = sg_header_of(pointer);
    uint64_t at = (uint64_t)(uintptr_t)pointer;
    char here[32], text[96], freed[32];
    place(caller_of(site), here);
    if (at % 16 == 0 && sg_is_sealed(head, true)) {
        const sg_free_block *block = (const sg_free_block *)(sg_first_header(head) + 1);
        sg_stop(SG_STATUS_CRASHED, "the program %s at %s the block%s, which it has freed at %s already", verb,
                here, describe(head, text), place(block->site, freed));
    }
    if (at % 16 == 0 && sg_is_sealed(head, false))
        refuse_overrun(sg_is_whole(head, top) ? sg_first_header(head) : head, verb, here);
    const sg_block_header *before = block_before(at - sizeof *head, base, FAR);
    if (before != NULL && at % 16 == 0 && (uint64_t)(before + 1) + sg_capacity(before) == at - sizeof *head)
        refuse_overrun(before, "finds out about", here);
    before = block_before(at + 1, base, FAR);
    if (before != NULL && sg_is_sealed(before, false))
        sg_stop(SG_STATUS_CRASHED,
                "the program %s at %s an address %llu bytes behind the start of the block%s, "
                "which is not the block's own",
                verb, here, (unsigned long long)(at - (uint64_t)(before + 1)), describe(before, text));
    sg_stop(SG_STATUS_CRASHED, "the program %s at %s the address 0x%llx, which was never allocated", verb,
            here, (unsigned long long)at);
}

void sg_refuse_foreign(void *pointer, const void *site, const char *verb)
{
    uint64_t at = (uint64_t)(uintptr_t)pointer, stacks = SG_OWN_HEAP_BASE;
    bool is_static = (char *)pointer >= &__executable_start && (char *)pointer < &_end;
    bool on_stack = at >= SG_STACK_BASE && at < stacks;
    char here[32];
    if (!is_static && !on_stack)
        return; /* allocated by the C library before the heap existed */
    sg_stop(SG_STATUS_CRASHED, "the program %s at %s the address 0x%llx, which was never allocated: it is %s",
            verb, place(caller_of(site), here), (unsigned long long)at,
            is_static ? "static data" : "on the stack of a thread");
}

void sg_refuse_use(const void *block)
{
    const sg_block_header *head = sg_header_of(block);
    char text[96];
    if (sg_is_sealed(head, true))
        sg_stop(SG_STATUS_CRASHED, "the program wrote into the block%s, after it had freed it",
                describe(head, text));
    sg_stop(SG_STATUS_CRASHED, "the program wrote over what the heap keeps in front of the free block 0x%llx",
            (unsigned long long)(uintptr_t)block);
}

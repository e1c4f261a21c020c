/* The header of every block of the program's heap. Private to the heap. */
#ifndef SG_BLOCK_H
#define SG_BLOCK_H

#include "sg_runtime.h"

#define SG_CLASSES 52
#define SG_PAGE    4096u

enum { SG_SLACK_UNKNOWN = (1 << 14) - 1 };

typedef struct sg_block_header {
    uint64_t pages : 34;     /* of a large block */
    uint64_t size_class : 6; /* SG_CLASSES for a large block */
    uint64_t slack : 14;     /* bytes after the requested ones; SG_SLACK_UNKNOWN: not checked */
    uint64_t check : 10;     /* checksum: is it a header, and is the block in use? */
    uint32_t site;           /* return address of the program's call; 0: unknown */
    uint32_t offset;         /* from the start of the block to the returned pointer */
} sg_block_header;

_Static_assert(sizeof(sg_block_header) == 16, "blocks are aligned to 16 bytes");

/* In a free block, after its header. */
typedef struct sg_free_block {
    struct sg_free_block *next;
    const void *site; /* where it was freed */
} sg_free_block;

static inline uint64_t sg_class_size(uint32_t c)
{
    if (c < 8)
        return 16 * (c + 1);
    uint32_t log = 7 + (c - 8) / 4;
    return (1ull << log) + (((c - 8) % 4 + 1) << (log - 2));
}

static inline uint64_t sg_capacity(const sg_block_header *head)
{
    if (head->size_class == SG_CLASSES)
        return (uint64_t)head->pages * SG_PAGE - sizeof *head;
    return sg_class_size(head->size_class);
}

static inline uint32_t sg_check_of(const sg_block_header *head, bool freed)
{
    uint64_t word[2];
    memcpy(word, head, sizeof word);
    word[0] &= (1ull << 54) - 1;
    uint64_t mixed = word[0] ^ word[1] * 0x9e3779b97f4a7c15ull ^ (uint64_t)(uintptr_t)head;
    return (uint32_t)(mixed * 0xd6e8feb86659fd93ull >> 54) ^ (freed ? 0x2aa : 0);
}

static inline void sg_seal(sg_block_header *head, bool freed)
{
    head->check = sg_check_of(head, freed);
}

static inline bool sg_is_sealed(const sg_block_header *head, bool freed)
{
    return head->size_class <= SG_CLASSES && head->check == sg_check_of(head, freed);
}

static inline sg_block_header *sg_header_of(const void *pointer)
{
    return (sg_block_header *)(uintptr_t)pointer - 1;
}

/* The header at the start of the block that `head` belongs to. */
static inline sg_block_header *sg_first_header(sg_block_header *head)
{
    return (sg_block_header *)((char *)(head + 1) - head->offset);
}

/* Bytes requested; all of them if the slack is unknown. */
static inline uint64_t sg_requested(const sg_block_header *head)
{
    uint64_t room = sg_capacity(head) + sizeof *head - head->offset;
    return head->slack == SG_SLACK_UNKNOWN ? room : room - head->slack;
}

/* ---- sg_alloc_fault.c: misusing a block ends the run with a message ---- */

/* Puts a mark after the requested bytes, as far as there is room. */
void sg_mark_end(sg_block_header *head);
/* Are the block's mark and the next header (if below `top`) intact? */
bool sg_is_whole(const sg_block_header *head, uint64_t top);
/* The call before `site` does with `pointer` what `verb` says, but it is not a block in use of the heap
 * [base, top), or a damaged one. */
void sg_refuse_pointer(void *pointer, const void *site, const char *verb, uint64_t base, uint64_t top)
    __attribute__((noreturn));
/* sg_alloc_exceeds in the heap [base, top). */
bool sg_block_exceeded(void *pointer, size_t bytes, uint64_t base, uint64_t top, char text[96]);
/* The same for a pointer outside the heap that cannot come from another allocator. */
void sg_refuse_foreign(void *pointer, const void *site, const char *verb);
/* A free block does not look free: the program wrote to it. */
void sg_refuse_use(const void *block) __attribute__((noreturn));

#endif
